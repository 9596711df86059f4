/*!
What we remember of a crawl: per site, its distinct URLs as rows of interned pairs, each with a duplicate label.

A [`Crawl`] takes observations in any order and of any number of sites. [`Crawl::into_corpora`] sorts the rows of
each site by a hash of their URL before anything is numbered, so that the same URLs in any order give the same
[`Corpus`], number by number.

A pair is a key with a value, known by one number; a row is the list of its pairs. A key that a URL lacks is
simply not in its row.
*/

use std::ops::ControlFlow;

use dedust::errors::ParseUrlError;
use dedust::{ParamName, ParsedUrl, RawKey, TokenKey, Value, site_of, visit_tokens};
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::evidence::EvidenceKinds;
use crate::interner::Interner;
use crate::label::{Clues, LabelBuilder};

/// Observations of any number of sites.
///
/// ```
/// use dedust_learn::{Clues, Crawl, EvidenceKinds};
///
/// let mut crawl = Crawl::new(EvidenceKinds::AUTO);
/// let page = Clues { digest: Some(b"77"), ..Clues::default() };
/// crawl.observe(b"http://a.example.org/x?s=1", &page)?;
/// crawl.observe(b"http://a.example.org/x?s=2", &page)?;
/// let corpora = crawl.into_corpora();
/// assert_eq!(corpora[0].site(), "example.org");
/// assert_eq!((corpora[0].len(), corpora[0].page_count()), (2, 1));
/// # Ok::<(), dedust::errors::ParseUrlError>(())
/// ```
#[derive(Debug)]
pub struct Crawl {
    kinds: EvidenceKinds,
    sites: FxHashMap<Box<[u8]>, SiteCrawl>,
    url: ParsedUrl,
    canonical: ParsedUrl,
    redirect: ParsedUrl,
}

#[derive(Debug)]
struct SiteCrawl {
    labels: LabelBuilder,
    rows: FxHashMap<u128, u32>,
    urls: UrlList,
    latest: Option<Box<[u8]>>,
}

/// The distinct URLs of one site, with their pairs and labels.
#[derive(Clone, Debug)]
pub struct Corpus {
    site: Box<str>,
    urls: UrlList,
    /// Pairs of row `i`: `row_pairs[row_ends[i - 1]..row_ends[i]]`.
    row_pairs: Vec<u32>,
    row_ends: Vec<u32>,
    keys: Vec<TokenKey>,
    pair_keys: Vec<u32>,
    pair_values: Vec<u32>,
    values: Vec<Value>,
    labels: Vec<u32>,
    kinds: Vec<EvidenceKinds>,
    page_count: usize,
    labelled_count: usize,
    latest: Option<Box<str>>,
}

/// The label of a row whose page is not known.
pub(crate) const NO_LABEL: u32 = u32::MAX;

#[derive(Clone, Debug, Default)]
struct UrlList {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl UrlList {
    fn push(&mut self, url: &[u8]) {
        self.bytes.extend_from_slice(url);
        self.ends.push(self.bytes.len());
    }

    fn get(&self, row: usize) -> &[u8] {
        &self.bytes[if row == 0 { 0 } else { self.ends[row - 1] }..self.ends[row]]
    }
}

impl Crawl {
    /// A crawl whose duplicate labels come from these kinds of evidence.
    pub fn new(kinds: EvidenceKinds) -> Self {
        Self {
            kinds,
            sites: FxHashMap::default(),
            url: ParsedUrl::default(),
            canonical: ParsedUrl::default(),
            redirect: ParsedUrl::default(),
        }
    }

    /// Adds one URL with what is known of it. Targets of canonical links and redirects may be relative to the
    /// host; any that are not URLs are taken as unknown.
    pub fn observe(&mut self, url: &[u8], clues: &Clues<'_>) -> Result<(), ParseUrlError> {
        self.observe_at(url, clues, None)
    }

    /// Like [`Crawl::observe`], with the time of the observation, of which the latest is remembered.
    pub fn observe_at(
        &mut self,
        url: &[u8],
        clues: &Clues<'_>,
        time: Option<&[u8]>,
    ) -> Result<(), ParseUrlError> {
        let Self {
            kinds,
            sites,
            url: parsed,
            canonical,
            redirect,
        } = self;
        parsed.parse_from(url)?;
        let clues = Clues {
            canonical: resolve(parsed, clues.canonical, canonical),
            redirect: resolve(parsed, clues.redirect, redirect),
            ..*clues
        };
        let name = site_of(parsed.host());
        if !sites.contains_key(name) {
            sites.insert(name.into(), SiteCrawl::new(*kinds));
        }
        if let Some(site) = sites.get_mut(name) {
            site.observe(parsed.as_bytes(), &clues, time);
        }
        Ok(())
    }

    /// The number of distinct URLs so far.
    pub fn url_count(&self) -> usize {
        self.sites.values().map(|site| site.urls.ends.len()).sum()
    }

    /// The corpora of all sites, in the order of their names.
    pub fn into_corpora(self) -> Vec<Corpus> {
        use rayon::prelude::*;
        let mut sites: Vec<_> = self.sites.into_iter().collect();
        sites.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        sites
            .into_par_iter()
            .map(|(name, site)| site.into_corpus(&name))
            .collect()
    }
}

/// The absolute form of a link target, written into `buffer`.
fn resolve<'b>(base: &ParsedUrl, target: Option<&[u8]>, buffer: &'b mut ParsedUrl) -> Option<&'b [u8]> {
    let target = target?.trim_ascii();
    let absolute = if target.starts_with(b"//") {
        Some([base.scheme(), b":", target].concat())
    } else if target.starts_with(b"/") {
        let port = base.port().map(|port| [b":", port].concat()).unwrap_or_default();
        Some([base.scheme(), b"://", base.host(), &port, target].concat())
    } else {
        None
    };
    buffer.parse_from(absolute.as_deref().unwrap_or(target)).ok()?;
    Some(buffer.as_bytes())
}

impl SiteCrawl {
    fn new(kinds: EvidenceKinds) -> Self {
        Self {
            labels: LabelBuilder::new(kinds),
            rows: FxHashMap::default(),
            urls: UrlList::default(),
            latest: None,
        }
    }

    fn observe(&mut self, url: &[u8], clues: &Clues<'_>, time: Option<&[u8]>) {
        let next = self.rows.len() as u32;
        let row = *self.rows.entry(xxh3_128(url)).or_insert(next);
        if row == next {
            self.urls.push(url);
        }
        self.labels.observe(row, url, clues);
        if time > self.latest.as_deref() {
            self.latest = time.map(Into::into);
        }
    }

    fn into_corpus(self, name: &[u8]) -> Corpus {
        let Self {
            labels,
            rows,
            urls,
            latest,
        } = self;
        let labels = labels.finish(rows.len());
        drop(rows);
        let mut order: Vec<(u64, u32)> = (0..urls.ends.len())
            .map(|row| (xxh3_64(urls.get(row)), row as u32))
            .collect();
        order.sort_unstable_by(|a, b| {
            a.0.cmp(&b.0)
                .then_with(|| urls.get(a.1 as usize).cmp(urls.get(b.1 as usize)))
        });

        let site = String::from_utf8_lossy(name);
        let mut builder = RowBuilder::new(name.len());
        let mut renumbered: FxHashMap<u32, u32> = FxHashMap::default();
        let (mut sorted_urls, mut row_labels, mut kinds) = (UrlList::default(), Vec::new(), Vec::new());
        let mut url = ParsedUrl::default();
        for &(_, row) in &order {
            let text = urls.get(row as usize);
            if url.parse_from(text).is_err() || !url.is_hierarchical() || !builder.push(&url) {
                continue;
            }
            sorted_urls.push(text);
            row_labels.push(labels.label_of(row).map_or(NO_LABEL, |label| {
                let next = renumbered.len() as u32;
                *renumbered.entry(label).or_insert(next)
            }));
            kinds.push(labels.kinds_of(row));
        }
        let labelled_count = row_labels.iter().filter(|&&label| label != NO_LABEL).count();
        let RowBuilder {
            row_pairs,
            row_ends,
            keys,
            pair_keys,
            pair_values,
            texts,
            ..
        } = builder.sort_keys();
        let values = std::iter::once(Value::Bare)
            .chain((0..texts.len() as u32).map(|id| Value::from(&*String::from_utf8_lossy(texts.get(id)))))
            .collect();
        Corpus {
            site: site.into(),
            urls: sorted_urls,
            row_pairs,
            row_ends,
            keys,
            pair_keys,
            pair_values,
            values,
            labels: row_labels,
            kinds,
            page_count: renumbered.len(),
            labelled_count,
            latest: latest.map(|time| String::from_utf8_lossy(&time).into()),
        }
    }
}

/// Numbers keys, values and pairs as rows come.
struct RowBuilder {
    domain_len: usize,
    names: Interner,
    texts: Interner,
    key_ids: FxHashMap<(u8, u32, u32), u32>,
    keys: Vec<TokenKey>,
    pair_ids: FxHashMap<u64, u32>,
    pair_keys: Vec<u32>,
    pair_values: Vec<u32>,
    row_pairs: Vec<u32>,
    row_ends: Vec<u32>,
    occurrences: Vec<(u32, u32)>,
}

/// The value number of a parameter without `=`; texts start at 1.
const BARE: u32 = 0;

impl RowBuilder {
    fn new(domain_len: usize) -> Self {
        Self {
            domain_len,
            names: Interner::default(),
            texts: Interner::default(),
            key_ids: FxHashMap::default(),
            keys: Vec::new(),
            pair_ids: FxHashMap::default(),
            pair_keys: Vec::new(),
            pair_values: Vec::new(),
            row_pairs: Vec::new(),
            row_ends: Vec::new(),
            occurrences: Vec::new(),
        }
    }

    /// Adds a row; false, with nothing added, for a URL of which rules cannot speak.
    fn push(&mut self, url: &ParsedUrl) -> bool {
        let start = self.row_pairs.len();
        self.occurrences.clear();
        let flow = visit_tokens(url, self.domain_len, |key, value| match self.pair(key, value) {
            Some(pair) => {
                self.row_pairs.push(pair);
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(()),
        });
        if flow.is_break() {
            self.row_pairs.truncate(start);
            return false;
        }
        self.row_ends.push(self.row_pairs.len() as u32);
        true
    }

    fn pair(&mut self, key: RawKey<'_>, value: Option<&[u8]>) -> Option<u32> {
        let key = self.key(key)?;
        let value = match value {
            None => BARE,
            Some(text) => {
                std::str::from_utf8(text).ok()?;
                self.texts.intern(text) + 1
            }
        };
        let next = self.pair_keys.len() as u32;
        let pair = *self
            .pair_ids
            .entry((u64::from(key) << 32) | u64::from(value))
            .or_insert(next);
        if pair == next {
            self.pair_keys.push(key);
            self.pair_values.push(value);
        }
        Some(pair)
    }

    fn key(&mut self, key: RawKey<'_>) -> Option<u32> {
        let id = match key {
            RawKey::Scheme => (0, 0, 0),
            RawKey::Port => (1, 0, 0),
            RawKey::TrailingSlash => (2, 0, 0),
            RawKey::QuerySeparator => (3, 0, 0),
            RawKey::Hashbang => (4, 0, 0),
            RawKey::Subdomain(u16::MAX) | RawKey::PathSegment(u16::MAX) => return None,
            RawKey::Subdomain(index) => (5, u32::from(index), 0),
            RawKey::PathSegment(index) => (6, u32::from(index), 0),
            RawKey::PathParam(name) => (7, self.names.intern(name), 1),
            RawKey::QueryParam(name) => (8, self.names.intern(name), 1),
        };
        let id = match key {
            RawKey::PathParam(_) | RawKey::QueryParam(_) => {
                let first = self.key_id(id, key)?;
                let occurrence = match self.occurrences.iter_mut().find(|(key, _)| *key == first) {
                    Some((_, count)) => {
                        *count += 1;
                        *count
                    }
                    None => {
                        self.occurrences.push((first, 1));
                        1
                    }
                };
                (id.0, id.1, occurrence)
            }
            _ => id,
        };
        self.key_id(id, key)
    }

    fn key_id(&mut self, id: (u8, u32, u32), key: RawKey<'_>) -> Option<u32> {
        if let Some(&known) = self.key_ids.get(&id) {
            return Some(known);
        }
        let named = |name: &[u8]| {
            Some(ParamName {
                name: std::str::from_utf8(name).ok()?.into(),
                occurrence: id.2,
            })
        };
        let key = match key {
            RawKey::Scheme => TokenKey::Scheme,
            RawKey::Subdomain(index) => TokenKey::Subdomain(index),
            RawKey::Port => TokenKey::Port,
            RawKey::PathSegment(index) => TokenKey::PathSegment(index),
            RawKey::TrailingSlash => TokenKey::TrailingSlash,
            RawKey::PathParam(name) => TokenKey::PathParam(named(name)?),
            RawKey::QuerySeparator => TokenKey::QuerySeparator,
            RawKey::QueryParam(name) => TokenKey::QueryParam(named(name)?),
            RawKey::Hashbang => TokenKey::Hashbang,
        };
        let next = self.keys.len() as u32;
        self.keys.push(key);
        self.key_ids.insert(id, next);
        Some(next)
    }

    /// Renumbers keys in the order of [`TokenKey`], so that comparing numbers compares keys.
    fn sort_keys(mut self) -> Self {
        let mut order: Vec<u32> = (0..self.keys.len() as u32).collect();
        order.sort_unstable_by(|&a, &b| self.keys[a as usize].cmp(&self.keys[b as usize]));
        let mut new_id = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            new_id[old as usize] = new as u32;
        }
        self.keys = order.iter().map(|&old| self.keys[old as usize].clone()).collect();
        for key in &mut self.pair_keys {
            *key = new_id[*key as usize];
        }
        self
    }
}

impl Corpus {
    /// The registrable domain.
    pub fn site(&self) -> &str {
        &self.site
    }

    /// The number of distinct URLs that rules can speak of.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are no URLs.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The safely normalized URL of a row.
    pub fn url(&self, row: u32) -> &[u8] {
        self.urls.get(row as usize)
    }

    /// The page of a row, if it is known. Pages are numbered from 0.
    pub fn label(&self, row: u32) -> Option<u32> {
        Some(self.labels[row as usize]).filter(|&label| label != NO_LABEL)
    }

    /// The evidence that ties a row to a duplicate of it.
    pub fn kinds(&self, row: u32) -> EvidenceKinds {
        self.kinds[row as usize]
    }

    /// The number of distinct pages among the labelled rows.
    pub fn page_count(&self) -> usize {
        self.page_count
    }

    /// The number of rows whose page is known.
    pub fn labelled_count(&self) -> usize {
        self.labelled_count
    }

    /// The latest time of an observation.
    pub fn latest(&self) -> Option<&str> {
        self.latest.as_deref()
    }

    /// The keys of the site; a key's number is its place in the order of [`TokenKey`].
    pub fn keys(&self) -> &[TokenKey] {
        &self.keys
    }

    pub(crate) fn labels(&self) -> &[u32] {
        &self.labels
    }

    pub(crate) fn pairs(&self, row: u32) -> &[u32] {
        let row = row as usize;
        let start = if row == 0 {
            0
        } else {
            self.row_ends[row - 1] as usize
        };
        &self.row_pairs[start..self.row_ends[row] as usize]
    }

    pub(crate) fn pair_count(&self) -> usize {
        self.pair_keys.len()
    }

    pub(crate) fn pair_key(&self, pair: u32) -> u32 {
        self.pair_keys[pair as usize]
    }

    /// The number of a pair's value; equal values of different keys have equal numbers.
    pub(crate) fn pair_value(&self, pair: u32) -> u32 {
        self.pair_values[pair as usize]
    }

    pub(crate) fn value_count(&self) -> usize {
        self.values.len()
    }

    pub(crate) fn value(&self, value: u32) -> &Value {
        &self.values[value as usize]
    }
}
