/*!
Rules and the observations of a crawl in, [`ReportData`] out.

Every distinct URL is kept once, within a limit on memory. Pages are known by the evidence of the crawl, site by site, as `dedust learn`
knows them.
*/

use std::cmp::Reverse;
use std::collections::BTreeMap;

use dedust::rules::{Evidence, Promise, SiteEntry, SiteRules, SiteSummary, Standing};
use dedust::{Normalizer, ParsedUrl, RuleSet, site_of};
use dedust_learn::{Clues, Corpus, Crawl, EvidenceKinds};
use foldhash::HashMap;
use xxhash_rust::xxh3::xxh3_128;

use crate::data::{CrawlFigures, Figures, ReportData, RuleCounts, SiteRow, TreeOf};
use crate::learning::LearningRows;
use crate::rows::{Row, SiteUrls};
use crate::site;
use crate::site_facts::{Limits, SiteFacts};
use crate::url_store::{NotKept, UrlStore};
use crate::url_table;

/// Sites that are shown in full, and sites that are listed.
const DETAILED_SITES: usize = 40;
const LISTED_SITES: usize = 5000;
/// Mirrors that are applied where rules are tried one by one.
const APPLIED_MIRRORS: usize = 256;
/// Titles that are kept, and characters of each.
const KEPT_TITLES: usize = 200_000;
const TITLE_CHARS: usize = 160;
/// Bytes of compiled rules that are put into a page.
const COMPILED_BYTES: usize = 512 << 10;

/// How a report is made.
#[derive(Clone, Copy, Debug)]
pub struct ReportSettings {
    /// Memory for URLs, in bytes.
    pub max_memory: usize,
    /// What makes two URLs duplicates.
    pub evidence: EvidenceKinds,
    /// Whether mirrors are applied: say so if the normalizer applies them.
    pub trusts_mirrors: bool,
    /// Rows of a crawl of which growing shares are learned from, for a learning curve; a crawl of more has none, and with 0 no crawl has one.
    pub learning_rows: usize,
    /// What makes the trees of sites; default nothing, and then they have none.
    pub tree: Option<TreeOf>,
}

impl Default for ReportSettings {
    fn default() -> Self {
        Self {
            max_memory: 2_000_000_000,
            evidence: EvidenceKinds::AUTO,
            trusts_mirrors: false,
            learning_rows: 100_000,
            tree: None,
        }
    }
}

/// Takes the observations of a crawl.
///
/// ```
/// use dedust::{Normalizer, RuleSet};
/// use dedust_learn::Clues;
/// use dedust_report::{ReportBuilder, ReportSettings};
///
/// let rules = RuleSet::load(&br#"{"version": 1, "sites": {"a.example": {"rules": [
///     {"change": [{"drop": "q.sid"}], "fetchable": true}
/// ]}}}"#[..])?;
/// let normalizer = Normalizer::compile(&rules);
/// let mut report = ReportBuilder::new(Some(&rules), &normalizer, ReportSettings::default());
/// for url in ["http://a.example/p?sid=1", "http://a.example/p?sid=2", "http://a.example/q"] {
///     report.observe(url.as_bytes(), &Clues::default())?;
/// }
/// let data = report.finish();
/// let figures = data.total.crawl.ok_or("no crawl")?;
/// assert_eq!((figures.urls, figures.keys), (3, 2));
/// assert_eq!(data.details[0].rules[0].saves, Some(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ReportBuilder<'r> {
    rules: Option<&'r RuleSet>,
    normalizer: &'r Normalizer,
    settings: ReportSettings,
    store: UrlStore<'r>,
    crawl: Crawl,
    titles: HashMap<u32, Box<str>>,
    learning: LearningRows,
}

impl ReportData {
    /// What rules say of themselves, without a crawl.
    pub fn of_rules(rules: &RuleSet, trusts_mirrors: bool) -> Self {
        let normalizer = Normalizer::compile(rules);
        let settings = ReportSettings { trusts_mirrors, ..ReportSettings::default() };
        ReportBuilder::new(Some(rules), &normalizer, settings).finish()
    }
}

impl<'r> ReportBuilder<'r> {
    /// For a crawl that `normalizer` is tried on. `rules` are those that it was made of; `None` if they are compiled, so that no
    /// more is known of them.
    pub fn new(rules: Option<&'r RuleSet>, normalizer: &'r Normalizer, settings: ReportSettings) -> Self {
        Self {
            rules,
            normalizer,
            settings,
            store: UrlStore::new(normalizer, settings.max_memory),
            crawl: Crawl::new(settings.evidence),
            titles: HashMap::default(),
            learning: LearningRows::new(settings.evidence, settings.learning_rows),
        }
    }

    /// Adds one URL with what is known of it.
    pub fn observe(&mut self, url: &[u8], clues: &Clues<'_>) -> Result<(), NotKept> {
        let number = self.store.push(url, clues)?;
        self.crawl.observe(url, clues)?;
        self.learning.observe(url, clues);
        let title = clues.title.and_then(|title| std::str::from_utf8(title).ok());
        if let Some(title) = title.filter(|_| self.titles.len() < KEPT_TITLES) {
            let title = || title.chars().take(TITLE_CHARS).collect::<String>().into();
            self.titles.entry(number).or_insert_with(title);
        }
        Ok(())
    }

    /// Whether a URL was refused for lack of memory.
    pub fn is_full(&self) -> bool {
        self.store.is_full()
    }

    /// All that the page shows.
    pub fn finish(self) -> ReportData {
        let Self { rules, normalizer, settings, store, crawl, titles, learning } = self;
        let corpora = crawl.into_corpora();
        let sites = sites_of(&store, normalizer, &corpora);
        let no_rules = RuleSet::new("");
        let known = rules.unwrap_or(&no_rules);
        let mut rows: Vec<SiteRow> = Vec::new();
        for (site, rules) in known.sites() {
            if !sites.contains_key(site) {
                rows.push(SiteRow {
                    site: site.into(),
                    mirror_of: mirror_of(rules),
                    figures: figures_of(rules, None),
                });
            }
        }
        for (site, urls) in &sites {
            let rules = known.site(site);
            let crawl = urls.figures();
            let figures = rules.map_or_else(
                || Figures { crawl: Some(crawl), ..Figures::default() },
                |rules| figures_of(rules, Some(crawl)),
            );
            rows.push(SiteRow { site: site.clone(), mirror_of: rules.and_then(mirror_of), figures });
        }
        rows.sort_by(|a, b| {
            (Reverse(badness(&a.figures)), &a.site).cmp(&(Reverse(badness(&b.figures)), &b.site))
        });
        let mut total = Figures::default();
        rows.iter().for_each(|row| total.add(&row.figures));
        let detailed: Vec<&SiteRow> =
            rows.iter().filter(|row| row.mirror_of.is_none()).take(DETAILED_SITES).collect();
        let mirrors: Vec<(&str, &SiteRules)> = known
            .sites()
            .filter(|(_, rules)| settings.trusts_mirrors && rules.mirror().is_some())
            .take(APPLIED_MIRRORS)
            .collect();
        let rule_count = detailed.iter().map(|row| row.figures.rules.all as usize).sum();
        let limits = Limits::of(detailed.len(), rule_count);
        let mut details: Vec<_> = detailed
            .iter()
            .map(|row| {
                let facts = SiteFacts {
                    site: &row.site,
                    rules: known.site(&row.site),
                    normalizer,
                    urls: sites.get(&row.site),
                    corpus: corpora.iter().find(|corpus| corpus.site() == &*row.site),
                    titles: &titles,
                    mirrors: &mirrors,
                    limits,
                    tree: settings.tree,
                };
                site::detail(&facts)
            })
            .collect();
        learning.add_to(&mut details);
        let shown: Vec<&SiteUrls<'_>> = detailed.iter().filter_map(|row| sites.get(&row.site)).collect();
        let more_sites = rows.len().saturating_sub(LISTED_SITES) as u64;
        let urls = if shown.is_empty() { None } else { url_table::write(&shown) };
        let bare = bare_rules(known, detailed.iter().map(|row| &*row.site), settings.trusts_mirrors);
        rows.truncate(LISTED_SITES);
        ReportData {
            version: env!("CARGO_PKG_VERSION"),
            method: known.method().into(),
            trusts_mirrors: settings.trusts_mirrors,
            total,
            sites: rows,
            more_sites,
            details,
            rules: if rules.is_some() { bare } else { String::new() },
            compiled: if rules.is_none() { compiled(normalizer) } else { None },
            urls,
        }
    }
}

/// The URLs of all sites with what the rules make of them.
fn sites_of<'s>(
    store: &'s UrlStore<'s>,
    normalizer: &Normalizer,
    corpora: &'s [Corpus],
) -> BTreeMap<Box<str>, SiteUrls<'s>> {
    // Pages are numbered from 0 on each site.
    let mut page_by_url: HashMap<u128, (u32, (u32, u32))> = HashMap::default();
    let mut first_page = 0;
    for (number, corpus) in (0..).zip(corpora) {
        for row in 0..corpus.len() as u32 {
            if let Some(page) = corpus.label(row) {
                page_by_url.insert(xxh3_128(corpus.url(row)), (first_page + page, (number, row)));
            }
        }
        first_page += corpus.page_count() as u32;
    }
    let mut sites: BTreeMap<Box<str>, SiteUrls<'s>> = BTreeMap::new();
    for number in 0..store.len() as u32 {
        // Only URLs are kept, so none is refused here.
        let Ok(explanation) = normalizer.explain(store.url(number)) else { continue };
        let site = explanation.site.unwrap_or_else(|| site_of_url(explanation.safe.as_bytes()));
        let urls = sites.entry(site).or_insert_with(|| SiteUrls {
            store,
            corpora,
            rows: Vec::new(),
            rules: Vec::new(),
        });
        let page = page_by_url.get(&xxh3_128(explanation.safe.as_bytes())).copied();
        let start = urls.rules.len() as u32;
        urls.rules.extend(explanation.rules.iter().map(|&rule| rule as u32));
        urls.rows.push(Row {
            number,
            key: xxh3_128(explanation.key.as_bytes()),
            safe: store.safe_hash(number),
            size: store.size(number),
            page: page.map(|(page, _)| page),
            seen: page.map(|(_, seen)| seen),
            rules: (start, urls.rules.len() as u32 - start),
        });
    }
    sites
}

fn site_of_url(url: &[u8]) -> Box<str> {
    let parsed = ParsedUrl::parse(url);
    parsed.map_or_else(|_| "".into(), |url| String::from_utf8_lossy(site_of(url.host())).into())
}

fn mirror_of(rules: &SiteRules) -> Option<Box<str>> {
    rules.mirror().map(|mirror| mirror.of.clone())
}

fn figures_of(rules: &SiteRules, crawl: Option<CrawlFigures>) -> Figures {
    let SiteSummary { urls, labelled, pages, promise, .. } = *rules.summary();
    let canonical = rules.canonical_counts();
    let count =
        |is_so: fn(SiteEntry<'_>) -> bool| rules.entries().filter(|entry| is_so(*entry)).count() as u64;
    let unproven = rules.refused().iter().filter(|refused| refused.missing.is_some()).count() as u64;
    Figures {
        learned_urls: urls,
        learned_labelled: labelled,
        learned_pages: pages,
        promise,
        canonical,
        rules: RuleCounts {
            all: rules.len() as u64,
            applied: count(|entry| entry.is_applied()),
            off: count(|entry| entry.off().is_some()),
            refuted: count(|entry| entry.off().is_none() && !entry.is_applied()),
            unproven,
            refused: rules.refused().len() as u64 - unproven,
        },
        crawl,
    }
}

/// Most duplicates left, then most pages at risk, then most URLs.
fn badness(figures: &Figures) -> (u64, u64, u64) {
    let crawl = figures.crawl.unwrap_or_default();
    (crawl.left(), figures.promise.map_or(0, |promise| promise.lost), crawl.urls.max(figures.learned_urls))
}

impl Figures {
    fn add(&mut self, other: &Self) {
        self.learned_urls += other.learned_urls;
        self.learned_labelled += other.learned_labelled;
        self.learned_pages += other.learned_pages;
        if let Some(promise) = other.promise {
            let sum = self.promise.get_or_insert(Promise { lost: 0, pages: 0 });
            sum.lost += promise.lost;
            sum.pages += promise.pages;
        }
        if let Some(canonical) = other.canonical {
            *self.canonical.get_or_insert_default() += canonical;
        }
        let (rules, more) = (&mut self.rules, other.rules);
        rules.all += more.all;
        rules.applied += more.applied;
        rules.off += more.off;
        rules.refuted += more.refuted;
        rules.unproven += more.unproven;
        rules.refused += more.refused;
        if let Some(crawl) = &other.crawl {
            self.crawl.get_or_insert_default().add(crawl);
        }
    }
}

/// The rules of some sites as a rule file, without evidence; with mirrors if they are applied.
fn bare_rules<'s>(rules: &'s RuleSet, sites: impl Iterator<Item = &'s str>, with_mirrors: bool) -> String {
    let mut bare = RuleSet::new(rules.method());
    let mirrors =
        rules.sites().filter(|(_, rules)| with_mirrors && rules.mirror().is_some()).map(|(site, _)| site);
    for site in sites.chain(mirrors.take(LISTED_SITES)) {
        let Some(known) = rules.site(site) else { continue };
        let known = known.clone().with_summary(SiteSummary::default()).with_refused(Vec::new());
        let stripped = known.with_standings(|_, Standing { evidence, off, pinned, .. }| {
            let is_refuted = evidence.is_refuted();
            let verdict = evidence.verdict.take().filter(|_| is_refuted);
            *evidence = Evidence { verdict, ..Evidence::default() };
            *off = off.take().map(|_| Box::default());
            *pinned = pinned.take().map(|_| Box::default());
        });
        if let Ok(stripped) = stripped {
            // What was valid with evidence is valid without it.
            let _ = bare.insert(site, stripped);
        }
    }
    let mut json = Vec::new();
    // Writing to memory does not fail.
    let _ = bare.save(&mut json);
    String::from_utf8(json).unwrap_or_default()
}

fn compiled(normalizer: &Normalizer) -> Option<String> {
    use base64::Engine as _;
    let mut bytes = Vec::new();
    normalizer.save(&mut bytes).ok()?;
    (bytes.len() <= COMPILED_BYTES).then(|| base64::engine::general_purpose::STANDARD.encode(bytes))
}
