/*!
DustBuster: rules that replace one string by another, from a list of URLs (Bar-Yossef, Keidar and Schonfeld, WWW
2007).

1. `detect` finds pairs of strings that can stand for each other between the same beginnings and endings of URLs.
   It rests on three guesses: a valid rule has many instances; most of them are between URLs of which there are few
   that differ there alone; and the two URLs look alike.
2. `eliminate` drops rules that say the same as others with less reason.
3. `validate` tries what is left on a sample of URLs, and keeps what holds.

What comes out is one rule that [replaces](Change::Replace) text, by all rules in order, over and over, until nothing changes.

Where the paper leaves a choice, or none that fits a learner that fetches nothing:

- Strings are made of tokens, not characters, so that `page=1` is no part of `page=10`.
- There are two limits for buckets, 6 and 11. Rules are detected and ranked by their instances in buckets of up to 6,
  and compared with each other in phase 2 by those in buckets of up to 11.
- Two pages look alike if their duplicate labels are equal. Where nothing is known but sizes, as from the log of a
  web server, they look alike if the ranges of their sizes overlap, in validation too: rules learned so
  are as good as the guess that pages of equal size are equal.
- In validation, a page is fetched by looking up the URL in the corpus. If a rule leads to a URL that is not
  there, nothing is known. A rule with too few known outcomes is not deployed; see [`Options::min_tests`].
- A rule is always deployed in the direction that makes URLs shorter or, at equal length, smaller, so that applying
  rules comes to an end. If it is refuted in that direction, it is dropped whatever the other would say.
- Very long URLs (512 tokens and more) are no examples.

A value with more alternatives than a bucket holds, such as a session id, leaves no trace: other methods find those.
*/

mod detect;
mod eliminate;
mod likeness;
mod tokens;
mod validate;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use dedust::rules::{Change, Evidence, Example, Replace, Rule};
use dedust_learn::support::{Learned, failure_bound};
use dedust_learn::{Corpus, EvidenceKinds};

use self::detect::detect;
use self::eliminate::eliminate;
use self::likeness::Likeness;
use self::tokens::{Alphabet, END, START, TokenList};
use self::validate::{Store, ValidRule, validate};

/// Examples kept with a rule.
const EXAMPLES: usize = 3;
/// Sites with fewer URLs need fewer tests, in proportion.
const SMALL_SITE_URLS: usize = 1000;

/// The constants of the method. The defaults are those of the paper, unless said otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Longest string of a rule, in tokens with start and end (S). Default: 35.
    pub max_substring_tokens: usize,
    /// Largest bucket whose pairs count for detection (T). Default: 6.
    pub max_bucket: usize,
    /// Largest bucket whose pairs count for elimination; not less than `max_bucket`. Default: 11.
    pub max_wide_bucket: usize,
    /// Fewest instances of a likely rule (MS). Default: 3.
    pub min_support: u32,
    /// Supports that differ by at most this share count as equal (MRD). Default: 0.05.
    pub max_relative_difference: f64,
    /// Supports that differ by at most this number count as equal (MAD). Default: 1.
    pub max_absolute_difference: u32,
    /// How many rules ahead a rule is compared with (MW). Default: 1100.
    pub elimination_window: usize,
    /// Known outcomes that settle the fate of a rule (N); three times as many URLs are tried at most. Default: 100.
    pub validation_count: usize,
    /// Share of outcomes that refutes a rule if they are different pages (epsilon). Default: 0.05.
    pub max_failure_rate: f64,
    /// Fewest known outcomes of a rule to be deployed; not in the paper. On sites of less than 1000 URLs, where no
    /// rule can have many, it is smaller in proportion, though never below `min_support`. Default: 20.
    pub min_tests: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_substring_tokens: 35,
            max_bucket: 6,
            max_wide_bucket: 11,
            min_support: 3,
            max_relative_difference: 0.05,
            max_absolute_difference: 1,
            elimination_window: 1100,
            validation_count: 100,
            max_failure_rate: 0.05,
            min_tests: 20,
        }
    }
}

impl Options {
    fn min_tests_for(&self, urls: usize) -> usize {
        let share = self.min_tests * urls.min(SMALL_SITE_URLS) / SMALL_SITE_URLS;
        share.max(self.min_support as usize).min(self.min_tests)
    }
}

/// Learns substitutions for one site. Those that lead to a different page more often than `max_false_pair_rate` are
/// dropped.
pub fn learn(corpus: &Corpus, max_false_pair_rate: f64) -> Learned {
    learn_with(corpus, &Options { max_failure_rate: max_false_pair_rate, ..Options::default() })
}

/// Like [`learn`], with other constants.
pub fn learn_with(corpus: &Corpus, options: &Options) -> Learned {
    let tokens = TokenList::new(corpus, Alphabet::Tokens);
    let likeness = Likeness::new(corpus);
    let likely = detect(&tokens, likeness, options);
    let raw_rules = likely.len();
    let rules = eliminate(&tokens, likely, options);
    let store = Store::new(corpus, &tokens);
    let rule = deploy(corpus, &tokens, &store, &validate(&store, likeness, &rules, options));
    Learned {
        rules: rule.into_iter().collect(),
        raw_rules,
        qualified_rules: rules.len(),
        ..Learned::default()
    }
}

/// Substitutions as one rule, without those whose text is not UTF-8; `None` if none is left.
fn deploy(corpus: &Corpus, tokens: &TokenList, store: &Store<'_>, rules: &[ValidRule<'_>]) -> Option<Rule> {
    let (mut list, mut changed) = (Vec::new(), BTreeSet::new());
    let (mut agreed, mut failed) = (Vec::new(), 0);
    for rule in rules {
        let Some(replace) = replacement(tokens, rule) else { continue };
        list.push(replace);
        changed.extend(store.changed(rule.from));
        agreed.extend_from_slice(&rule.trial.agreed);
        failed += rule.trial.disagreed as u64;
    }
    if list.is_empty() {
        return None;
    }
    let tested = agreed.len() as u64 + failed;
    let kinds = agreed.iter().fold(EvidenceKinds::NONE, |kinds, &(row, _)| kinds | corpus.kinds(row));
    agreed.sort_by_key(|&(row, _)| (corpus.url(row).len(), corpus.url(row)));
    let shown = |row| String::from_utf8_lossy(corpus.url(row)).into();
    Some(Rule {
        fetchable: true,
        evidence: Evidence {
            trust: None,
            canonical: None,
            canonical_bound: None,
            verdict: None,
            urls: changed.len() as u64,
            support_pairs: tested,
            false_pairs: failed,
            groups: tested,
            failed_groups: failed,
            failure_bound: failure_bound(failed, tested),
            kinds: kinds.iter().map(|kind| kind.name().into()).collect(),
            observed_until: corpus.latest().map(Into::into),
            examples: agreed
                .into_iter()
                .take(EXAMPLES)
                .map(|(url, duplicate)| Example { url: shown(url), duplicate: shown(duplicate) })
                .collect(),
        },
        ..Rule::new(Change::Replace(list))
    })
}

/// A rule as text.
fn replacement(tokens: &TokenList, rule: &ValidRule<'_>) -> Option<Replace> {
    let text = |side: &[u32]| {
        let mut text = Vec::new();
        tokens.write(side, &mut text);
        String::from_utf8(text).ok().map(String::into_boxed_str)
    };
    Some(Replace {
        from: text(rule.from)?,
        to: text(rule.to)?,
        at_start: rule.from.first() == Some(&START),
        at_end: rule.from.last() == Some(&END),
    })
}
