/*!
The time of day, as rule files write it.
*/

use std::time::{SystemTime, UNIX_EPOCH};

const SECONDS_OF_DAY: u64 = 24 * 60 * 60;

/// Now, in UTC: `2026-11-16T12:00:00Z`.
pub(crate) fn now() -> String {
    // A clock that is set to before 1970 counts as one that stands still there.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    time_of(since.as_secs())
}

/// A time by the seconds since 1970.
fn time_of(seconds: u64) -> String {
    let (mut day, second) = (seconds / SECONDS_OF_DAY, seconds % SECONDS_OF_DAY);
    let is_leap = |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let mut year = 1970;
    while day >= 365 + u64::from(is_leap(year)) {
        day -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for days in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if day < days {
            break;
        }
        day -= days;
        month += 1;
    }
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!("{year:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{:02}Z", day + 1, second % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_become_days_and_times() {
        assert_eq!(time_of(0), "1970-01-01T00:00:00Z");
        assert_eq!(time_of(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(time_of(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(time_of(1_795_780_800), "2026-11-27T12:00:00Z");
        assert_eq!(time_of(4_107_542_399), "2100-02-28T23:59:59Z");
        assert_eq!(time_of(4_107_542_400), "2100-03-01T00:00:00Z");
    }
}
