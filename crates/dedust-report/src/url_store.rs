/*!
What is kept of a crawl while its groups are found: every distinct URL once, with its size and the hash of its key.

Keys are not kept, since they can be made again. Memory is bounded: a URL for which there is no room is refused.
*/

use std::cmp::Reverse;
use std::collections::BTreeMap;

use dedust::errors::ParseUrlError;
use dedust::{Normalizer, Scratch};
use dedust_crawl::RowError;
use dedust_learn::Clues;
use foldhash::{HashMap, HashSet};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

const BLOCK_BYTES: usize = 1 << 20;

/// Distinct URLs in the order in which they were met.
#[derive(Debug)]
pub struct UrlStore<'n> {
    normalizer: &'n Normalizer,
    no_rules: Normalizer,
    scratch: Scratch,
    max_bytes: usize,
    /// The texts of URLs. A block is never moved, so that memory does not double when one more is needed.
    blocks: Vec<Vec<u8>>,
    block_bytes: usize,
    urls: Vec<StoredUrl>,
    number_by_url: HashMap<u128, u32>,
    group_by_key: HashMap<u128, u32>,
    is_full: bool,
}

#[derive(Debug)]
struct StoredUrl {
    block: u32,
    start: u32,
    length: u32,
    group: u32,
    /// A hash of the key that it has without rules.
    safe: u64,
    size: Option<u64>,
    /// Whether it was fetched and showed a page.
    shows_page: bool,
}

/// The canonical URL of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupCanonical {
    /// One of those that the URLs of the group have: one that showed a page, else that of most URLs, else the shortest.
    pub url: Vec<u8>,
    /// How many they have.
    pub of: usize,
}

/// Why a URL is not kept.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotKept {
    /// It is none.
    #[error(transparent)]
    BadUrl(#[from] ParseUrlError),
    /// There is no room for one more.
    #[error("there is no room for one more URL")]
    Full,
}

impl From<NotKept> for RowError {
    fn from(error: NotKept) -> Self {
        match error {
            NotKept::BadUrl(error) => Self::Url(error),
            NotKept::Full => Self::Stop,
        }
    }
}

/// The groups of a crawl.
#[derive(Debug)]
pub struct Groups {
    /// The numbers of all URLs, those of a group next to each other, in the order in which they were met.
    members: Vec<u32>,
    /// Those that save most first.
    pub list: Vec<Group>,
    /// Figures of all groups.
    pub totals: Totals,
}

/// URLs of one key.
#[derive(Debug)]
pub struct Group {
    start: u32,
    end: u32,
    /// The sizes, where known, of all but the first, which is the one to be fetched.
    pub saved_bytes: u64,
    /// Those of the URLs that safe normalization makes the same as one before them.
    pub safe_duplicates: u64,
    /// The sizes of these, where known.
    pub safe_bytes: u64,
}

/// All groups, those of one URL too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Distinct URLs, as met.
    pub urls: u64,
    /// Distinct keys.
    pub keys: u64,
    /// Keys of several URLs.
    pub groups: u64,
    /// The sizes of all URLs, where known.
    pub bytes: u64,
    /// The sizes of those that need not be fetched.
    pub saved_bytes: u64,
    /// URLs that safe normalization makes the same as one before them.
    pub safe_duplicates: u64,
    /// The sizes of these.
    pub safe_bytes: u64,
    /// URLs whose size is known.
    pub sized: u64,
}

impl Totals {
    /// URLs that need not be fetched.
    pub fn duplicates(&self) -> u64 {
        self.urls - self.keys
    }

    fn add(&mut self, group: &Group, sizes: impl Iterator<Item = Option<u64>>) {
        self.urls += u64::from(group.end - group.start);
        self.groups += u64::from(group.end - group.start > 1);
        for size in sizes.flatten() {
            self.sized += 1;
            self.bytes = self.bytes.saturating_add(size);
        }
        self.saved_bytes = self.saved_bytes.saturating_add(group.saved_bytes);
        self.safe_duplicates += group.safe_duplicates;
        self.safe_bytes = self.safe_bytes.saturating_add(group.safe_bytes);
    }
}

impl<'n> UrlStore<'n> {
    /// A store that takes about `max_bytes` of memory at most.
    pub fn new(normalizer: &'n Normalizer, max_bytes: usize) -> Self {
        Self {
            normalizer,
            no_rules: Normalizer::default(),
            scratch: Scratch::default(),
            max_bytes,
            blocks: Vec::new(),
            block_bytes: 0,
            urls: Vec::new(),
            number_by_url: HashMap::default(),
            group_by_key: HashMap::default(),
            is_full: false,
        }
    }

    /// Keeps a URL, unless it was met before, and says which it is, from 0; of several sizes it keeps the first.
    pub fn push(&mut self, url: &[u8], clues: &Clues<'_>) -> Result<u32, NotKept> {
        let (size, shows_page) = (clues.size, shows_page(clues));
        let next = self.urls.len() as u32;
        if let Some(&number) = self.number_by_url.get(&xxh3_128(url)) {
            let known = &mut self.urls[number as usize];
            known.size = known.size.or(size);
            known.shows_page |= shows_page;
            return Ok(number);
        }
        let key = self.normalizer.key_with(url, &mut self.scratch).map_err(NotKept::BadUrl)?;
        let key = xxh3_128(key);
        let safe = self.no_rules.key_with(url, &mut self.scratch).map_err(NotKept::BadUrl)?;
        let safe = xxh3_64(safe);
        if self.memory() + url.len() > self.max_bytes || next == u32::MAX {
            self.is_full = true;
            return Err(NotKept::Full);
        }
        let groups = self.group_by_key.len() as u32;
        let group = *self.group_by_key.entry(key).or_insert(groups);
        self.number_by_url.insert(xxh3_128(url), next);
        let (block, start) = self.keep_text(url);
        self.urls.push(StoredUrl { block, start, length: url.len() as u32, group, safe, size, shows_page });
        Ok(next)
    }

    /// Whether a URL was refused for lack of memory.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    fn keep_text(&mut self, url: &[u8]) -> (u32, u32) {
        let has_room = |block: &Vec<u8>| block.capacity() - block.len() >= url.len();
        if !self.blocks.last().is_some_and(has_room) {
            let block = Vec::with_capacity(BLOCK_BYTES.max(url.len()));
            self.block_bytes += block.capacity();
            self.blocks.push(block);
        }
        let at = self.blocks.len() - 1;
        let block = &mut self.blocks[at];
        let start = block.len();
        block.extend_from_slice(url);
        (at as u32, start as u32)
    }

    fn memory(&self) -> usize {
        // An entry of a map with a byte for itself and an eighth of room to spare; what the groups will take.
        let entry = (size_of::<(u128, u32)>() + 1) * 8 / 7;
        self.block_bytes
            + self.urls.capacity() * (size_of::<StoredUrl>() + size_of::<u32>())
            + (self.number_by_url.capacity() + self.group_by_key.capacity()) * entry
            + self.group_by_key.len() * (size_of::<u32>() + size_of::<Group>())
    }

    /// The text of a URL.
    pub fn url(&self, number: u32) -> &[u8] {
        let StoredUrl { block, start, length, .. } = self.urls[number as usize];
        &self.blocks[block as usize][start as usize..][..length as usize]
    }

    /// How many URLs there are.
    pub fn len(&self) -> usize {
        self.urls.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.urls.is_empty()
    }

    /// A hash of the key that a URL has without rules.
    pub(crate) fn safe_hash(&self, number: u32) -> u64 {
        self.urls[number as usize].safe
    }

    /// What a fetch of it took.
    pub fn size(&self, number: u32) -> Option<u64> {
        self.urls[number as usize].size
    }

    /// The canonical URL of URLs of one key, which rules may write in several forms.
    pub fn canonical_of(&self, members: impl Iterator<Item = u32>, scratch: &mut Scratch) -> GroupCanonical {
        let mut urls_by_canonical: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
        let mut shown: HashSet<Vec<u8>> = HashSet::default();
        for number in members {
            let url = self.url(number);
            // Only URLs are kept, so none is refused here.
            let canonical = self.normalizer.normalize_with(url, scratch).unwrap_or(url);
            match urls_by_canonical.get_mut(canonical) {
                Some(urls) => *urls += 1,
                None => _ = urls_by_canonical.insert(canonical.to_vec(), 1),
            }
            if self.urls[number as usize].shows_page {
                shown.insert(self.no_rules.normalize_with(url, scratch).unwrap_or(url).to_vec());
            }
        }
        let of = urls_by_canonical.len();
        let rank = |(url, urls): &(Vec<u8>, usize)| (!shown.contains(url), Reverse(*urls), url.len());
        let best = urls_by_canonical.into_iter().min_by_key(rank);
        GroupCanonical { url: best.map_or_else(Vec::new, |(url, _)| url), of }
    }

    /// The groups of at least `min_size` URLs, those that save most first: by bytes, by URLs, and then as they were met.
    pub fn groups(&self, min_size: u64) -> Groups {
        let mut ends = vec![0_u32; self.group_by_key.len()];
        for url in &self.urls {
            ends[url.group as usize] += 1;
        }
        let mut start = 0;
        for end in &mut ends {
            (*end, start) = (start, start + *end);
        }
        let mut members = vec![0_u32; self.urls.len()];
        for (number, url) in self.urls.iter().enumerate() {
            let end = &mut ends[url.group as usize];
            members[*end as usize] = number as u32;
            *end += 1;
        }
        let mut totals = Totals { keys: ends.len() as u64, ..Totals::default() };
        let mut list = Vec::new();
        let mut start = 0;
        for end in ends {
            let group = self.group(start, end, &members);
            start = end;
            let size = u64::from(end - group.start);
            totals.add(&group, members_of(&group, &members).iter().map(|&number| self.size(number)));
            if size >= min_size {
                list.push(group);
            }
        }
        list.sort_by_key(|group| Reverse((group.saved_bytes, group.end - group.start)));
        Groups { members, list, totals }
    }

    fn group(&self, start: u32, end: u32, members: &[u32]) -> Group {
        let mut group = Group { start, end, saved_bytes: 0, safe_duplicates: 0, safe_bytes: 0 };
        let mut safe_forms: HashSet<u64> = HashSet::default();
        for (at, &number) in members_of(&group, members).iter().enumerate() {
            let size = self.size(number).unwrap_or(0);
            if at > 0 {
                group.saved_bytes = group.saved_bytes.saturating_add(size);
            }
            if !safe_forms.insert(self.urls[number as usize].safe) {
                group.safe_duplicates += 1;
                group.safe_bytes = group.safe_bytes.saturating_add(size);
            }
        }
        group
    }
}

impl Groups {
    /// The numbers of the URLs of a group, in the order in which they were met.
    pub fn members(&self, group: &Group) -> &[u32] {
        members_of(group, &self.members)
    }
}

/// Whether a URL was fetched and showed a page.
fn shows_page(clues: &Clues<'_>) -> bool {
    let is_known = clues.cluster.or(clues.digest).or(clues.text_digest).is_some() || clues.main.is_some();
    clues.redirect.is_none() && clues.status.map_or(is_known, |status| (200..300).contains(&status))
}

fn members_of<'m>(group: &Group, members: &'m [u32]) -> &'m [u32] {
    &members[group.start as usize..group.end as usize]
}

#[cfg(test)]
mod tests {
    use dedust::RuleSet;

    use super::*;

    #[test]
    fn the_canonical_url_of_a_group_is_one_that_showed_a_page() {
        // The second parameter is dropped from keys alone, so that canonical URLs differ.
        let rules = br#"{"version": 1, "sites": {"a.example": {"rules": [
            {"change": [{"drop": "q.sid"}], "fetchable": true}, {"change": [{"drop": "q.v"}]}
        ]}}}"#;
        let normalizer = Normalizer::compile(&RuleSet::load(&rules[..]).unwrap());
        let page = Clues { status: Some(200), ..Clues::default() };
        let gone = Clues { status: Some(301), redirect: Some(b"http://a.example/"), ..Clues::default() };
        let canonical = |rows: &[(&str, &Clues<'_>)]| {
            let mut store = UrlStore::new(&normalizer, 1 << 24);
            rows.iter().for_each(|(url, clues)| _ = store.push(url.as_bytes(), clues).unwrap());
            let groups = store.groups(1);
            assert_eq!(groups.list.len(), 1);
            let members = groups.members(&groups.list[0]).iter().copied();
            let GroupCanonical { url, of } = store.canonical_of(members, &mut Scratch::default());
            (String::from_utf8(url).unwrap(), of)
        };
        let url = |query: &str| format!("http://a.example/p?{query}");
        let [plain, first, second, version] = ["id=1", "id=1&sid=1", "id=1&sid=2", "id=1&v=2"].map(url);
        let most = [(&*first, &page), (&*second, &page), (&*plain, &gone)];
        assert_eq!(canonical(&most), (plain.clone(), 1));
        let alive = [(&*first, &page), (&*second, &page), (&*plain, &gone), (&*version, &page)];
        assert_eq!(canonical(&alive), (version.clone(), 2), "though most have the other");
        let neither = [(&*first, &page), (&*second, &page), (&*version, &gone)];
        assert_eq!(canonical(&neither), (plain, 2));
    }
}
