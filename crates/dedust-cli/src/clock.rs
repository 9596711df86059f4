/*!
The time of day, as rule files write it.
*/

use std::time::{SystemTime, UNIX_EPOCH};

use chrono::{DateTime, SecondsFormat};

/// Now, in UTC: `2026-11-16T12:00:00Z`.
pub(crate) fn now() -> String {
    // A clock that is set to before 1970 counts as one that stands still there, and so does one beyond all calendars.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or_default();
    DateTime::from_timestamp(seconds, 0).unwrap_or_default().to_rfc3339_opts(SecondsFormat::Secs, true)
}
