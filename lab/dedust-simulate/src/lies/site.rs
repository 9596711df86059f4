/*!
Lays out a lying site and gives its rows.

Four URLs in ten are of honest sections, the others in equal parts of the sections of the lies. The layout is a list of
states and spellings, in the order of the crawl; a row is made from it when it is asked for.
*/

use std::io::{self, Write};

use foldhash::HashMap;

use super::lie::{Lie, Lies};
use super::row::{ERROR_CONTENT, LyingRow};
use super::section::{Resource, Section};
use super::spec::LyingSpec;
use super::spelling::{plain_url, spelling, url};
use super::text::TextHasher;
use crate::InvalidSiteSpec;
use crate::chance::{Sequence, mix, mix_two};

/// On a site with [`Lie::SoftError`] every URL draws a number below 1,000. Below this one it shows the error text;
const SOFT_ERRORS_BELOW: u64 = 30;
/// else, below one of these, it answers with the status beside the first of them.
const STATUSES_BELOW: [(u64, u16); 3] = [(36, 404), (40, 503), (44, 429)];
/// Features of the error text, of a counter, and of what an editor shows at one fetch alone.
const ERROR_FEATURES: u32 = 150;
const COUNTER_FEATURES: u32 = 2;
const EDITOR_FEATURES: u32 = 8;
/// Bytes gathered before they are written.
const BUFFER_BYTES: usize = 1 << 16;

/// A synthetic site whose evidence lies about its pages.
#[derive(Clone, Debug)]
pub struct LyingSite {
    spec: LyingSpec,
    pages: u64,
    entries: Vec<Entry>,
}

/// A URL in the layout.
#[derive(Clone, Copy, Debug)]
struct Entry {
    section: Section,
    spelling: u8,
    state: u64,
    page: u64,
}

impl LyingSite {
    /// Lays out a site.
    pub fn new(spec: LyingSpec) -> Result<Self, InvalidSiteSpec> {
        spec.check()?;
        let mut entries = Vec::new();
        let mut pages: HashMap<(Section, u64), u64> = HashMap::default();
        for (section, urls) in quotas(spec.lies, spec.urls) {
            let end = entries.len() + urls as usize;
            for state in 0.. {
                if entries.len() == end {
                    break;
                }
                let next_page = pages.len() as u64;
                let identity = section.resource(spec.seed, state).identity;
                let page = *pages.entry((section, identity)).or_insert(next_page);
                let copies = section.urls_of(spec.seed, state).min((end - entries.len()) as u64);
                entries.extend((0..copies).map(|copy| {
                    let spelling = spelling(section, spec.seed, state, copy) as u8;
                    Entry { section, spelling, state, page }
                }));
            }
        }
        Sequence::new(mix_two(spec.seed, 1)).shuffle(&mut entries);
        Ok(Self { pages: pages.len() as u64, spec, entries })
    }

    /// What was asked for.
    pub fn spec(&self) -> &LyingSpec {
        &self.spec
    }

    /// How many URLs there are, all of them distinct.
    pub fn urls(&self) -> u64 {
        self.entries.len() as u64
    }

    /// How many pages they lead to.
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// Above all pages of the site: where those of the next may start.
    pub fn page_end(&self) -> u64 {
        self.spec.first_page + self.pages
    }

    /// Calls `visit` with every row, in the order of the crawl.
    pub fn each_row(&self, mut visit: impl FnMut(&LyingRow)) {
        self.rows().for_each(|row| visit(&row));
    }

    /// Writes all rows as JSON Lines: what was seen to `observations`, and `{"url":..,"page":..}` to `truth`.
    pub fn write_json_lines(&self, mut observations: impl Write, mut truth: impl Write) -> io::Result<()> {
        let (mut observed, mut true_pages) = (Vec::new(), Vec::new());
        for row in self.rows() {
            row.append_observation(&mut observed);
            row.append_truth(&mut true_pages);
            if observed.len() >= BUFFER_BYTES {
                observations.write_all(&observed)?;
                truth.write_all(&true_pages)?;
                observed.clear();
                true_pages.clear();
            }
        }
        observations.write_all(&observed)?;
        truth.write_all(&true_pages)
    }

    fn rows(&self) -> impl Iterator<Item = LyingRow> {
        self.entries.iter().enumerate().map(|(position, entry)| self.row(position as u64, entry))
    }

    fn row(&self, position: u64, entry: &Entry) -> LyingRow {
        let LyingSpec { domain, seed, first_page, .. } = &self.spec;
        let chance = mix_two(mix_two(*seed, 2), position);
        let resource = entry.section.resource(*seed, entry.state);
        let page = first_page + entry.page;
        let row = LyingRow {
            url: url(domain, &resource.target, u64::from(entry.spelling), chance),
            page,
            content: page,
            status: 200,
            title: String::new(),
            text_digest: String::new(),
            simhash: 0,
            words: 0,
            canonical: None,
            redirect: None,
        };
        if let Some(target) = &resource.redirect {
            return LyingRow { status: 301, redirect: Some(plain_url(domain, target)), ..row };
        }
        if self.spec.lies.contains(Lie::SoftError) {
            let draw = mix(chance ^ 3) % 1_000;
            if draw < SOFT_ERRORS_BELOW {
                let mut text = TextHasher::new();
                text.add(mix_two(*seed, 4), ERROR_FEATURES);
                return with_text(LyingRow { content: ERROR_CONTENT, ..row }, "Something went wrong", &text);
            }
            if let Some(&(_, status)) = STATUSES_BELOW.iter().find(|(below, _)| draw < *below) {
                return LyingRow { status, ..row };
            }
        }
        let canonical = resource.canonical.as_ref().map(|target| plain_url(domain, target));
        with_text(LyingRow { canonical, ..row }, &resource.title, &self.text(&resource, chance))
    }

    /// The text of a page at one fetch, to which `chance` belongs.
    fn text(&self, resource: &Resource, chance: u64) -> TextHasher {
        let mut text = TextHasher::new();
        resource.text.iter().for_each(|&(source, features)| text.add(source, features));
        let noise_draw = (mix(chance ^ 5) >> 11) as f64 / (1_u64 << 53) as f64;
        let is_noisy = noise_draw < self.spec.chosen_noise();
        text.add(if is_noisy { mix(chance ^ 6) } else { mix_two(self.spec.seed, 8) }, COUNTER_FEATURES);
        if resource.is_changing {
            text.add(mix(chance ^ 7), EDITOR_FEATURES);
        }
        text
    }
}

/// How many URLs each section gets.
fn quotas(lies: Lies, urls: u64) -> Vec<(Section, u64)> {
    let lying: Vec<Section> = lies.iter().filter_map(Section::of).collect();
    let each = urls * 6 / 10 / (lying.len() as u64).max(1);
    let honest = urls - each * lying.len() as u64;
    let honest_quotas = [(Section::Items, honest / 2), (Section::Articles, honest - honest / 2)];
    honest_quotas.into_iter().chain(lying.into_iter().map(|section| (section, each))).collect()
}

fn with_text(row: LyingRow, title: &str, text: &TextHasher) -> LyingRow {
    LyingRow {
        title: title.to_owned(),
        text_digest: format!("{:016x}", text.digest()),
        simhash: text.simhash(),
        words: text.features(),
        ..row
    }
}
