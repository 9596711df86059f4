/*!
The comparison for programs: JSON Lines with full precision.
*/

use std::io;

use dedust_eval::compare::{DividedSite, Figures, Measured, RuleCounts, Scope, SweepPoint};
use dedust_eval::metrics::{Score, Tally};
use serde::Serialize;

use super::{Drawing, Findings};
use crate::printer::Printer;

/// One line: `split`, then `site` for every site, `method` for every site and method, `micro` and `macro` for every
/// method, and `sweep` for every method and limit.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Record<'a> {
    /// What all methods were given.
    Split {
        /// `random` or `order`.
        split: &'static str,
        train: f64,
        max_train: usize,
        seed: u64,
        /// `truth` or `evidence`: where the pages of the scored URLs are known from.
        labels: &'static str,
        evidence: String,
        max_fpr: f64,
        methods: Vec<&'static str>,
        sites: usize,
        #[serde(flatten)]
        counts: Counts,
    },
    /// One site.
    Site {
        site: &'a str,
        #[serde(flatten)]
        counts: Counts,
    },
    /// One method on one site.
    Method {
        site: &'a str,
        method: &'static str,
        #[serde(flatten)]
        costs: CostRecord,
        unseen: ScoreRecord,
        whole: ScoreRecord,
    },
    /// One method, all URLs pooled. Seconds are of all sites together, the peak is that of the worst site.
    Micro {
        method: &'static str,
        #[serde(flatten)]
        costs: CostRecord,
        unseen: ScoreRecord,
        whole: ScoreRecord,
    },
    /// One method, the mean over sites.
    Macro { method: &'static str, unseen: Figures, whole: Figures },
    /// One method with another limit on the false pairs of a rule.
    Sweep {
        method: &'static str,
        max_fpr: f64,
        #[serde(flatten)]
        rules: RuleCounts,
        /// Null where there are no raw rules.
        qualified_rate: Option<f64>,
        micro: Scopes,
        r#macro: Scopes,
    },
}

/// How many URLs there are for what.
#[derive(Debug, Serialize)]
struct Counts {
    /// Distinct URLs of the input, after safe normalization.
    urls: usize,
    /// Those that were learned from.
    train_urls: usize,
    /// Those of them whose page was known to the methods.
    train_labelled: usize,
    /// URLs not scored because their page is not known.
    unlabelled: usize,
    unseen: KeepAll,
    whole: KeepAll,
}

/// What is scored, and the score of doing nothing at all.
#[derive(Debug, Serialize)]
struct KeepAll {
    urls: u64,
    pages: u64,
    achievable: f64,
    keep_all_f1: f64,
}

#[derive(Debug, Serialize)]
struct CostRecord {
    #[serde(flatten)]
    rules: RuleCounts,
    learn_seconds: f64,
    /// Null where it cannot be told.
    peak_bytes: Option<u64>,
    nanoseconds_per_url: f64,
}

/// Counts and figures by key, as those of `dedust evaluate`, and the F1 by canonical URL.
#[derive(Debug, Serialize)]
struct ScoreRecord {
    urls: u64,
    pages: u64,
    canonical: u64,
    covered: u64,
    support_pairs: u128,
    false_pairs: u128,
    duplicate_pairs: u128,
    /// `canonical` and `covered` by canonical URL.
    url_canonical: u64,
    url_covered: u64,
    #[serde(flatten)]
    figures: Figures,
}

#[derive(Debug, Serialize)]
struct Scopes {
    unseen: Figures,
    whole: Figures,
}

/// Prints everything.
pub(super) fn print(findings: &Findings<'_>, printer: &mut Printer) -> io::Result<()> {
    let Findings { args, methods, sites, comparison, peaks, sweep, .. } = findings;
    printer.json(&Record::Split {
        split: match args.split {
            Drawing::Random => "random",
            Drawing::Order => "order",
        },
        train: args.train,
        max_train: args.max_train,
        seed: args.seed,
        labels: if args.truth.is_empty() { "evidence" } else { "truth" },
        evidence: args.evidence.to_string(),
        max_fpr: args.max_fpr,
        methods: methods.clone(),
        sites: sites.len(),
        counts: Counts::of(sites),
    })?;
    for site in sites {
        printer.json(&Record::Site { site: site.site(), counts: Counts::of(std::slice::from_ref(site)) })?;
    }
    for (row, &peak_bytes) in comparison.rows.iter().zip(peaks) {
        let costs = CostRecord {
            rules: row.rules,
            learn_seconds: row.learn_seconds,
            peak_bytes,
            nanoseconds_per_url: row.nanoseconds_per_url,
        };
        let [unseen, whole] = [row.unseen, row.whole].map(Into::into);
        printer.json(&Record::Method { site: &row.site, method: row.method, costs, unseen, whole })?;
    }
    for &method in methods {
        let costs = comparison.costs(method);
        let costs = CostRecord {
            rules: costs.rules,
            learn_seconds: costs.learn_seconds,
            peak_bytes: findings.peak(method),
            nanoseconds_per_url: costs.nanoseconds_per_url,
        };
        let pooled = |scope| {
            let (key, url) = comparison.of(method).map(|row| row.measured(scope)).fold(
                (Tally::default(), Tally::default()),
                |(mut key, mut url), measured| {
                    key += measured.key;
                    url += measured.url;
                    (key, url)
                },
            );
            ScoreRecord::from(Measured { key, url })
        };
        let (unseen, whole) = (pooled(Scope::Unseen), pooled(Scope::Whole));
        printer.json(&Record::Micro { method, costs, unseen, whole })?;
    }
    for &method in methods {
        let [unseen, whole] = Scope::ALL.map(|scope| comparison.macro_average(method, scope));
        printer.json(&Record::Macro { method, unseen, whole })?;
    }
    sweep.iter().try_for_each(|point| printer.json(&Record::from(point)))
}

impl From<&SweepPoint> for Record<'_> {
    fn from(point: &SweepPoint) -> Self {
        let scopes = |figures: &dyn Fn(Scope) -> Figures| Scopes {
            unseen: figures(Scope::Unseen),
            whole: figures(Scope::Whole),
        };
        Self::Sweep {
            method: point.method,
            max_fpr: point.max_false_pair_rate,
            rules: point.rules,
            qualified_rate: point.rules.qualified_rate(),
            micro: scopes(&|scope| point.micro(scope)),
            r#macro: scopes(&|scope| point.macro_average(scope)),
        }
    }
}

impl Counts {
    fn of(sites: &[DividedSite]) -> Self {
        let sum = |of: fn(&DividedSite) -> usize| sites.iter().map(of).sum();
        let keep_all = |scope| KeepAll::from(sites.iter().map(|site| site.keep_all(scope)).sum::<Tally>());
        Self {
            urls: sum(DividedSite::urls),
            train_urls: sum(|site| site.corpus().map_or(0, |corpus| corpus.len())),
            train_labelled: sum(|site| site.corpus().map_or(0, |corpus| corpus.labelled_count())),
            unlabelled: sum(|site| site.scored().unlabelled()),
            unseen: keep_all(Scope::Unseen),
            whole: keep_all(Scope::Whole),
        }
    }
}

impl From<Tally> for KeepAll {
    fn from(tally: Tally) -> Self {
        let Score { urls, pages, achievable, f1, .. } = tally.score();
        Self { urls, pages, achievable, keep_all_f1: f1 }
    }
}

impl From<Measured> for ScoreRecord {
    fn from(measured: Measured) -> Self {
        let key = measured.key.score();
        Self {
            urls: key.urls,
            pages: key.pages,
            canonical: key.canonical,
            covered: key.covered,
            support_pairs: key.support_pairs,
            false_pairs: key.false_pairs,
            duplicate_pairs: key.duplicate_pairs,
            url_canonical: measured.url.canonical,
            url_covered: measured.url.covered,
            figures: Figures::new(&key, &measured.url.score()),
        }
    }
}
