/*!
An answer that is no: a status, what is wrong, and what to do about it, as JSON.
*/

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// Why a request is not answered as asked.
#[derive(Debug, Serialize)]
pub(crate) struct Problem {
    #[serde(skip)]
    pub(crate) status: StatusCode,
    /// What is wrong.
    error: String,
    /// What to do about it.
    remedy: String,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, error: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { status, error: error.into(), remedy: remedy.into() }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status, json(&self)).into_response();
        // Whoever sent what was not read has to start anew.
        if self.status != StatusCode::NOT_FOUND {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

/// A value as the body of an answer.
pub(crate) fn json(value: &impl Serialize) -> Response {
    match serde_json::to_vec(value) {
        Ok(body) => ([(header::CONTENT_TYPE, "application/json")], body).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}
