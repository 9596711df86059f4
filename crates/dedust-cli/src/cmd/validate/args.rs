/*!
Options of `dedust validate`, and the quantities they are given in.
*/

use std::path::PathBuf;
use std::time::Duration;

use dedust_fetch::{AllowedHost, Fetcher};

use crate::args::{ReadArgs, ReportFormat, TrustArgs};
use crate::help;

/// After the help of `validate`.
const HELP: &str = r#"Examples:
  dedust validate rules.json urls.txt
  dedust validate rules.json crawl.jsonl.gz -o checked.json --samples 200
  dedust validate rules.json urls.txt --unproven
  dedust validate rules.json urls.txt --format json | jq 'select(.outcome == "refuted")'

For every rule, URLs of the list that it changes are fetched, each with the canonical URL that the rule makes of it, or, where it makes none, with another URL of the list that gets the same key. Two pages are the same when their bytes are, when their visible text is, or when their texts differ little and their titles not at all. A page that the host also shows for a URL that cannot exist is an error page.

Two pages that differ are fetched once more each, and compared by what stays of each: a clock, a counter or an advertisement does not count against a rule. Where less than half of a page stays, nothing is learned of the pair ("a page differs from itself at each visit").

A rule is confirmed once all but the share --max-fail of --samples pairs were the same, and refuted once so many were different that, with 95 % confidence, more than this share of all pairs are: by default, 10 of 100. It is unknown if fewer than 20 pairs could be compared, or if they do not tell. Verdicts are written into RULES; refuted rules stay there and are no longer applied, unless they are pinned. Rules that are off are not tried. A verdict of unknown does not replace an earlier one that was not.

Then the canonical URLs that each rule has a part in are fetched, with URLs that become them by all rules. A canonical URL is alive if it shows the page of the URL, without a redirect. A rule whose canonical URLs are refuted, by the same figures, changes keys only from now on, unless it is pinned: it is no longer "fetchable".

With --unproven, rules that lack votes are tried after the rules of their site, each after those that hold. Up to --samples pairs are compared, at most 4 of one group of URLs. A rule is promoted (it becomes the last rule of its site) if as many pairs show the same page as the learner asked for in all, its own votes not counted; with pairs of different pages it takes so many that at most 5 % fail, with 95 % confidence. The groups must show 5 different pages. It is applied on the hosts that were asked, and on all if 3 agree. What it may lose is added to the promise of its site. A rule that is refuted, or lacks pairs, stays unproven with what was found. A later run adds pairs of other groups; one that was refuted starts anew.

Mirrors are checked only with --trust-mirrors.

Only public addresses are connected to, and hosts named with --allow-host. robots.txt is obeyed (a site whose file has more than 5000 rules for us is left alone), and hosts are asked one request at a time; sites are checked in parallel. Every finished pair is noted in the state file at once: after an interruption, the same command goes on where it stopped. The file is removed when all is done.

With --format json, one line per rule and unproven rule, then one for all:
  {"type":"rule","site":"a.example","index":0,"rule":..,
   "outcome":"confirmed","same":95,"different":0,"failed":2,
   "failures":{"timed out":2},"differing":[],
   "canonical":{"outcome":"confirmed","alive":95,"redirected":0,
     "missing":0,"different":0,"failed":0,"failure_bound":0.031,
     "failures":{},"dead":[]}}
  {"type":"unproven","site":"b.example","index":0,"rule":..,
   "outcome":"unknown","obstacle":"6 more pairs of the same page are missing",
   "missing":6,"lost":0,"same":20,"different":0,"failed":0,"failures":{},
   "differing":[]}
  {"type":"total","rules":1,"confirmed":1,"refuted":0,"unknown":0,
   "unproven":1,"promoted":0,"requests":210}
"index" counts from 0, "rule" says what it does, "differing" holds up to three pairs of different pages. "canonical" is null where none was fetched; "dead" holds up to three URLs, each with a canonical URL that is not alive."#;

/// Options of `validate`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = HELP)]
pub(crate) struct ValidateArgs {
    /// Rules from `dedust learn`; verdicts are written into this file
    pub(crate) rules: PathBuf,
    /// Files or folders with URLs to draw samples from; `-` is standard input
    #[arg(required = true, value_name = "INPUT", long_help = help::urls())]
    pub(crate) urls: Vec<PathBuf>,
    /// How inputs are read.
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// Pairs to compare for each rule
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(20..=100_000))]
    pub(crate) samples: u32,
    /// Share of the pairs, from 0 to 1, that may be different
    #[arg(long, value_name = "SHARE", default_value_t = 0.05)]
    pub(crate) max_fail: f64,
    /// Pause between two requests to a host
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = duration)]
    pub(crate) delay: Duration,
    /// Longest time for one request
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub(crate) timeout: Duration,
    /// Pages with more bytes than this are not compared
    #[arg(long, value_name = "SIZE", default_value = "5MiB", value_parser = size, hide_short_help = true)]
    pub(crate) max_bytes: usize,
    /// Redirects to follow from one URL
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(0..=20), hide_short_help = true)]
    pub(crate) max_redirects: u32,
    /// Connect to this host although its address is private; may be given more than once
    ///
    /// A name or an address, for one port if one is given: wiki.intranet.example, 10.0.0.7:8080, [fd00::7]:80. Every other private address stays refused, also where a redirect leads there. Link-local addresses and those of the metadata services of clouds have to be named by address.
    #[arg(long, value_name = "HOST")]
    pub(crate) allow_host: Vec<AllowedHost>,
    /// Our name for servers
    ///
    /// robots.txt is read for what stands before the first `/`.
    #[arg(long, value_name = "TEXT", default_value = Fetcher::USER_AGENT, value_parser = user_agent)]
    pub(crate) user_agent: String,
    /// Where the rules go instead of into RULES; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite the file of -o if it exists
    #[arg(long)]
    pub(crate) force: bool,
    /// Where finished pairs are noted [default: RULES.validate-state.jsonl]
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// What the choice of samples depends on
    #[arg(long, value_name = "N", default_value_t = 0, hide_short_help = true)]
    pub(crate) seed: u64,
    /// Try the unproven rules too, and apply those that hold from now on
    ///
    /// A rule that the learner could not prove for lack of votes stays in the rule file and is not applied. With this option the URLs that it would join are fetched and compared. If enough of them show the same page, it becomes a rule of its site.
    #[arg(long)]
    pub(crate) unproven: bool,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    /// The day to note in the verdicts [default: none]
    #[arg(long, value_name = "DATE")]
    pub(crate) date: Option<String>,
    /// How the closing report is printed: text on standard error, or JSON Lines on standard output
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

/// A number and its unit.
fn quantity(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    Some((number.parse().ok()?, unit.trim()))
}

/// `300ms`, `1s`, `2m`.
fn duration(text: &str) -> Result<Duration, String> {
    let found = quantity(text).and_then(|(number, unit)| {
        let milliseconds = match unit {
            "ms" => 1,
            "s" => 1000,
            "m" | "min" => 60_000,
            _ => return None,
        };
        number.checked_mul(milliseconds)
    });
    // An hour between requests is as good as never.
    found
        .filter(|milliseconds| *milliseconds <= 3_600_000)
        .map(Duration::from_millis)
        .ok_or_else(|| "expected a time up to an hour such as 300ms, 1s or 2m".into())
}

/// `500000`, `64KiB`, `5MiB`, `1GiB`.
fn size(text: &str) -> Result<usize, String> {
    let found = quantity(text).and_then(|(number, unit)| {
        let bytes: u64 = match unit {
            "" | "B" => 1,
            "KiB" => 1 << 10,
            "MiB" => 1 << 20,
            "GiB" => 1 << 30,
            _ => return None,
        };
        number.checked_mul(bytes)
    });
    found
        .filter(|bytes| (1..=1 << 30).contains(bytes))
        .and_then(|bytes| usize::try_from(bytes).ok())
        .ok_or_else(|| "expected a size up to 1GiB such as 500000, 64KiB or 5MiB".into())
}

fn user_agent(text: &str) -> Result<String, &'static str> {
    let is_header = text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    if is_header && text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        Ok(text.into())
    } else {
        Err("expected printable ASCII that starts with a name")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(duration("300ms"), Ok(Duration::from_millis(300)));
        assert_eq!(duration("1s"), Ok(Duration::from_secs(1)));
        assert_eq!(duration("2 m"), Ok(Duration::from_secs(120)));
        assert_eq!(duration("0s"), Ok(Duration::ZERO));
        for text in
            ["", "1", "s", "1h", "-1s", "1.5s", "61m", "99999999999999999999s", "18446744073709551615m"]
        {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_may_have_units() {
        assert_eq!(size("500000"), Ok(500_000));
        assert_eq!(size("5MiB"), Ok(5 << 20));
        for text in ["", "0", "MiB", "5MB", "2GiB", "18446744073709551615GiB"] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_user_agent_fits_into_a_header() {
        assert!(user_agent(Fetcher::USER_AGENT).is_ok());
        for text in ["", "(x)", "a\r\nCookie: b", "dédust"] {
            assert!(user_agent(text).is_err(), "{text}");
        }
    }
}
