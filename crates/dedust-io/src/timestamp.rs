/*!
Times as text that sorts: what archives write with fourteen digits, and what Parquet and Arrow tables count since 1970.

All tables are read with the same functions, so that a column has the same text whichever way its rows take. No time zones: tables
with one count in UTC.
*/

use chrono::{DateTime, Utc};

/// What a table counts times in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    #[cfg_attr(not(any(feature = "arrow", test)), expect(dead_code, reason = "Parquet has no such times"))]
    Second,
    Millisecond,
    Microsecond,
    Nanosecond,
}

/// A time since the start of 1970, as `2008-04-30T20:48:25.500`: parts of a second only where there are some. Nothing if it is too far
/// from now to have a year.
pub(crate) fn since_1970(count: i64, unit: Unit) -> Option<String> {
    let time: DateTime<Utc> = match unit {
        Unit::Second => DateTime::from_timestamp(count, 0)?,
        Unit::Millisecond => DateTime::from_timestamp_millis(count)?,
        Unit::Microsecond => DateTime::from_timestamp_micros(count)?,
        Unit::Nanosecond => DateTime::from_timestamp_nanos(count),
    };
    Some(time.format("%Y-%m-%dT%H:%M:%S%.f").to_string())
}

/// A day, by its number since the first of 1970, as `2008-04-30`.
pub(crate) fn day_since_1970(day: i32) -> Option<String> {
    let time: DateTime<Utc> = DateTime::from_timestamp(i64::from(day) * 86_400, 0)?;
    Some(time.format("%Y-%m-%d").to_string())
}

/// `20080430204825` as `2008-04-30T20:48:25Z`; as it is where it has another form. Digits beyond the fourteenth are
/// fractions of a second and left out.
pub(crate) fn iso(time: &[u8]) -> String {
    let text = String::from_utf8_lossy(time);
    if time.len() < 14 || !time.iter().all(u8::is_ascii_digit) {
        return text.into_owned();
    }
    let (year, month, day) = (&text[..4], &text[4..6], &text[6..8]);
    let (hour, minute, second) = (&text[8..10], &text[10..12], &text[12..14]);
    format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fourteen_digits_become_a_time() {
        assert_eq!(iso(b"20080430204825"), "2008-04-30T20:48:25Z");
        assert_eq!(iso(b"20080430204825123"), "2008-04-30T20:48:25Z");
        assert_eq!(iso(b"200804"), "200804");
        assert_eq!(iso(b"2008043020482x"), "2008043020482x");
    }

    #[test]
    fn a_time_has_one_text_in_all_units() {
        let seconds = 1_209_588_505;
        for (unit, in_a_second) in [
            (Unit::Second, 1),
            (Unit::Millisecond, 1_000),
            (Unit::Microsecond, 1_000_000),
            (Unit::Nanosecond, 1_000_000_000),
        ] {
            assert_eq!(since_1970(seconds * in_a_second, unit).as_deref(), Some("2008-04-30T20:48:25"));
        }
        assert_eq!(
            since_1970(seconds * 1000 + 500, Unit::Millisecond).as_deref(),
            Some("2008-04-30T20:48:25.500")
        );
        assert_eq!(since_1970(-1, Unit::Microsecond).as_deref(), Some("1969-12-31T23:59:59.999999"));
        assert_eq!(since_1970(i64::MAX, Unit::Second), None);
        assert_eq!(since_1970(i64::MIN, Unit::Nanosecond).as_deref(), Some("1677-09-21T00:12:43.145224192"));
    }

    #[test]
    fn a_day_has_no_time() {
        assert_eq!(day_since_1970(13_999).as_deref(), Some("2008-04-30"));
        assert_eq!(day_since_1970(i32::MAX), None);
    }
}
