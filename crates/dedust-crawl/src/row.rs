/*!
A row of a crawl: what its input says of a URL, and what its page says, if that was read.
*/

use std::ops::Deref;

use dedust::errors::ParseUrlError;
use dedust::{Normalizer, Scratch};
use dedust_budget::{Crawl, PageText};
use dedust_io::{Column, Document, Observation};
use dedust_learn::support::is_digest_of_nothing;
use dedust_learn::{Clues, CrawlStore, MainClues};
use dedust_pages::{Furniture, Page, Sketch};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// One row, with what its page says.
#[derive(Default)]
pub struct CrawlRow {
    pub(crate) observation: Observation,
    pub(crate) row_number: u64,
    main: Option<Box<Main>>,
}

/// Why a row is not used.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RowError {
    /// Its URL is none: it is counted, and reading goes on.
    Url(ParseUrlError),
    /// Nothing more can be taken: reading ends.
    Stop,
}

impl From<ParseUrlError> for RowError {
    fn from(error: ParseUrlError) -> Self {
        Self::Url(error)
    }
}

/// What is kept of the main text of a page.
struct Main {
    digest: [u8; 16],
    layout: Option<u64>,
    sketch: Sketch,
}

impl Deref for CrawlRow {
    type Target = Observation;

    fn deref(&self) -> &Observation {
        &self.observation
    }
}

impl CrawlRow {
    /// A row of which this is known, without its page.
    pub fn new(observation: Observation) -> Self {
        Self { observation, ..Self::default() }
    }

    /// Hands the row to a store of observations.
    pub fn observe_in(&self, store: &mut CrawlStore) -> Result<(), RowError> {
        Ok(store.observe(self.url(), &self.clues(), self.time().map(str::as_bytes))?)
    }

    /// Hands its URL, which rules make a key of, and what its page shows to a crawl that budgets are learned from.
    pub fn observe_text_in(
        &self,
        crawl: &mut Crawl,
        normalizer: &Normalizer,
        scratch: &mut Scratch,
    ) -> Result<(), RowError> {
        let key = normalizer.key_with(self.url(), scratch)?;
        // What it redirects to has a row of its own.
        if self.redirect().is_some() || self.status().is_some_and(|status| (300..400).contains(&status)) {
            return Ok(());
        }
        let is_error = self.status().is_some_and(|status| status >= 400);
        let hash = |text: &str| xxh3_64(text.as_bytes());
        let alike = |simhash: u64| xxh3_64_with_seed(self.title().unwrap_or_default().as_bytes(), simhash);
        let answer = self.text_digest().map(hash).or_else(|| self.simhash().map(alike));
        let text = match is_error {
            true => PageText { answer: self.status().map(u64::from), ..PageText::default() },
            false => PageText { lines: self.lines(), answer, body: self.digest().map(hash) },
        };
        crawl.observe(key, text, self.row_number);
        Ok(())
    }

    /// The redirects that led to this row, first first. The row of a spider that notes the URL it asked for is among those that
    /// were redirected: it is then not known where the last one led.
    pub(crate) fn hops(&self) -> impl Iterator<Item = Observation> {
        let ends_here = self.redirected_from().all(|url| url != self.url()).then_some(self.url());
        let next = self.redirected_from().skip(1).chain(ends_here);
        self.redirected_from().zip(next).filter(|(from, to)| from != to).map(|(from, to)| {
            let mut hop = Observation::new();
            // Any bytes fit both columns.
            let _ = hop.set_bytes(Column::Url, from).and_then(|()| hop.set_bytes(Column::Redirect, to));
            if let Some(time) = self.time() {
                let _ = hop.set_text(Column::Time, time);
            }
            hop
        })
    }

    /// The number of rows read before it: rows of archives do not come in the order in which they were read.
    pub fn row_number(&self) -> u64 {
        self.row_number
    }

    /// Hash of the body, unless that has no bytes: then its hash says nothing of the page.
    pub fn digest(&self) -> Option<&str> {
        self.observation.digest().filter(|digest| !is_digest_of_nothing(digest.as_bytes()))
    }

    /// What the row tells of its page.
    pub fn clues(&self) -> Clues<'_> {
        let main = self.main.as_ref();
        Clues {
            cluster: self.cluster().map(str::as_bytes),
            canonical: self.canonical(),
            redirect: self.redirect(),
            digest: self.digest().map(str::as_bytes),
            text_digest: self.text_digest().map(str::as_bytes),
            main: main.map(|main| MainClues {
                digest: &main.digest,
                layout: main.layout,
                sketch: main.sketch,
            }),
            simhash: self.simhash(),
            title: self.title().map(str::as_bytes),
            status: self.status(),
            size: self.size(),
        }
    }

    /// The hash of the main text, as hexadecimal digits.
    pub fn main_digest(&self) -> Option<String> {
        self.main.as_ref().map(|main| hex(&main.digest))
    }

    /// Adds what a page says of itself.
    pub(crate) fn add_page(&mut self, page: &Page, document: &Document) {
        let observation = &mut self.observation;
        observation.set_lines(page.lines().map(|line| xxh3_64(line.as_bytes())));
        let mut set = |column, value: &str| {
            // Texts fit any column of text; a value that did not would be as good as none.
            let _ = observation.set_text(column, value);
        };
        if !page.title().is_empty() {
            set(Column::Title, page.title());
        }
        if let Some(canonical) = page.canonical() {
            set(Column::Canonical, canonical);
        }
        let signature = dedust_pages::signature(page.text()).filter(|_| !document.is_cut());
        if let Some(signature) = signature {
            set(Column::TextDigest, &hex(&signature));
        }
        if let Some(refresh) = page.refresh().filter(|_| observation.redirect().is_none()) {
            let _ = observation.set_text(Column::Redirect, refresh);
        }
    }

    /// Adds what is left of a page without the furniture of its site.
    pub(crate) fn add_main_text(&mut self, page: &Page, furniture: &Furniture) {
        let text = furniture.main_text(page);
        if let Some(fingerprint) = text.fingerprint() {
            self.observation.set_simhash(fingerprint.simhash);
            self.main = Some(Box::new(Main {
                digest: fingerprint.signature,
                layout: text.layout(),
                sketch: fingerprint.sketch,
            }));
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
