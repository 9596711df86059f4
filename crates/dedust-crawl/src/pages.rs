/*!
What the pages of archives say of themselves, added to their rows.

Documents are read on all threads, in batches, while the next are taken from the archive. The main text of a page is what
is left without the furniture of its site, which takes a sample of the site's pages to know: so rows wait until their
site has [`SAMPLE_PAGES`] pages, or until pages that wait take too much memory, and then go on together. Which rows wait
for how long depends on the input alone, not on threads.
*/

use std::mem;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::time::Duration;

use dedust::{ParsedUrl, site_of};
use dedust_io::{Column, Document, Observation};
use dedust_pages::{Furniture, Page, PageSample, PageSource};
use foldhash::HashMap;
use rayon::Yield;
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_128;

use crate::row::CrawlRow;

/// Pages of a site that tell what all of them have.
const SAMPLE_PAGES: u32 = 512;

/// Pages of a site that wait at most, like each other or not.
const MAX_WAITING_PAGES: usize = 4096;

/// Memory that waiting pages may take, in bytes.
const MAX_WAITING_BYTES: usize = 256 << 20;

/// Bytes of documents that are read together.
const BATCH_BYTES: usize = 4 << 20;

/// Documents that are read together.
const BATCH_PAGES: usize = 256;

/// Bytes below which a body says nothing by being equal to another.
const MIN_BODY_BYTES: usize = 64;

/// Rows on their way from the archive to the learner.
#[derive(Default)]
pub struct Pages {
    site_ids: HashMap<Box<[u8]>, usize>,
    sites: Vec<Site>,
    waiting_bytes: usize,
    batch: Vec<Job>,
    batch_bytes: usize,
    reading: Option<Receiver<Vec<Outcome>>>,
    url: ParsedUrl,
}

/// What is known of a site.
enum Site {
    /// Not enough pages yet.
    Open(Box<Waiting>),
    Known(Arc<Furniture>),
}

#[derive(Default)]
struct Waiting {
    sample: PageSample,
    pages: Vec<(CrawlRow, Page)>,
    bytes: usize,
}

/// A document to be read.
struct Job {
    row: CrawlRow,
    document: Document,
    site: usize,
    furniture: Option<Arc<Furniture>>,
}

/// A document that was read.
enum Outcome {
    Done(CrawlRow),
    /// The furniture of its site was not known.
    Half {
        row: CrawlRow,
        page: Page,
        site: usize,
    },
}

impl Pages {
    /// Whether a row's document has anything to say. Error pages speak of the error.
    pub fn wants(observation: &Observation) -> bool {
        observation.status().is_none_or(|status| (200..300).contains(&status))
    }

    /// Takes a row with its document, whose URL is one; gives rows that are complete to `ready`.
    pub fn push<E>(
        &mut self,
        row: CrawlRow,
        document: Document,
        ready: impl FnMut(&CrawlRow) -> Result<(), E>,
    ) -> Result<(), E> {
        let site = self.site_of(&row);
        let furniture = match &self.sites[site] {
            Site::Known(furniture) => Some(furniture.clone()),
            Site::Open(_) => None,
        };
        self.batch_bytes += document.body().len();
        self.batch.push(Job { row, document, site, furniture });
        if self.batch_bytes >= BATCH_BYTES || self.batch.len() >= BATCH_PAGES {
            return self.turn(ready);
        }
        Ok(())
    }

    /// Gives all rows that are left to `ready`.
    pub fn finish<E>(&mut self, mut ready: impl FnMut(&CrawlRow) -> Result<(), E>) -> Result<(), E> {
        self.turn(&mut ready)?;
        self.turn(&mut ready)?;
        for site in 0..self.sites.len() {
            self.settle(site, &mut ready)?;
        }
        Ok(())
    }

    fn site_of(&mut self, row: &CrawlRow) -> usize {
        let host = if self.url.parse_from(row.url()).is_ok() { self.url.host() } else { b"" };
        let name = site_of(host);
        match self.site_ids.get(name) {
            Some(&site) => site,
            None => {
                let site = self.sites.len();
                self.site_ids.insert(name.into(), site);
                self.sites.push(Site::Open(Box::default()));
                site
            }
        }
    }

    /// Starts to read the batch and deals with the one before.
    fn turn<E>(&mut self, mut ready: impl FnMut(&CrawlRow) -> Result<(), E>) -> Result<(), E> {
        self.batch_bytes = 0;
        let batch = mem::take(&mut self.batch);
        let before = self.reading.take();
        if !batch.is_empty() {
            let (sender, receiver) = sync_channel(1);
            rayon::spawn(move || {
                // If no one waits for it any more, an error has ended the reading.
                let _ = sender.send(batch.into_par_iter().map(Job::read).collect());
            });
            self.reading = Some(receiver);
        }
        for outcome in before.map(wait_for).unwrap_or_default() {
            match outcome {
                Outcome::Done(row) => ready(&row)?,
                Outcome::Half { mut row, page, site } => match &mut self.sites[site] {
                    Site::Known(furniture) => {
                        row.add_main_text(&page, furniture);
                        ready(&row)?;
                    }
                    Site::Open(waiting) => {
                        waiting.sample.add(&page);
                        let bytes = page.memory() + size_of::<CrawlRow>();
                        waiting.bytes += bytes;
                        self.waiting_bytes += bytes;
                        waiting.pages.push((row, page));
                        let is_enough = waiting.sample.page_count() >= SAMPLE_PAGES;
                        if is_enough || waiting.pages.len() >= MAX_WAITING_PAGES {
                            self.settle(site, &mut ready)?;
                        }
                    }
                },
            }
        }
        while self.waiting_bytes > MAX_WAITING_BYTES {
            let bytes_of = |site: &Site| match site {
                Site::Open(waiting) => waiting.bytes,
                Site::Known(_) => 0,
            };
            let Some(largest) = (0..self.sites.len()).max_by_key(|&site| bytes_of(&self.sites[site])) else {
                break;
            };
            self.settle(largest, &mut ready)?;
        }
        Ok(())
    }

    /// Lets go of the rows of a site that wait, with the furniture that is known by now.
    fn settle<E>(&mut self, site: usize, ready: impl FnMut(&CrawlRow) -> Result<(), E>) -> Result<(), E> {
        let Site::Open(waiting) = &mut self.sites[site] else { return Ok(()) };
        let Waiting { sample, pages, bytes } = mem::take(&mut **waiting);
        let furniture = Arc::new(sample.furniture());
        self.sites[site] = Site::Known(furniture.clone());
        self.waiting_bytes -= bytes;
        let complete: Vec<CrawlRow> = pages
            .into_par_iter()
            .map(|(mut row, page)| {
                row.add_main_text(&page, &furniture);
                row
            })
            .collect();
        complete.iter().try_for_each(ready)
    }
}

/// Waits for a batch that is being read. A thread of the pool that reads it must not sleep meanwhile: it may be the only one.
fn wait_for(batch: Receiver<Vec<Outcome>>) -> Vec<Outcome> {
    loop {
        match batch.try_recv() {
            Ok(outcomes) => return outcomes,
            Err(TryRecvError::Disconnected) => return Vec::new(),
            Err(TryRecvError::Empty) => {}
        }
        match rayon::yield_now() {
            Some(Yield::Executed) => {}
            Some(Yield::Idle) => {
                if let Ok(outcomes) = batch.recv_timeout(Duration::from_millis(1)) {
                    return outcomes;
                }
            }
            None => return batch.recv().unwrap_or_default(),
        }
    }
}

impl Job {
    fn read(self) -> Outcome {
        let Job { mut row, document, site, furniture } = self;
        let links: Vec<&[u8]> = document.headers("link").collect();
        let page = Page::read(&PageSource {
            url: row.observation.url(),
            content_type: document.content_type(),
            links: &links,
            refresh: document.header("refresh"),
            body: document.body(),
        });
        let body = document.body();
        if row.digest().is_none() && body.len() >= MIN_BODY_BYTES && !document.is_cut() {
            let _ = row.observation.set_text(Column::Digest, &format!("{:032x}", xxh3_128(body)));
        }
        let Some(page) = page else { return Outcome::Done(row) };
        row.add_page(&page, &document);
        if document.is_cut() {
            return Outcome::Done(row);
        }
        match furniture {
            Some(furniture) => {
                row.add_main_text(&page, &furniture);
                Outcome::Done(row)
            }
            None => Outcome::Half { row, page, site },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is written of the pages of a site, in the order in which they are ready.
    fn lines() -> Vec<String> {
        let mut lines = Vec::new();
        let mut ready = |row: &CrawlRow| {
            let mut line = Vec::new();
            row.write_line(&mut line).map(|()| lines.push(String::from_utf8_lossy(&line).into_owned()))
        };
        let mut pages = Pages::default();
        for number in 0..600 {
            let mut observation = Observation::new();
            observation.set_text(Column::Url, &format!("http://a.example/{number}")).unwrap();
            let text = format!("<nav>Menu</nav><p>{}", format!("Words of page {number} alone. ").repeat(9));
            let document = Document::new("Content-Type: text/html", text);
            pages.push(CrawlRow::new(observation), document, &mut ready).unwrap();
        }
        pages.finish(&mut ready).unwrap();
        lines
    }

    #[test]
    fn pages_are_read_by_the_thread_that_waits_for_them_if_it_is_the_only_one() {
        let expected = lines();
        assert_eq!(expected.len(), 600);
        assert!(expected[0].contains("\"simhash\""), "{}", expected[0]);
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert_eq!(pool.install(lines), expected);
        }
    }
}
