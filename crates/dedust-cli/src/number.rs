/*!
Numbers as people read them: thousands separated, shares in percent, figures with a fixed precision.

Bytes are by hand: `indicatif` writes two digits of gigabytes, where megabytes can be compared with `--memory`.
*/

use indicatif::HumanCount;

/// `1,204,567`.
pub(crate) fn count(number: u64) -> String {
    HumanCount(number).to_string()
}

/// `1,204 rows` or `1 row`.
pub(crate) fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// `412 bytes`, `21.0 kB` or `1,204.6 MB`.
pub(crate) fn bytes(number: u64) -> String {
    match number {
        0..1_000 => counted(number, "byte", "bytes"),
        1_000..1_000_000 => format!("{:.1} kB", number as f64 / 1e3),
        _ => format!("{}.{} MB", count(number / 1_000_000), number / 100_000 % 10),
    }
}

/// `12.3 %`.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// A share of a whole in percent, 0 of nothing.
pub(crate) fn percent_of(part: u64, whole: u64) -> String {
    percent(if whole == 0 { 0.0 } else { part as f64 / whole as f64 })
}

/// Four digits, the precision of every figure of the evaluation.
pub(crate) fn figure(number: f64) -> String {
    format!("{number:.4}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_204_567, "1,204,567")] {
            assert_eq!(count(number), text);
        }
    }

    #[test]
    fn bytes_are_counted_in_the_unit_that_fits() {
        for (number, text) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (999, "999 bytes"),
            (21_040, "21.0 kB"),
            (1_000_000, "1.0 MB"),
            (1_204_567_890, "1,204.5 MB"),
        ] {
            assert_eq!(bytes(number), text);
        }
    }

    #[test]
    fn nothing_of_nothing_is_no_share() {
        assert_eq!(percent_of(0, 0), "0.0 %");
        assert_eq!(percent_of(1, 8), "12.5 %");
    }
}
