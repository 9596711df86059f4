/*!
Which of the two formats a body has: lines of text, or lines of JSON. The headers of a request say so.
*/

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};

use crate::problem::Problem;

/// The format of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// A URL in each line.
    Text,
    /// A JSON value in each line.
    Ndjson,
}

impl Format {
    /// The format of what is sent. Text if nothing is said, and for what `curl --data-binary` says without being asked.
    pub(crate) fn sent(headers: &HeaderMap) -> Result<Self, Problem> {
        let Some(value) = headers.get(header::CONTENT_TYPE) else { return Ok(Self::Text) };
        let media_type = media_type(value.to_str().unwrap_or_default());
        if media_type == "application/x-www-form-urlencoded" {
            return Ok(Self::Text);
        }
        Self::named(&media_type).ok_or_else(|| {
            Problem::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                format!("the body is said to be `{media_type}`"),
                "send text/plain with a URL in each line, or application/x-ndjson with a JSON value in each line",
            )
        })
    }

    /// The format that is wanted, which is `sent` if the client does not care. The first that we have, of those that are not refused.
    pub(crate) fn wanted(headers: &HeaderMap, sent: Self) -> Result<Self, Problem> {
        let values = || headers.get_all(header::ACCEPT).iter();
        if values().next().is_none() {
            return Ok(sent);
        }
        let texts = values().filter_map(|value| value.to_str().ok());
        let ranges = texts.flat_map(|text| text.split(',')).filter(|range| !is_refused(range));
        let mut found = None;
        for range in ranges {
            let media_type = media_type(range);
            match Self::named(&media_type) {
                Some(format) => return Ok(format),
                None if matches!(&*media_type, "*/*" | "application/*" | "text/*") => found = Some(sent),
                None => {}
            }
        }
        found.ok_or_else(|| {
            let wanted: Vec<&str> = values().filter_map(|value| value.to_str().ok()).collect();
            Problem::new(
                StatusCode::NOT_ACCEPTABLE,
                format!("there is no answer of the type `{}`", wanted.join(", ")),
                "accept text/plain or application/x-ndjson",
            )
        })
    }

    /// What an answer says of itself.
    pub(crate) fn content_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::Text => "text/plain; charset=utf-8",
            Self::Ndjson => "application/x-ndjson",
        })
    }

    fn named(media_type: &str) -> Option<Self> {
        Some(match media_type {
            "text/plain" => Self::Text,
            "application/x-ndjson"
            | "application/ndjson"
            | "application/jsonl"
            | "application/jsonlines"
            | "application/json" => Self::Ndjson,
            _ => return None,
        })
    }
}

/// A media type without parameters.
fn media_type(text: &str) -> String {
    text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Whether a range has the quality 0.
fn is_refused(range: &str) -> bool {
    let mut parameters = range.split(';').skip(1).map(str::trim);
    parameters.any(|parameter| {
        let quality = parameter.strip_prefix("q=").or_else(|| parameter.strip_prefix("Q="));
        quality.and_then(|quality| quality.parse::<f32>().ok()) == Some(0.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(accept: &str, sent: Format) -> Option<Format> {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, accept.parse().ok()?);
        Format::wanted(&headers, sent).ok()
    }

    #[test]
    fn the_answer_has_the_format_that_is_asked_for() {
        assert_eq!(wanted("application/x-ndjson", Format::Text), Some(Format::Ndjson));
        assert_eq!(wanted("text/plain", Format::Ndjson), Some(Format::Text));
        assert_eq!(wanted("text/html, Text/Plain;q=0.9", Format::Ndjson), Some(Format::Text));
        assert_eq!(wanted("text/plain;q=0, */*", Format::Ndjson), Some(Format::Ndjson));
        assert_eq!(wanted("*/*", Format::Text), Some(Format::Text), "that of the request");
        assert_eq!(wanted("image/png", Format::Text), None);
        assert_eq!(wanted("*/*;q=0", Format::Text), None);
    }
}
