/*!
Counts what the crawl knows of the canonical URLs that are written: of all of a site, and of those that each rule changes.

Takes the rules as they are chosen; changes none of them but for their evidence.
*/

use dedust::rules::{CanonicalCounts, SiteSummary};
use dedust::{Normalizer, RuleSet, Scratch};
use foldhash::HashSet;
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_128;

use super::choice::Search;
use super::pages::Pages;
use super::{compiled, rules_of};
use crate::canonical_fate::CanonicalFate;
use crate::confidence::failure_bound;
use crate::learner::Learned;

/// The canonical URLs of all URLs whose page was seen, with those that were observed; `None` if the rules cannot stand together.
pub(super) fn of_site(pages: &Pages<'_>, learned: &Learned) -> Option<CanonicalCounts> {
    let rules = learned.clone().into_rules(SiteSummary::default()).ok()?;
    let mut alone = RuleSet::new("");
    alone.insert(pages.corpus.site(), rules).ok()?;
    let written = written(pages, &Normalizer::compile(&alone), pages.asked.par_iter().copied());
    let mut counts = CanonicalCounts::default();
    let mut counted: HashSet<u128> = HashSet::default();
    for (canonical, fate) in written {
        if let Some(fate) = fate.filter(|_| counted.insert(canonical)) {
            fate.count(&mut counts);
        }
    }
    Some(counts)
}

/// Writes into the evidence of each rule that writes canonical URLs what is known of those that it changes, by the rules alone.
pub(super) fn note(search: &mut Search<'_, '_>) {
    let pages = search.pages;
    let Some(normalizer) = compiled(pages.corpus, &rules_of(&search.slots)) else { return };
    let rows = search.rows.par_iter().map(|&(row, _)| row);
    let mut counts = vec![[CanonicalCounts::default(); 2]; search.slots.len()];
    let mut counted: HashSet<(u128, usize, usize)> = HashSet::default();
    for (&(_, tree), (canonical, fate)) in search.rows.iter().zip(written(pages, &normalizer, rows)) {
        let Some(fate) = fate else { continue };
        for (slot, side) in search.changing(tree) {
            if counted.insert((canonical, slot, side)) {
                fate.count(&mut counts[slot][side]);
            }
        }
    }
    for (slot, counts) in search.slots.iter_mut().zip(counts) {
        for (writer, counts) in slot.writers.iter_mut().zip(counts) {
            let Some(writer) = writer.as_mut().filter(|writer| writer.is_on) else { continue };
            let bound = failure_bound(counts.wrong, counts.alive + counts.wrong);
            writer.rule.evidence.canonical = Some(counts);
            writer.rule.evidence.canonical_bound = (counts.all() > 0).then_some(bound);
        }
    }
}

/// The hash of the canonical URL of each row, and what is known of it.
fn written(
    pages: &Pages<'_>,
    normalizer: &Normalizer,
    rows: impl IndexedParallelIterator<Item = u32>,
) -> Vec<(u128, Option<CanonicalFate>)> {
    let write = |scratch: &mut Scratch, row: u32| {
        let url = pages.corpus.url(row);
        let canonical = normalizer.normalize_with(url, scratch).unwrap_or(url);
        (xxh3_128(canonical), pages.known(row, canonical))
    };
    rows.map_init(Scratch::default, write).collect()
}
