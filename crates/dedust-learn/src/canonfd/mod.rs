/*!
CanonFD: our own learner.

A part of a URL is irrelevant when the page is determined by what remains. That is tested on all data at once: a rule
(forget a key, take a value for another, write a parameter as a path) joins groups of URLs, and the joined groups vote
whether their pages are the same. Rules are believed when the votes leave little doubt, and less is asked of rules that
are right on most sites. The rules of a site are found one after the other, each in the light of those before it, and
written in that order.
*/

mod accept;
mod canonical;
mod differ;
mod draft;
mod families;
mod gather;
mod observed;
mod refine;
mod scope;
mod search;
mod separator;
mod settle;
mod suggest;
mod table;
mod vote;
mod work;
mod write;

pub use accept::Refusal;
pub use settle::{FetchedGroups, Lack, MAX_PAIRS_OF_GROUP, on_agreeing_hosts};

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::iter::repeat_n;

use dedust::rules::Promise;

use self::canonical::write_canonical;
use self::families::{Family, Prior};
use crate::corpus::Corpus;
use crate::learner::{LearnSettings, Learned, Learner};
use crate::progress::Progress;

/// Rules that do not change which page is meant, by votes and bounds: our own method, and the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CanonFd;

impl Learner for CanonFd {
    fn name(&self) -> &'static str {
        "canonfd"
    }

    fn learn(&self, corpus: &Corpus, settings: &LearnSettings, _: &dyn Progress) -> Learned {
        learn(corpus, settings)
    }

    fn leaves_out_mirrors(&self) -> bool {
        true
    }
}

/// Learns rules for one site. In [`Mode::Paper`](crate::Mode::Paper), rules with a larger share of votes against them than
/// `max_false_pair_rate` are refused.
fn learn(corpus: &Corpus, settings: &LearnSettings) -> Learned {
    // One URL has nothing to be joined to.
    if corpus.len() < 2 {
        let promise = Some(Promise { lost: 0, pages: corpus.page_count() as u64 });
        return Learned { promise, ..Learned::default() };
    }
    let original = corpus;
    let (corpus, separator) = match separator::split(corpus) {
        Some((corpus, rule)) => (Cow::Owned(corpus), Some(rule)),
        None => (Cow::Borrowed(corpus), None),
    };
    let LearnSettings { max_false_pair_rate, proof, preferred } = *settings;
    let mut search = search::Search::new(&corpus, proof, max_false_pair_rate);
    search.run();
    search.take_observed();
    // Where it brings nothing together, it is of use to others only.
    let separator = separator.filter(|rule| rule.evidence.groups > 0 || !search.rules.is_empty());
    let before = usize::from(separator.is_some());
    let learned = Learned {
        raw_rules: search.tried,
        qualified_rules: search.accepted.len(),
        refused: write::write_refused(&search),
        promise: Some(search.promise()),
        hosts: if search.holds_everywhere { Vec::new() } else { search.hosts },
        rules: separator.into_iter().chain(search.rules).collect(),
        canonical_urls: BTreeMap::new(),
        canonical: None,
        unmet: Vec::new(),
    };
    let of_judged = search.accepted.iter().map(|judged| judged.candidate.prior());
    let priors: Vec<Prior> = repeat_n(Family::Spelling.prior(), before).chain(of_judged).collect();
    write_canonical(learned, &priors, original, preferred)
}
