/*!
Pairs of duplicates: each page's target, what leads to it, and which of these transformations many pages share.
*/

use std::cmp::Reverse;

use dedust_learn::support::InternedRows as _;
use foldhash::{HashMap, HashSet};

use super::site::{Entry, Site, SpotNumber};
use super::transformation::Transformation;

/// Transformations looked at, at most; the most frequent ones.
const MAX_FREQUENT: usize = 200;
/// URLs that a decision tree learns from, at most, of either answer.
const MAX_EXAMPLES: usize = 3000;
/// URLs that a transformation is tried on to find them, at most. Rows are in random order.
const MAX_TRIALS: usize = 20_000;

/// A transformation that many pages share.
pub(super) struct Frequent {
    pub(super) transformation: Transformation,
    /// The URLs that it leads to their target, in the order of rows.
    pub(super) sources: Vec<u32>,
    id: u32,
}

/// A URL that a transformation works on, and whether it leads to the URL's page.
pub(super) type ExampleUrl = (u32, bool);

pub(super) struct Pairwise {
    /// The most frequent first.
    pub(super) frequent: Vec<Frequent>,
    /// Pages that make a transformation frequent, and URLs that a rule must be seen on.
    pub(super) min_pages: usize,
    /// By row: the transformation that leads to its target.
    id_by_row: Vec<Option<u32>>,
    is_target: Vec<bool>,
}

/// Compares the duplicates of every page with its target.
pub(super) fn compare(site: &Site<'_>, max_sources: usize) -> Pairwise {
    let corpus = site.corpus;
    let mut pages: Vec<Vec<u32>> = vec![Vec::new(); corpus.page_count()];
    let mut frequency = vec![0u64; corpus.pair_count()];
    for row in 0..corpus.len() as u32 {
        if let Some(label) = corpus.label(row) {
            pages[label as usize].push(row);
        }
        for &pair in corpus.pairs(row) {
            frequency[pair as usize] += 1;
        }
    }
    pages.retain(|rows| rows.len() > 1);
    let target_order = |&row: &u32| {
        let pairs = corpus.pairs(row);
        let has_query = pairs.iter().any(|&pair| site.is_query(corpus.pair_key(pair)));
        let common: u64 = pairs.iter().map(|&pair| frequency[pair as usize]).sum();
        (has_query, corpus.url(row).len(), Reverse(common), corpus.url(row))
    };
    let mut ids: HashMap<Transformation, u32> = HashMap::default();
    // By transformation: its sources, and the number of pages they are from.
    let mut found: Vec<(Vec<u32>, usize)> = Vec::new();
    let mut id_by_row = vec![None; corpus.len()];
    let mut is_target = vec![false; corpus.len()];
    let mut in_page: HashSet<u32> = HashSet::default();
    for rows in &pages {
        let Some(target) = rows.iter().copied().min_by_key(target_order) else { continue };
        is_target[target as usize] = true;
        in_page.clear();
        for source in
            one_of_each_shape_first(site, rows).into_iter().filter(|&row| row != target).take(max_sources)
        {
            let transformation = Transformation::between(site, source, target);
            if transformation.rules.is_empty() {
                continue;
            }
            let next = ids.len() as u32;
            let id = *ids.entry(transformation).or_insert(next);
            if id == next {
                found.push((Vec::new(), 0));
            }
            id_by_row[source as usize] = Some(id);
            let (sources, page_count) = &mut found[id as usize];
            sources.push(source);
            *page_count += usize::from(in_page.insert(id));
        }
    }
    let min_pages = (pages.len() / 100).clamp(3, 10);
    let mut frequent: Vec<(Reverse<usize>, Frequent)> = ids
        .into_iter()
        .filter_map(|(transformation, id)| {
            let (sources, page_count) = std::mem::take(&mut found[id as usize]);
            let frequent = Frequent { transformation, sources, id };
            (page_count >= min_pages).then_some((Reverse(page_count), frequent))
        })
        .collect();
    frequent.sort_unstable_by(|a, b| (a.0, &a.1.transformation).cmp(&(b.0, &b.1.transformation)));
    frequent.truncate(MAX_FREQUENT);
    let mut frequent: Vec<Frequent> = frequent.into_iter().map(|(_, frequent)| frequent).collect();
    for Frequent { sources, .. } in &mut frequent {
        sources.sort_unstable();
    }
    Pairwise { frequent, min_pages, id_by_row, is_target }
}

/// The rows of a page, those with other keys than all before them first.
fn one_of_each_shape_first(site: &Site<'_>, rows: &[u32]) -> Vec<u32> {
    let mut shapes: HashSet<Vec<u32>> = HashSet::default();
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    for &row in rows {
        let mut keys: Vec<u32> =
            site.corpus.pairs(row).iter().map(|&pair| site.corpus.pair_key(pair)).collect();
        keys.sort_unstable();
        if shapes.insert(keys) { first.push(row) } else { rest.push(row) }
    }
    first.append(&mut rest);
    first
}

impl Pairwise {
    /// URLs that a decision tree can learn from where `frequent` holds.
    pub(super) fn examples(&self, site: &Site<'_>, frequent: &Frequent) -> Vec<ExampleUrl> {
        let corpus = site.corpus;
        let transformation = &frequent.transformation;
        let rarest = transformation
            .required()
            .into_iter()
            .filter_map(|spot| match spot {
                SpotNumber::Key(key) => Some(&site.rows_by_key[key as usize]),
                SpotNumber::FromEnd(_) => None,
            })
            .min_by_key(|rows| rows.len());
        let mut view: Vec<Entry> = Vec::new();
        let mut results: Vec<(u64, u32, u32)> = Vec::new();
        let mut try_row = |row: u32| {
            if let Some(label) = corpus.label(row) {
                site.view(row, transformation.from_end, &mut view);
                let result = transformation.apply(site, &view);
                if let Some(result) = result.filter(|&result| result != site.form_by_row[row as usize]) {
                    results.push((result, label, row));
                }
            }
        };
        match rarest {
            Some(rows) => rows.iter().copied().take(MAX_TRIALS).for_each(&mut try_row),
            None => (0..corpus.len() as u32).take(MAX_TRIALS).for_each(&mut try_row),
        }
        results.sort_unstable();
        let mut wrong: Vec<u32> = Vec::new();
        let mut elsewhere: Vec<u32> = Vec::new();
        for group in results.chunk_by(|a, b| a.0 == b.0) {
            let known: Vec<u32> = site.forms.rows(group[0].0).filter_map(|row| corpus.label(row)).collect();
            for &(_, label, row) in group {
                let id = self.id_by_row[row as usize];
                if id == Some(frequent.id) {
                    continue;
                }
                if known.iter().any(|&other| other != label)
                    || group[0].1 != label
                    || group[group.len() - 1].1 != label
                {
                    wrong.push(row);
                } else if (id.is_some() || self.is_target[row as usize]) && known.is_empty() {
                    elsewhere.push(row);
                }
            }
        }
        let mut examples: Vec<ExampleUrl> =
            frequent.sources.iter().take(MAX_EXAMPLES).map(|&row| (row, true)).collect();
        let positives = examples.len();
        for (rows, most) in [(&mut wrong, MAX_EXAMPLES), (&mut elsewhere, positives / 2)] {
            rows.sort_unstable();
            examples.extend(rows.iter().take(most).map(|&row| (row, false)));
        }
        examples
    }
}
