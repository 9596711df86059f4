/*!
How good a normalizer is on labelled URLs: observations in, scores per site, pooled and averaged out.

The figures are those of [`crate::metrics`], over the distinct URLs as met (before any normalization) whose page is
known, in the order in which they came.
*/

use std::collections::BTreeMap;

use dedust::{Normalizer, ParsedUrl, Scratch, site_of};
use dedust_learn::support::{LabelBuilder, Labels, LinkTargets};
use dedust_learn::{Clues, EvidenceKinds};
use foldhash::HashMap;
use xxhash_rust::xxh3::xxh3_128;

use crate::metrics::{MacroAverage, Score, Tally};

/// Gathers labelled URLs and what a normalizer makes of them.
#[derive(Debug)]
pub struct Evaluator<'n> {
    normalizer: &'n Normalizer,
    scratch: Scratch,
    url: ParsedUrl,
    links: LinkTargets,
    labels: LabelBuilder,
    row_by_url: HashMap<u128, u32>,
    rows: Vec<Row>,
    site_ids: BTreeMap<Box<[u8]>, u32>,
    sites: Vec<Box<str>>,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    site: u32,
    /// Hashes of the URL as met, of its key, and of its canonical form.
    url: u128,
    key: u128,
    canonical: u128,
}

/// A row whose page is known.
#[derive(Clone, Copy, Debug)]
struct LabelledRow {
    row: Row,
    label: u32,
    /// Which of all rows it is.
    number: u32,
}

/// A URL that was observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvaluatedUrl {
    /// A hash of its key.
    pub key: u128,
    /// The number of the page that it shows, if that is known.
    pub page: Option<u32>,
    /// Whether it is known to show something else than the first URL of its key whose page is known.
    pub is_other: bool,
}

/// Scores of one set of URLs.
#[derive(Clone, Debug, PartialEq)]
pub struct Scores {
    /// Grouping URLs by their keys.
    pub key: Score,
    /// Grouping URLs by their canonical URLs.
    pub url: Score,
    /// Doing nothing at all.
    pub keep_all: Score,
    /// The share of canonical URLs that were met as URLs of the same page: those that can be fetched.
    pub live: f64,
    /// The share of URLs whose canonical form differs from them.
    pub changed: f64,
}

/// Scores of all sites.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// Scores by site, in the order of their names.
    pub sites: Vec<(Box<str>, Scores)>,
    /// All URLs pooled.
    pub micro: Scores,
    /// The mean over sites, by keys.
    pub macro_average: MacroAverage,
    /// URLs whose page is not known, which are left out.
    pub unlabelled: usize,
}

impl<'n> Evaluator<'n> {
    /// An evaluator that takes labels from these kinds of evidence.
    pub fn new(normalizer: &'n Normalizer, kinds: EvidenceKinds) -> Self {
        Self {
            normalizer,
            scratch: Scratch::default(),
            url: ParsedUrl::default(),
            links: LinkTargets::default(),
            labels: LabelBuilder::new(kinds),
            row_by_url: HashMap::default(),
            rows: Vec::new(),
            site_ids: BTreeMap::new(),
            sites: Vec::new(),
        }
    }

    /// Adds one URL with what is known of it, and says which it is of the distinct URLs, from 0. Bytes that are no URL stand for
    /// themselves.
    pub fn observe(&mut self, url: &[u8], clues: &Clues<'_>) -> u32 {
        let next = self.rows.len() as u32;
        let hash = xxh3_128(url);
        let row = *self.row_by_url.entry(hash).or_insert(next);
        let is_url = self.url.parse_from(url).is_ok();
        if is_url {
            self.links.resolve(&self.url, clues);
            self.labels.observe(row, self.url.as_bytes(), &self.links.within(clues));
        } else {
            self.labels.observe(row, url, clues);
        }
        if row < next {
            return row;
        }
        let site = if is_url { site_of(self.url.host()) } else { b"" };
        let site = match self.site_ids.get(site) {
            Some(&id) => id,
            None => {
                let id = self.sites.len() as u32;
                self.site_ids.insert(site.into(), id);
                self.sites.push(String::from_utf8_lossy(site).into());
                id
            }
        };
        let both = self.normalizer.both_with(url, &mut self.scratch);
        let (key, canonical) =
            both.map_or((hash, hash), |both| (xxh3_128(both.key), xxh3_128(both.canonical)));
        self.rows.push(Row { site, url: hash, key, canonical });
        row
    }

    /// The scores of everything observed.
    pub fn finish(self) -> Evaluation {
        self.finish_with_urls().0
    }

    /// The scores of everything observed, and the distinct URLs in the order in which they came.
    pub fn finish_with_urls(self) -> (Evaluation, Vec<EvaluatedUrl>) {
        let Self { labels, row_by_url, rows, site_ids, sites, .. } = self;
        let labels = labels.finish(rows.len());
        let labelled: Vec<LabelledRow> = (0..)
            .zip(rows.iter().zip(labels.iter()))
            .filter_map(|(number, (&row, label))| Some(LabelledRow { row, label: label?, number }))
            .collect();
        let label_of_url = |url: u128| row_by_url.get(&url).and_then(|&row| labels.label_of(row));
        let mut by_site: Vec<Vec<LabelledRow>> = vec![Vec::new(); sites.len()];
        for &labelled in &labelled {
            by_site[labelled.row.site as usize].push(labelled);
        }
        let sites: Vec<(Box<str>, Scores)> = site_ids
            .values()
            .filter(|&&id| !by_site[id as usize].is_empty())
            .map(|&id| (sites[id as usize].clone(), scores(&by_site[id as usize], &labels, label_of_url)))
            .collect();
        let keys: Vec<Score> = sites.iter().map(|(_, scores)| scores.key).collect();
        let mut first_by_key: HashMap<u128, (u32, u32)> = HashMap::default();
        let urls = (0..).zip(rows.iter().zip(labels.iter())).map(|(number, (row, page))| {
            let first = page.map(|page| *first_by_key.entry(row.key).or_insert((number, page)));
            let is_other = first.is_some_and(|(first, first_page)| {
                page != Some(first_page) && labels.are_different(first, number)
            });
            EvaluatedUrl { key: row.key, page, is_other }
        });
        let urls = urls.collect();
        let evaluation = Evaluation {
            micro: scores(&labelled, &labels, label_of_url),
            macro_average: MacroAverage::of(&keys),
            unlabelled: rows.len() - labelled.len(),
            sites,
        };
        (evaluation, urls)
    }
}

fn scores(rows: &[LabelledRow], labels: &Labels, label_of_url: impl Fn(u128) -> Option<u32>) -> Scores {
    let are_different = |one: usize, other: usize| labels.are_different(rows[one].number, rows[other].number);
    let score = |group: fn(&Row) -> u128| {
        Tally::count_with(rows.iter().map(|row| (group(&row.row), row.label)), are_different).score()
    };
    let mut first_label: HashMap<u128, u32> = HashMap::default();
    for &LabelledRow { row, label, .. } in rows {
        first_label.entry(row.canonical).or_insert(label);
    }
    let live =
        first_label.iter().filter(|&(&canonical, &label)| label_of_url(canonical) == Some(label)).count();
    let changed = rows.iter().filter(|LabelledRow { row, .. }| row.canonical != row.url).count();
    let share = |part: usize, whole: usize, empty: f64| {
        if whole == 0 { empty } else { part as f64 / whole as f64 }
    };
    Scores {
        key: score(|row| row.key),
        url: score(|row| row.canonical),
        keep_all: score(|row| row.url),
        live: share(live, first_label.len(), 1.0),
        changed: share(changed, rows.len(), 0.0),
    }
}
