/*!
What live learning would have saved on a crawl that was made without it: its rows in order in, verdicts and a summary out.

A page is shown to the live crawl only if it asked for the fetch.
*/

use std::path::Path;

use dedust::RuleSet;
use dedust_crawl::CrawlRow;
use foldhash::HashMap;

use crate::error::{AdmitError, LiveError};
use crate::live::LiveCrawl;
use crate::options::LiveOptions;
use crate::status::Status;
use crate::verdict::Verdict;

/// URLs that are asked about at a time, as a crawler does that has some connections.
const BATCH: usize = 50;
/// URLs that come back, at a time.
const RETURNED: usize = 1000;

/// What became of a crawl.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Replayed {
    /// Rows whose URLs are none.
    pub bad: u64,
    /// Whether each row was fetched; a row whose URL was met before is not.
    pub fetched: Vec<bool>,
    /// The key of each row, when it was asked about.
    pub keys: Vec<Box<[u8]>>,
    /// URLs that came back.
    pub returned: u64,
    /// The rules at the end.
    pub rules: RuleSet,
    /// How it stood at the end.
    pub status: Status,
    /// After how many URLs so many were fetched: once for each hundredth of the crawl.
    pub progress: Vec<(u64, u64)>,
}

/// Replays a crawl in an empty state.
pub fn replay(state: &Path, options: LiveOptions, rows: &[CrawlRow]) -> Result<Replayed, LiveError> {
    let mut crawl = LiveCrawl::open(state, options)?;
    let mut replayed = Replayed {
        fetched: vec![false; rows.len()],
        keys: vec![Box::default(); rows.len()],
        ..Replayed::default()
    };
    let mut row_of: HashMap<&[u8], usize> = HashMap::default();
    let step = (rows.len() / 100).max(1);
    let (mut urls, mut fetches) = (0, 0);
    let mut order = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        row_of.entry(row.url()).or_insert_with(|| {
            order.push(at);
            at
        });
    }
    for batch in order.chunks(BATCH) {
        let mut wanted = Vec::new();
        for &at in batch {
            urls += 1;
            match crawl.admit(rows[at].url()) {
                Ok(admission) => {
                    replayed.keys[at] = admission.key.into();
                    if admission.verdict != Verdict::Skip {
                        wanted.push(at);
                    }
                }
                Err(AdmitError::State(error)) => return Err(error),
                Err(AdmitError::Url(_)) => replayed.bad += 1,
            }
        }
        fetch(&mut crawl, rows, &wanted, &mut replayed, &mut fetches)?;
        crawl.learn()?;
        let back = crawl.returned(RETURNED)?;
        let back: Vec<usize> = back.iter().filter_map(|url| row_of.get(url.as_bytes()).copied()).collect();
        replayed.returned += back.len() as u64;
        fetch(&mut crawl, rows, &back, &mut replayed, &mut fetches)?;
        crawl.learn()?;
        if urls as usize / step > replayed.progress.len() {
            replayed.progress.push((urls, fetches));
        }
    }
    replayed.progress.push((urls, fetches));
    (replayed.status, replayed.rules) = (crawl.status(), crawl.rules());
    Ok(replayed)
}

/// Fetches rows that were not fetched before.
fn fetch(
    crawl: &mut LiveCrawl,
    rows: &[CrawlRow],
    wanted: &[usize],
    replayed: &mut Replayed,
    fetches: &mut u64,
) -> Result<(), LiveError> {
    for &at in wanted {
        if std::mem::replace(&mut replayed.fetched[at], true) {
            continue;
        }
        *fetches += 1;
        match crawl.observe(&rows[at]) {
            Err(AdmitError::State(error)) => return Err(error),
            Ok(()) | Err(AdmitError::Url(_)) => {}
        }
    }
    Ok(())
}
