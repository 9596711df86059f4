/*!
Canonical URLs that were observed, where the rules write others.

The rules say of kinds of URLs which form is written. Of the URLs of one key the crawl may know more: which of them showed the page,
which redirect, which one the site itself names. One of them stands for all: the one that the page names as its own canonical URL, else
one that the rules write anyway, else the shortest. Where none is known to show the page, what redirects or fails is not written. Takes
the rules as they are written; gives what was observed of what they write.

URLs are brought together by the rules without those tables of duplicates that only say that two texts are equal.
*/

use std::cmp::Reverse;
use std::collections::BTreeMap;

use dedust::rules::{Rule, UrlPart};
use dedust::{Normalizer, Scratch};
use foldhash::{HashMap, HashSet};
use rayon::prelude::*;

use super::pages::{Pages, Standing};
use super::{compiled, is_claimed, keys};
use crate::canonfd::families::Family;
use crate::thresholds::canonical::MAX_OBSERVED;

/// What was observed of a URL that the rules write.
struct Observed {
    written: Vec<u8>,
    /// The URL that shows the page; `None` where a URL is to stay as it is.
    canonical: Option<Vec<u8>>,
    /// Whether `written` is known not to show the page.
    is_wrong: bool,
    /// URLs for which the rules write it.
    urls: usize,
}

/// What was observed of URLs that these rules write.
pub(super) fn observed(pages: &Pages<'_>, rules: &[Rule]) -> BTreeMap<Box<str>, Option<Box<str>>> {
    let corpus = pages.corpus;
    let claimed: Vec<Rule> = rules.iter().filter(|rule| is_claimed(rule)).cloned().collect();
    let (Some(groups), Some(normalizer)) = (keys(corpus, &claimed), compiled(corpus, rules)) else {
        return BTreeMap::new();
    };
    let mut by_group: Vec<(u32, u32)> = (0..).zip(groups).map(|(row, group)| (group, row)).collect();
    by_group.sort_unstable();
    let groups: Vec<&[(u32, u32)]> = by_group.chunk_by(|one, other| one.0 == other.0).collect();
    let of_group = |scratch: &mut Scratch, group: &&[(u32, u32)]| {
        let rows = group.iter().map(|&(_, row)| row).collect();
        Group::new(pages, &normalizer, rows, scratch).observed()
    };
    let mut found: Vec<Observed> =
        groups.par_iter().map_init(Scratch::default, of_group).flatten_iter().collect();
    found.sort_unstable_by(|one, other| {
        let rank = |found: &Observed| (Reverse(found.is_wrong), Reverse(found.urls));
        rank(one).cmp(&rank(other)).then_with(|| one.written.cmp(&other.written))
    });
    found.truncate(MAX_OBSERVED);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).ok().map(Box::<str>::from);
    let entry = |found: Observed| Some((text(found.written)?, found.canonical.and_then(text)));
    found.into_iter().filter_map(entry).collect()
}

/// URLs of one key, and what the rules write for them.
struct Group<'p, 'c> {
    pages: &'p Pages<'c>,
    rows: Vec<u32>,
    written: Vec<Vec<u8>>,
}

impl<'p, 'c> Group<'p, 'c> {
    fn new(pages: &'p Pages<'c>, normalizer: &Normalizer, rows: Vec<u32>, scratch: &mut Scratch) -> Self {
        let mut write = |&row: &u32| {
            let url = pages.corpus.url(row);
            normalizer.normalize_with(url, scratch).unwrap_or(url).to_vec()
        };
        let written = rows.iter().map(&mut write).collect();
        Self { pages, rows, written }
    }

    fn observed(&self) -> Vec<Observed> {
        let corpus = self.pages.corpus;
        let mut urls_by_written: HashMap<&[u8], usize> = HashMap::default();
        self.written.iter().for_each(|written| *urls_by_written.entry(written).or_default() += 1);
        let best = self.best(&urls_by_written);
        let canonical = best.map(|best| self.canonical(best, &urls_by_written));
        let mut observed: Vec<Observed> = Vec::new();
        let mut done: HashSet<&[u8]> = HashSet::default();
        for (&row, written) in self.rows.iter().zip(&self.written) {
            let is_other = |best| corpus.label(row) != corpus.label(best) && corpus.are_different(row, best);
            let is_wrong = self.pages.row(written).is_some_and(|row| self.pages.is_gone(row));
            let is_good = canonical.map_or(!is_wrong, |canonical| canonical == written);
            if !is_good && !best.is_some_and(is_other) && done.insert(written) {
                observed.push(Observed {
                    written: written.clone(),
                    canonical: canonical.map(<[u8]>::to_vec),
                    is_wrong,
                    urls: urls_by_written[&**written],
                });
            }
        }
        observed
    }

    /// The URL that stands for all, of those that show their page.
    fn best(&self, urls_by_written: &HashMap<&[u8], usize>) -> Option<u32> {
        let rank = |&row: &u32| {
            let url = self.pages.corpus.url(row);
            let urls = urls_by_written.get(url).copied().unwrap_or_default();
            let standing = self.pages.standing(row);
            (standing, !self.means_nothing(row), urls > 0, urls, Reverse(url.len()), Reverse(url))
        };
        self.rows.iter().copied().filter(|&row| self.pages.is_alive(row)).max_by_key(rank)
    }

    /// The canonical URL of all, which is the best, or a form that nobody has fetched where the best has sessions or the like that
    /// rules leave out.
    fn canonical<'s>(&'s self, best: u32, urls_by_written: &HashMap<&'s [u8], usize>) -> &'s [u8] {
        let url = self.pages.corpus.url(best);
        if self.pages.standing(best) == Standing::Named
            || !self.means_nothing(best)
            || urls_by_written.contains_key(url)
        {
            return url;
        }
        let is_unmet = |written: &[u8]| self.pages.row(written).is_none_or(|row| self.pages.is_unknown(row));
        let unmet = urls_by_written.iter().filter(|(written, _)| is_unmet(written));
        let most = unmet.max_by_key(|(written, urls)| (**urls, Reverse(written.len()), Reverse(**written)));
        most.map_or(url, |(written, _)| written)
    }

    /// Whether a URL has parameters that are known to mean nothing on most sites.
    fn means_nothing(&self, row: u32) -> bool {
        let corpus = self.pages.corpus;
        corpus.pairs(row).iter().any(|&pair| {
            let key = &corpus.keys()[corpus.pair_key(pair) as usize];
            matches!(key, UrlPart::QueryParam(_) | UrlPart::PathParam(_)) && Family::of_drop(key).is_known()
        })
    }
}
