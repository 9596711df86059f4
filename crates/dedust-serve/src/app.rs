/*!
What handlers share, and how they answer lines.
*/

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

use crate::answer::{Answering, Verb};
use crate::batch::Batch;
use crate::event::Log;
use crate::format::Format;
use crate::guard::Guard;
use crate::learning::Learning;
use crate::live::Live;
use crate::live_rules::LiveRules;
use crate::metrics::Metrics;
use crate::options::Limits;
use crate::problem::Problem;
use crate::report::Report;
use crate::seen::Seen;

/// What handlers share.
pub(crate) struct App {
    pub(crate) rules: Arc<LiveRules>,
    pub(crate) seen: Option<Seen>,
    pub(crate) live: Option<Live>,
    pub(crate) guard: Guard,
    pub(crate) learning: Learning,
    pub(crate) report: Report,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) limits: Limits,
    pub(crate) log: Log,
}

pub(crate) type Shared = State<Arc<App>>;
pub(crate) type Answer = Result<Response, Problem>;

/// Answers the lines of a request.
pub(crate) async fn answer(app: &App, route: &'static str, verb: Verb, request: Request) -> Answer {
    let (head, body) = request.into_parts();
    let sent = Format::sent(&head.headers)?;
    let wanted = match verb {
        Verb::Explain => explanation_format(&head.headers)?,
        _ => Format::wanted(&head.headers, sent)?,
    };
    let (lines, bad_lines) = app.metrics.line_counters(route);
    let rules = app.rules.current();
    let answering = Answering { verb, sent, wanted, rules, lines, bad_lines };
    Batch::new(body, answering, &app.limits).respond().await
}

/// Explanations are JSON.
fn explanation_format(headers: &HeaderMap) -> Result<Format, Problem> {
    match Format::wanted(headers, Format::Ndjson)? {
        Format::Ndjson => Ok(Format::Ndjson),
        Format::Text => Err(Problem::new(
            StatusCode::NOT_ACCEPTABLE,
            "explanations are no text",
            "accept application/x-ndjson; dedust explain has them in words",
        )),
    }
}
