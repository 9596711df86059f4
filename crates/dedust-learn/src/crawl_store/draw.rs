/*!
Draws the observations of a large site that are learned from.

Drawing single URLs would take most duplicates from their page: of a fifth of the URLs, a twenty-fifth of the pairs is
left. Drawing whole pages keeps them, but not the different pages that a wrong rule would bring together, which makes
wrong rules look good. So URLs are drawn in the groups that no rule is likely to be coarser than: those that agree in
every key that is the same within pages. Which keys these are ([`Groups`]) is told by a small sample of whole pages ([`Pilot`]).

Groups are taken in the order of a hash, which is chance that does not depend on the order of the input, until there
is enough ([`Draw`]). Both samples are the smallest by such a hash ([`Smallest`]), so that those of several processes, offered to
another one, make the same sample as all observations do. The hash is seeded by the digest of all observations of the site
([`SiteSize`]): nobody can choose URLs that come first, who does not know everything else that was observed.
*/

use std::io;
use std::ops::ControlFlow;

use dedust::support::{Separators, visit_tokens};
use dedust::{Normalizer, ParsedUrl, Scratch};
use foldhash::{HashMap, HashSet};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::record::{Record, Records};
use super::{SiteSize, damaged, observe};
use crate::corpus::Corpus;
use crate::crawl::Crawl;
use crate::evidence::EvidenceKinds;
use crate::hash::key_number;
use crate::pair_number::raw_key;
use crate::thresholds::sample::{
    MAX_OF_KEY, MAX_PILOT_ROWS, MIN_VARIATION, MIN_VARYING_PAGES, PILOT_MEMBERS, PILOT_ROWS,
};

/// The value of a key that is not there.
const ABSENT: u64 = 0;

/// Says which URLs of a site belong together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    /// Hashes of the keys that vary within pages.
    varying: HashSet<u64>,
}

/// How a key behaves.
#[derive(Debug, Default)]
struct Behaviour {
    counts: HashMap<u64, u32>,
    /// The sum over pages of the share of pairs that differ.
    differing: f64,
    /// Pages with a pair that differs.
    pages: u32,
}

impl Groups {
    /// The hashes of the keys that do not tell groups apart, in order.
    pub fn varying_keys(&self) -> Vec<u64> {
        let mut keys: Vec<u64> = self.varying.iter().copied().collect();
        keys.sort_unstable();
        keys
    }

    /// Groups of which another process found the keys.
    pub fn of_varying_keys(keys: impl IntoIterator<Item = u64>) -> Self {
        Self { varying: keys.into_iter().collect() }
    }

    /// Finds the keys that vary within the pages of a corpus.
    pub(super) fn find(corpus: &Corpus) -> Self {
        let hashes: Vec<(u64, u64)> = (0..corpus.pair_count() as u32)
            .map(|pair| {
                let (key, _) = raw_key(&corpus.keys()[corpus.pair_key(pair) as usize]);
                let value = corpus.value(corpus.pair_value(pair)).as_text().map(str::as_bytes);
                (key_number(key, 1), value_number(value, 0))
            })
            .collect();
        let mut keys: HashMap<u64, Behaviour> = HashMap::default();
        let mut rows_by_page: Vec<Vec<u32>> = vec![Vec::new(); corpus.page_count()];
        let mut pairs_by_row: Vec<Vec<(u64, u64)>> = Vec::with_capacity(corpus.len());
        for row in 0..corpus.len() as u32 {
            let pairs: Vec<(u64, u64)> =
                corpus.pairs(row).iter().map(|&pair| hashes[pair as usize]).collect();
            for &(key, value) in &pairs {
                *keys.entry(key).or_default().counts.entry(value).or_default() += 1;
            }
            pairs_by_row.push(pairs);
            if let Some(page) = corpus.label(row) {
                let members = &mut rows_by_page[page as usize];
                if members.len() < PILOT_MEMBERS {
                    members.push(row);
                }
            }
        }
        let mut pages = 0;
        for members in rows_by_page.iter().filter(|members| members.len() >= 2) {
            pages += 1;
            let members: Vec<&[(u64, u64)]> =
                members.iter().map(|&row| &*pairs_by_row[row as usize]).collect();
            for (key, differing) in differing_keys(&members) {
                let behaviour = keys.entry(key).or_default();
                behaviour.differing += differing;
                behaviour.pages += 1;
            }
        }
        let varying = keys.into_iter().filter(|(_, behaviour)| {
            behaviour.pages >= MIN_VARYING_PAGES
                && behaviour.variation(pages, corpus.len() as f64) >= MIN_VARIATION
        });
        Self { varying: varying.map(|(key, _)| key).collect() }
    }

    /// The hash of the group of a URL.
    fn of(&self, url: &ParsedUrl, domain_len: usize, seed: u64) -> u64 {
        let mut group = 0_u64;
        let flow = visit_tokens(url, domain_len, Separators::Safe, |key, value| {
            let key = key_number(key, 1);
            if !self.varying.contains(&key) {
                // Parameters in another order are the same.
                group = group.wrapping_add(xxh3_64_with_seed(&value_number(value, seed).to_le_bytes(), key));
            }
            ControlFlow::<()>::Continue(())
        });
        debug_assert!(flow.is_continue());
        xxh3_64_with_seed(&group.to_le_bytes(), seed)
    }
}

impl Behaviour {
    /// How often values of one page differ, compared with those of any two URLs: about 1 for a key that does not matter.
    fn variation(&self, pages: u32, rows: f64) -> f64 {
        let present: f64 = self.counts.values().map(|&count| f64::from(count)).sum();
        let squares: f64 = self.counts.values().map(|&count| (f64::from(count) / rows).powi(2)).sum();
        let any_two = 1.0 - squares - ((rows - present).max(0.0) / rows).powi(2);
        if any_two <= 0.0 { 0.0 } else { self.differing / f64::from(pages) / any_two }
    }
}

/// The keys in which some of `members` differ, each with the share of pairs that do.
fn differing_keys(members: &[&[(u64, u64)]]) -> Vec<(u64, f64)> {
    let mut keys: Vec<u64> = members.iter().flat_map(|pairs| pairs.iter().map(|&(key, _)| key)).collect();
    keys.sort_unstable();
    keys.dedup();
    let value_of = |pairs: &[(u64, u64)], key: u64| {
        pairs.iter().find(|pair| pair.0 == key).map_or(ABSENT, |&(_, value)| value)
    };
    let pairs = (members.len() * (members.len() - 1) / 2) as f64;
    let differing = keys.into_iter().filter_map(|key| {
        let values: Vec<u64> = members.iter().map(|pairs| value_of(pairs, key)).collect();
        let differing = (0..values.len())
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .filter(|&(i, j)| values[i] != values[j])
            .count();
        (differing > 0).then(|| (key, differing as f64 / pairs))
    });
    differing.collect()
}

/// The hash of a value, which is not [`ABSENT`].
fn value_number(value: Option<&[u8]>, seed: u64) -> u64 {
    value.map_or(1, |text| xxh3_64_with_seed(text, seed).max(2))
}

/// Keeps the observations that come first in an order by chance, at most so many.
#[derive(Debug)]
struct Smallest {
    wanted: usize,
    /// The most of those that are first by the same number.
    most_of_first: usize,
    kept: Vec<Kept>,
    /// Nothing beyond this is wanted any more.
    last: (u64, u64),
    /// One that is not wanted, while no other was offered: whoever puts samples together must know that the site was met.
    unwanted: Option<Box<[u8]>>,
}

/// An observation that may be drawn. Ordered, the record last, so that the order of the input leaves no trace.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Kept {
    order: (u64, u64),
    record: Box<[u8]>,
}

impl Smallest {
    fn new(wanted: usize, last: (u64, u64)) -> Self {
        Self { wanted, most_of_first: usize::MAX, kept: Vec::new(), last, unwanted: None }
    }

    /// Whether an observation that comes first by `first` may be kept.
    fn wants(&self, first: u64) -> bool {
        first <= self.last.0 || self.unwanted.is_none() && self.kept.is_empty()
    }

    fn offer(&mut self, order: (u64, u64), record: &Record<'_>) {
        let is_wanted = order <= self.last;
        if !is_wanted && (self.unwanted.is_some() || !self.kept.is_empty()) {
            return;
        }
        let mut bytes = Vec::new();
        record.write(&mut bytes);
        if !is_wanted {
            self.unwanted = Some(bytes.into());
            return;
        }
        self.kept.push(Kept { order, record: bytes.into() });
        if self.kept.len() >= 2 * self.wanted {
            self.trim();
        }
    }

    fn trim(&mut self) {
        if self.most_of_first < usize::MAX {
            self.kept.sort_unstable();
            let (mut first, mut count) = (None, 0);
            self.kept.retain(|kept| {
                count = if first == Some(kept.order.0) { count + 1 } else { 1 };
                first = Some(kept.order.0);
                count <= self.most_of_first
            });
        }
        if self.kept.len() > self.wanted {
            let (_, last, _) = self.kept.select_nth_unstable(self.wanted - 1);
            self.last = last.order;
            self.kept.truncate(self.wanted);
        }
    }

    fn finish(mut self) -> impl Iterator<Item = Box<[u8]>> {
        self.trim();
        let unwanted = self.unwanted.filter(|_| self.kept.is_empty());
        self.kept.into_iter().map(|kept| kept.record).chain(unwanted)
    }
}

/// Draws whole pages of a large site, of which [`Groups`] are found.
#[derive(Debug)]
pub(super) struct Pilot {
    smallest: Smallest,
    size: SiteSize,
    seed: u64,
}

impl Pilot {
    /// A pilot of a site of this size.
    pub(super) fn new(size: SiteSize) -> Self {
        let wanted = PILOT_ROWS.min(size.rows_within_memory());
        let limit = (wanted as f64 / size.rows as f64 * u64::MAX as f64) as u64;
        Self { smallest: Smallest::new(MAX_PILOT_ROWS, (limit, u64::MAX)), size, seed: size.seed(1) }
    }

    /// Keeps the observation if its page is drawn.
    pub(super) fn offer(&mut self, record: &Record<'_>) {
        let page = xxh3_64_with_seed(&record.page.to_le_bytes(), self.seed);
        if self.smallest.wants(page) {
            self.smallest.offer((page, xxh3_64_with_seed(record.url, self.seed)), record);
        }
    }

    /// What was drawn, as records.
    pub(super) fn finish(self) -> impl Iterator<Item = Box<[u8]>> {
        self.smallest.finish()
    }

    /// How the URLs of the site of this name are grouped.
    pub(super) fn find_groups(self, kinds: EvidenceKinds, name: &str) -> io::Result<Groups> {
        let mut crawl = Crawl::new(kinds).hashing([(name, self.size.text_hash())]);
        for drawn in self.finish() {
            observe(&mut crawl, &Records::new(&drawn).read().ok_or_else(damaged)?);
        }
        Ok(crawl.into_corpora_in_turn().next().map(|corpus| Groups::find(&corpus)).unwrap_or_default())
    }
}

/// Draws observations of a large site: groups first, then URLs.
#[derive(Debug)]
pub(super) struct Draw {
    by: GroupedBy,
    seed: u64,
    smallest: Smallest,
}

/// Which URLs are drawn together.
#[derive(Debug)]
enum GroupedBy {
    /// Those that no rule is likely to be coarser than: to learn from.
    Parts { groups: Groups, domain_len: usize },
    /// Those of which rules make one key: to hold the rules against.
    Keys { normalizer: Box<Normalizer>, scratch: Box<Scratch> },
}

impl Draw {
    /// A draw of so many observations of a site of this size.
    pub(super) fn new(groups: Groups, domain_len: usize, size: SiteSize, wanted: usize) -> Self {
        Self::within(groups, domain_len, size, wanted, u64::MAX)
    }

    /// A draw that looks at groups whose hashes are at most `last_group`.
    pub(super) fn within(
        groups: Groups,
        domain_len: usize,
        size: SiteSize,
        wanted: usize,
        last_group: u64,
    ) -> Self {
        let smallest = Smallest::new(wanted, (last_group, u64::MAX));
        Self { by: GroupedBy::Parts { groups, domain_len }, seed: size.seed(2), smallest }
    }

    /// A draw of keys whose hashes are at most `last_key`, a few observations of each.
    pub(super) fn of_keys(normalizer: Normalizer, size: SiteSize, wanted: usize, last_key: u64) -> Self {
        let smallest = Smallest { most_of_first: MAX_OF_KEY, ..Smallest::new(wanted, (last_key, u64::MAX)) };
        let by = GroupedBy::Keys { normalizer: Box::new(normalizer), scratch: Box::default() };
        Self { by, seed: size.seed(3), smallest }
    }

    /// Keeps the observation if it may be wanted. `url` is room to work in.
    pub(super) fn offer(&mut self, record: &Record<'_>, url: &mut ParsedUrl) {
        if url.parse_from(record.url).is_ok() {
            self.offer_parsed(|| *record, url);
        }
    }

    /// Like [`Draw::offer`], of a record whose URL was parsed, and which is made only if it may be wanted.
    pub(super) fn offer_parsed<'r>(&mut self, record: impl FnOnce() -> Record<'r>, url: &ParsedUrl) {
        let group = match &mut self.by {
            GroupedBy::Parts { groups, domain_len } => groups.of(url, *domain_len, self.seed),
            GroupedBy::Keys { normalizer, scratch } => {
                let url = url.as_bytes();
                xxh3_64_with_seed(normalizer.key_with(url, scratch).unwrap_or(url), self.seed)
            }
        };
        if self.smallest.wants(group) {
            self.smallest.offer((group, xxh3_64_with_seed(url.as_bytes(), self.seed)), &record());
        }
    }

    /// Whether there were enough.
    pub(super) fn is_full(&mut self) -> bool {
        self.smallest.trim();
        self.smallest.kept.len() >= self.smallest.wanted
    }

    /// The share of all groups that were drawn, about.
    pub(super) fn share(&mut self) -> f64 {
        let is_full = self.is_full();
        let last = self.smallest.kept.iter().map(|kept| kept.order.0).max().filter(|_| is_full);
        last.map_or(1.0, |last| (last as f64 / u64::MAX as f64).max(f64::MIN_POSITIVE))
    }

    /// What was drawn, as records.
    pub(super) fn finish(self) -> impl Iterator<Item = Box<[u8]>> {
        self.smallest.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label::Clues;

    const DOMAIN: &str = "a.example";

    fn group_of(url: &str, seed: u64) -> u64 {
        Groups::default().of(&ParsedUrl::parse(url).expect("a URL"), DOMAIN.len(), seed)
    }

    #[test]
    fn urls_that_were_chosen_to_come_first_do_not() {
        let honest = (0..20_000).map(|row| format!("http://a.example/c{}/view?id={row}", row % 50));
        // A tenth of the URLs, by the hash that an empty site would have.
        let guess = SiteSize::default().seed(2);
        let mut chosen: Vec<String> =
            (0..200_000).map(|row| format!("http://a.example/article-{}?id={row}", row % 20)).collect();
        chosen.sort_by_cached_key(|url| group_of(url, guess));
        chosen.truncate(2_000);
        let urls: Vec<String> = honest.chain(chosen).collect();

        let mut size = SiteSize::default();
        let mut parsed = ParsedUrl::default();
        for url in &urls {
            parsed.parse_from(url.as_bytes()).expect("a URL");
            size += SiteSize::of_row(url.as_bytes(), &parsed, 0);
        }
        let drawn = |seed_of: SiteSize| -> usize {
            let mut draw = Draw::new(Groups::default(), DOMAIN.len(), seed_of, 2_000);
            for url in &urls {
                let record =
                    Record { site: 0, page: 0, url: url.as_bytes(), clues: Clues::default(), time: None };
                draw.offer(&record, &mut ParsedUrl::default());
            }
            draw.finish().filter(|record| record.windows(9).any(|bytes| bytes == b"/article-")).count()
        };
        assert!(drawn(SiteSize::default()) > 1_800, "the guess is right, so that they are all of the sample");
        assert!(drawn(size) < 300, "about a tenth is");
    }

    #[test]
    fn a_key_with_very_many_urls_does_not_take_the_room_of_others() {
        let many = (0..5_000).map(|row| format!("http://a.example/many?sid={row}"));
        let others = (0..500).map(|row| format!("http://a.example/page-{}?sid={row}", row / 2));
        let urls: Vec<String> = many.chain(others).collect();
        let rules = r#"{"version": 1, "sites": {"a.example": {"rules": [{"change": [{"drop": "q.sid"}]}]}}}"#;
        let normalizer = Normalizer::compile_from(rules.as_bytes()).expect("valid rules");
        let mut draw = Draw::of_keys(normalizer, SiteSize::default(), 1_000, u64::MAX);
        for url in &urls {
            let record =
                Record { site: 0, page: 0, url: url.as_bytes(), clues: Clues::default(), time: None };
            draw.offer(&record, &mut ParsedUrl::default());
        }
        assert_eq!(draw.share(), 1.0);
        assert_eq!(draw.finish().count(), MAX_OF_KEY + 500);
    }
}
