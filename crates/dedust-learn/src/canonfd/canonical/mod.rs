/*!
Decides which rules write canonical URLs, which way round, and for which URLs.

The search decides which URLs are one page, and that is what keys say. A canonical URL must also be a URL that can be fetched. This module
takes the rules of the search and what the crawl knows of each URL, and says of each rule whether it writes canonical URLs. It changes no
key but for its spelling: the rules bring together the same URLs before and after.

1. `turned.rs`: a rule that joins two schemes, `www` and none, or a slash at the end and none, can be written in two directions.
2. `tree.rs`: for each URL, all canonical URLs that some of the rules would write, each with what the crawl knows of it (`pages.rs`): it was
   fetched and shows the page, it redirects, fails or shows another page, or nobody has fetched it.
3. `choice.rs` chooses the rules by which most canonical URLs are alive, over all URLs at once.
4. `narrow.rs` has a rule that writes what is wrong under some values of a part of the URL write nothing there.
5. `observed.rs` says what the crawl knows of single URLs that the rules write.
6. `counts.rs` says how many canonical URLs are alive, unmet and wrong in the end.

All other rules change keys alone, and the canonical URL stays as it is.
*/

mod choice;
mod counts;
mod narrow;
mod observed;
mod pages;
#[cfg(test)]
mod tests;
mod tree;
mod turned;

use dedust::rules::{Closed, Rule, SiteSummary, UrlPart, Value};
use dedust::{Normalizer, RuleSet, Scratch};
use foldhash::HashMap;
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_128;

use self::choice::Search;
use self::observed::observed;
use self::pages::Pages;
use super::families::Prior;
use crate::corpus::Corpus;
use crate::learner::Learned;
use crate::preference::{Form, PreferredForms};
use crate::thresholds::canonical as limits;

/// A rule of the search, and the rules that may write canonical URLs in its place.
#[derive(Clone, Debug)]
struct Slot {
    /// The rule that keys need.
    rule: Rule,
    /// Whether the turned rule does all that keys need.
    is_replaced: bool,
    /// How often what such rules write is not alive, before the site has said anything.
    prior: Prior,
    /// The same rule as it is, and turned round; `None` where there is no such rule.
    writers: [Option<Writer>; 2],
}

/// A rule that may write canonical URLs.
#[derive(Clone, Debug)]
struct Writer {
    rule: Rule,
    /// The form of URLs that it writes, if it has a name.
    form: Option<Form>,
    /// Whether it comes after all rules, so that these meet the forms that they were learned from.
    is_last: bool,
    /// Whether it writes canonical URLs.
    is_on: bool,
    /// Whether too little of what it would write is alive.
    is_refused: bool,
}

/// Has those rules write canonical URLs that lead to URLs that are alive. `priors` says of each rule how often those like it fail.
pub(super) fn write_canonical(
    mut learned: Learned,
    priors: &[Prior],
    corpus: &Corpus,
    preferred: PreferredForms,
) -> Learned {
    let files = files_at_root(corpus);
    let slots = learned.rules.iter().zip(priors).map(|(rule, &prior)| Slot::new(rule, prior, &files));
    let mut slots: Vec<Slot> = slots.collect();
    let Some(before) = keys(corpus, &learned.rules) else { return learned };
    for slot in 0..slots.len() {
        place_turned(&mut slots, slot, |slots| keys(corpus, &rules_of(slots)).as_ref() == Some(&before));
    }
    let pages = Pages::new(corpus, &before);
    if let Some(mut search) = Search::new(&pages, slots, preferred) {
        learned.unmet.extend(search.run());
        leave_out_what_changes_keys(&mut search, &before);
        replace_turned(&mut search.slots, |slots| keys(corpus, &rules_of(slots)).as_ref() == Some(&before));
        counts::note(&mut search);
        learned.rules = rules_of(&search.slots);
    }
    learned.canonical_urls = observed(&pages, &learned.rules);
    learned.canonical = counts::of_site(&pages, &learned);
    learned
}

/// Leaves out writers that give URLs other keys. Rarely there is one.
fn leave_out_what_changes_keys(search: &mut Search<'_, '_>, before: &[u32]) {
    let corpus = search.pages.corpus;
    let keeps_keys = |slots: &[Slot]| keys(corpus, &rules_of(slots)).is_some_and(|keys| keys == before);
    while !keeps_keys(&search.slots) {
        let writers = search.most_worth();
        // The first so many keep keys, and one more does not.
        let (mut good, mut bad) = (0, writers.len());
        while bad - good > 1 {
            let middle = usize::midpoint(good, bad);
            let mut slots = search.slots.clone();
            for (index, side) in &writers[middle..] {
                slots[*index].writers[*side].as_mut().expect("it is on").is_on = false;
            }
            if keeps_keys(&slots) { good = middle } else { bad = middle }
        }
        let Some(&(slot, side)) = writers.get(good) else { break };
        search.leave_out(slot, side);
    }
}

/// Leaves out rules of the search of which the turned one brings together the same URLs.
fn replace_turned(slots: &mut [Slot], keeps_keys: impl Fn(&[Slot]) -> bool) {
    for slot in 0..slots.len() {
        let is_on = |writer: &Option<Writer>| writer.as_ref().is_some_and(|writer| writer.is_on);
        slots[slot].is_replaced = slots[slot].writers.each_ref().map(is_on) == [false, true];
        slots[slot].is_replaced = slots[slot].is_replaced && keeps_keys(slots);
    }
}

/// Puts the turned rule of a slot behind all others, or else into its place, where it leaves keys as they are.
fn place_turned(slots: &mut [Slot], slot: usize, keeps_keys: impl Fn(&[Slot]) -> bool) {
    for is_last in [true, false] {
        let Some(turned) = &mut slots[slot].writers[1] else { return };
        (turned.is_last, turned.is_on) = (is_last, true);
        let is_good = keeps_keys(slots);
        let Some(turned) = &mut slots[slot].writers[1] else { return };
        turned.is_on = false;
        if is_good {
            return;
        }
    }
    slots[slot].writers[1] = None;
}

impl Slot {
    fn new(rule: &Rule, prior: Prior, files: &[Value]) -> Self {
        let [as_it_is, turned] = if is_claimed(rule) { turned::writers(rule, files) } else { [None, None] };
        let writer = |(rule, form)| Writer { rule, form, is_last: false, is_on: false, is_refused: false };
        Self {
            rule: rule.clone(),
            is_replaced: false,
            prior,
            writers: [as_it_is.map(writer), turned.map(writer)],
        }
    }
}

/// The rules of the slots in their order, each that writes canonical URLs before the one that keys need, if that is another; then those
/// that are turned round, so that all others meet the forms that they were learned from.
fn rules_of(slots: &[Slot]) -> Vec<Rule> {
    let written = |slot: &Slot, side: usize, is_last: bool| {
        let writer =
            slot.writers[side].as_ref().filter(|writer| writer.is_on && writer.is_last == is_last)?;
        Some(Rule { fetchable: true, ..writer.rule.clone() })
    };
    let in_place = |slot: &Slot| {
        let writers: Vec<Rule> = [0, 1].into_iter().filter_map(|side| written(slot, side, false)).collect();
        let is_same = |rule: &Rule| rule.when == slot.rule.when && rule.change == slot.rule.change;
        let is_needed = !slot.is_replaced && !writers.iter().any(is_same);
        let of_keys = is_needed.then(|| Rule { fetchable: false, ..slot.rule.clone() });
        writers.into_iter().chain(of_keys)
    };
    slots.iter().flat_map(in_place).chain(slots.iter().filter_map(|slot| written(slot, 1, true))).collect()
}

/// For each URL the first one that has its key, so that equal lists are equal groups; `None` if the rules cannot stand together.
fn keys(corpus: &Corpus, rules: &[Rule]) -> Option<Vec<u32>> {
    let normalizer = compiled(corpus, rules)?;
    let key = |scratch: &mut Scratch, row: u32| {
        let url = corpus.url(row);
        xxh3_128(normalizer.key_with(url, scratch).unwrap_or(url))
    };
    let keys: Vec<u128> = (0..corpus.len() as u32).into_par_iter().map_init(Scratch::default, key).collect();
    let mut first_by_key: HashMap<u128, u32> = HashMap::default();
    Some((0..).zip(keys).map(|(row, key)| *first_by_key.entry(key).or_insert(row)).collect())
}

/// First segments of the site that are names of files, by their extension.
fn files_at_root(corpus: &Corpus) -> Vec<Value> {
    let Some(key) = corpus.keys().iter().position(|key| *key == UrlPart::PathSegment(0)) else {
        return Vec::new();
    };
    let values = (0..corpus.pair_count() as u32).filter(|&pair| corpus.pair_key(pair) as usize == key);
    let values = values.map(|pair| corpus.value(corpus.pair_value(pair)));
    let is_file = |value: &&Value| value.as_text().is_some_and(|text| text.contains('.'));
    let mut files: Vec<Value> = values.filter(is_file).cloned().collect();
    files.sort_unstable();
    files.dedup();
    files.truncate(limits::MAX_FILES);
    files
}

/// The rules alone; `None` if they cannot stand together.
fn compiled(corpus: &Corpus, rules: &[Rule]) -> Option<Normalizer> {
    let learned = Learned { rules: rules.to_vec(), ..Learned::default() };
    let site = learned.into_rules(SiteSummary::default()).ok()?;
    // A rule that could never be made is left out, and is then missing.
    if site.len() != rules.len() {
        return None;
    }
    let mut alone = RuleSet::new("");
    alone.insert(corpus.site(), site).ok()?;
    Some(Normalizer::compile(&alone))
}

/// Whether more than equal texts says that the URLs which a rule brings together are one page. Two pages may show the same text, and a
/// canonical URL is fetched in place of another.
fn is_claimed(rule: &Rule) -> bool {
    let mut kinds = rule.evidence.kinds.iter();
    rule.closed == Closed::No || kinds.any(|kind| matches!(&**kind, "redirect" | "canonical"))
}

/// Whether every value of the new form is known.
fn writes_all(rule: &Rule) -> bool {
    !rule.change.iter().any(|change| change.facts().forgets())
}
