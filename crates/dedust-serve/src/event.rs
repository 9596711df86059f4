/*!
What happens in a server, for whoever keeps a log. The command line prints it; the library does not.
*/

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use chrono::{DateTime, SecondsFormat};
use serde::Serialize;

/// How much an event matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Each request.
    Detail,
    /// Worth knowing.
    Note,
    /// Something may be wrong.
    Warning,
    /// Something was not done, as the whole service if it cannot start.
    Error,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Event {
    /// When, in UTC: `2026-11-16T12:00:00.000Z`.
    pub time: String,
    /// How much it matters.
    pub level: Level,
    /// What kind of thing, for programs: `rules_loaded`.
    pub event: &'static str,
    /// What happened, for people. May hold texts of rule files and requests, control characters among them.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<Cow<'static, str>>,
}

impl Event {
    /// Something that happens now.
    pub fn new(
        level: Level,
        event: &'static str,
        message: String,
        remedy: Option<Cow<'static, str>>,
    ) -> Self {
        Self { time: now(), level, event, message, remedy }
    }
}

/// Told about all events, from any thread.
#[derive(Clone)]
pub struct Log(Arc<dyn Fn(&Event) + Send + Sync>);

impl Log {
    /// Hands each event to a function.
    pub fn new(log: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        Self(Arc::new(log))
    }

    /// Keeps no log.
    pub fn silent() -> Self {
        Self::new(|_| ())
    }

    /// Hands on an event.
    pub fn tell(&self, event: &Event) {
        (self.0)(event);
    }

    pub(crate) fn detail(&self, event: &'static str, message: String) {
        self.tell(&Event::new(Level::Detail, event, message, None));
    }

    pub(crate) fn note(&self, event: &'static str, message: String) {
        self.tell(&Event::new(Level::Note, event, message, None));
    }

    pub(crate) fn warning(&self, event: &'static str, message: String, remedy: &'static str) {
        self.tell(&Event::new(Level::Warning, event, message, Some(remedy.into())));
    }
}

impl std::fmt::Debug for Log {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Log")
    }
}

/// The time of day, for the log.
fn now() -> String {
    time_of_day(SecondsFormat::Millis)
}

/// The time of day, as rule files have it.
pub(crate) fn now_in_seconds() -> String {
    time_of_day(SecondsFormat::Secs)
}

fn time_of_day(format: SecondsFormat) -> String {
    // A clock that is set to before 1970 counts as one that stands still there.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or_default();
    DateTime::from_timestamp(seconds, since.subsec_nanos()).unwrap_or_default().to_rfc3339_opts(format, true)
}
