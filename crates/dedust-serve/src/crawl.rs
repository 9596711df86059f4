/*!
What crawlers ask of a live crawl over HTTP: which URLs to fetch, and what fetches showed.
*/

use std::io;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use dedust::errors::with_causes;
use dedust_live::errors::LiveError;
use http_body_util::{BodyExt as _, Limited};
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use crate::answer::Verb;
use crate::app::{Answer, App, Shared, answer};
use crate::live::{BodyReader, Live, ObserveError};
use crate::problem::{self, Problem};

/// Chunks of a body that wait.
const CHUNKS: usize = 4;

fn live(app: &App) -> Result<Live, Problem> {
    app.live.clone().ok_or_else(|| {
        Problem::new(
            StatusCode::NOT_IMPLEMENTED,
            "this server has no live crawl",
            "start it with dedust serve --live STATE",
        )
    })
}

pub(crate) async fn admit(State(app): Shared, request: Request) -> Answer {
    let live = live(&app)?;
    answer(&app, "/v1/crawl/admit", Verb::Admit(live), request).await
}

pub(crate) async fn observe(State(app): Shared, request: Request) -> Answer {
    let live = live(&app)?;
    let limit = usize::try_from(app.limits.body_bytes).unwrap_or(usize::MAX);
    let mut body = Limited::new(request.into_body(), limit);
    let (sender, chunks) = mpsc::channel::<io::Result<Bytes>>(CHUNKS);
    let reader = BodyReader { chunks, chunk: Bytes::new() };
    let reading = tokio::task::spawn_blocking(move || live.observe(reader));
    let deadline = Instant::now() + app.limits.request;
    loop {
        let chunk = match timeout_at(deadline, body.frame()).await {
            Ok(Some(Ok(frame))) => Ok(frame.into_data().unwrap_or_default()),
            Ok(Some(Err(error))) => Err(io::Error::other(error)),
            Ok(None) => break,
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        };
        let is_last = chunk.is_err();
        if sender.send(chunk).await.is_err() || is_last {
            break;
        }
    }
    drop(sender);
    let observed = reading.await.map_err(|error| failed(error.to_string()))?;
    match observed {
        Ok(observed) => ndjson(&[observed]),
        Err(ObserveError::Live(error)) => Err(state_failed(&error)),
        Err(ObserveError::Read(error)) => Err(Problem::new(
            StatusCode::BAD_REQUEST,
            with_causes(&error),
            "send a JSON object in each line, such as {\"url\":\"http://a.example/\",\"status\":200}, or WARC records",
        )),
    }
}

pub(crate) async fn returned(State(app): Shared) -> Answer {
    let live = live(&app)?;
    let urls = tokio::task::block_in_place(|| live.returned()).map_err(|error| state_failed(&error))?;
    let rows: Vec<_> = urls.iter().map(|url| json!({ "url": url })).collect();
    ndjson(&rows)
}

pub(crate) async fn status(State(app): Shared) -> Answer {
    Ok(problem::json(&live(&app)?.status()))
}

fn ndjson(rows: &[impl serde::Serialize]) -> Answer {
    let mut body = Vec::new();
    for row in rows {
        serde_json::to_writer(&mut body, row).map_err(|error| failed(error.to_string()))?;
        body.push(b'\n');
    }
    let response: Response =
        ([(header::CONTENT_TYPE, "application/x-ndjson")], Body::from(body)).into_response();
    Ok(response)
}

fn failed(error: String) -> Problem {
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error, "look into the log of the server")
}

fn state_failed(error: &LiveError) -> Problem {
    Problem::new(
        StatusCode::SERVICE_UNAVAILABLE,
        with_causes(error),
        "make room on the disk, then start the server again",
    )
}
