/*!
A batch: the body of a request in, the body of its answer out, both streamed.

Lines are answered as they come in, and the next are read when the client has taken the answers to those before. So memory does not depend on
the number of lines. The first lines are answered before the head of the answer is sent, so that most errors have a status; what goes
wrong later cuts the answer off, which HTTP lets the client see.
*/

use axum::body::{Body, HttpBody as _};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::stream;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use tokio::time::{Instant, timeout_at};

use crate::answer::{AnswerError, Answering};
use crate::lines::{Lines, Piece};
use crate::options::Limits;
use crate::problem::Problem;

/// The lines of one request.
pub(crate) struct Batch {
    body: Limited<Body>,
    /// Bytes that the head says there are, at least.
    said_bytes: u64,
    lines: Lines,
    is_read: bool,
    answering: Answering,
    deadline: Instant,
    limits: Limits,
}

/// Why a batch ends early.
#[derive(Debug, thiserror::Error)]
enum BatchError {
    #[error("the body has more than {0} bytes")]
    TooLarge(u64),
    #[error("the body was not sent to its end")]
    Incomplete(#[source] axum::BoxError),
    #[error("the batch took more than {0} s")]
    TooLate(u64),
    #[error(transparent)]
    Answer(#[from] AnswerError),
}

impl Batch {
    pub(crate) fn new(body: Body, answering: Answering, limits: &Limits) -> Self {
        Self {
            said_bytes: body.size_hint().lower(),
            body: Limited::new(body, usize::try_from(limits.body_bytes).unwrap_or(usize::MAX)),
            lines: Lines::default(),
            is_read: false,
            answering,
            deadline: Instant::now() + limits.request,
            limits: *limits,
        }
    }

    /// The answer.
    pub(crate) async fn respond(mut self) -> Result<Response, Problem> {
        if self.said_bytes > self.limits.body_bytes {
            return Err(BatchError::TooLarge(self.limits.body_bytes).into());
        }
        let content_type = [(header::CONTENT_TYPE, self.answering.wanted.content_type())];
        let first = self.next().await?.unwrap_or_default();
        if self.is_read && self.lines.is_empty() {
            return Ok((content_type, first).into_response());
        }
        let rest = stream::unfold((Some(first), self), |(first, mut batch)| async move {
            let next = match first {
                Some(first) => Ok(Some(first)),
                None => batch.next().await,
            };
            next.transpose().map(|next| (next, (None, batch)))
        });
        Ok((content_type, Body::from_stream(rest)).into_response())
    }

    /// Answers to the next lines; `None` after the last.
    async fn next(&mut self) -> Result<Option<Bytes>, BatchError> {
        loop {
            match self.lines.next(self.answering.piece_bytes()) {
                Some(Piece::Lines(lines)) => return Ok(Some(self.answering.answer(lines).await?.into())),
                Some(Piece::TooLong(start)) => {
                    return Ok(Some(self.answering.answer_too_long(&start).into()));
                }
                None if self.is_read => return Ok(None),
                None => self.read().await?,
            }
        }
    }

    /// Reads the next chunk.
    async fn read(&mut self) -> Result<(), BatchError> {
        let late = |_| BatchError::TooLate(self.limits.request.as_secs());
        match timeout_at(self.deadline, self.body.frame()).await.map_err(late)? {
            Some(Ok(frame)) => self.lines.push(frame.into_data().unwrap_or_default()),
            Some(Err(error)) if error.is::<LengthLimitError>() => {
                return Err(BatchError::TooLarge(self.limits.body_bytes));
            }
            Some(Err(error)) => return Err(BatchError::Incomplete(error)),
            None => self.end(),
        }
        if self.body.is_end_stream() {
            self.end();
        }
        Ok(())
    }

    fn end(&mut self) {
        self.is_read = true;
        self.lines.end();
    }
}

impl From<BatchError> for Problem {
    fn from(error: BatchError) -> Self {
        let (status, remedy) = match &error {
            BatchError::TooLarge(_) => (
                StatusCode::PAYLOAD_TOO_LARGE,
                "send several batches, or start the server with --max-body MB",
            ),
            BatchError::Incomplete(_) => (StatusCode::BAD_REQUEST, "send as many bytes as the head says"),
            BatchError::TooLate(_) => (StatusCode::REQUEST_TIMEOUT, "send smaller batches"),
            BatchError::Answer(_) => (StatusCode::SERVICE_UNAVAILABLE, "look into the log of the server"),
        };
        Self::new(status, error.to_string(), remedy)
    }
}
