/*!
Can what is written as a canonical URL be fetched? Learns from many simulated sites and asks their servers.

`cargo run --release -p dedust-simulate --example canonical_sites [-- SITES [FIRST]]`. Of the 1,000 sites, or `SITES`, half have one habit
and half a mix of them. `FIRST` is the number of the first site, for looking at one again; with one site alone its sections, its rules
and each canonical URL that is wrong are printed. A site is a server, which answers a URL with a page, a redirect or 404. Of the URLs
that links lead to, 20 to 100 % are fetched and learned from; of all of them that lead to a page the canonical URL is fetched afterwards.

Exits with 1 when more than 0.2 % of the canonical URLs, or of those that differ from their URL, are dead, redirect or show another page. A
URL that redirects itself and stays as it is does not count. Nothing would be wrong where nothing is written, so the table says too what
canonical URLs save: the share of the URLs that a crawler who fetches canonical URLs need not fetch, beside what keys save.
*/

#![expect(clippy::print_stdout, reason = "a check reports on standard output")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::AddAssign;
use std::process::ExitCode;

use dedust::{Normalizer, RuleSet, Scratch};
use dedust_learn::support::SampleSize;
use dedust_learn::{Clues, CrawlStore, EvidenceKinds, Trainer};
use rayon::prelude::*;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// The share of canonical URLs that may be wrong.
const MAX_WRONG: f64 = 0.002;
/// Sites that are shown, worst first.
const SHOWN: usize = 20;
/// Redirects that are followed.
const MAX_HOPS: usize = 5;
/// Pages of a site.
const MIN_PAGES: u64 = 60;
const MAX_PAGES: u64 = 400;
/// Per cent of the URLs that are fetched.
const MIN_FETCHED: u64 = 20;

const SECTIONS: [&str; 8] = ["news", "blog", "shop", "help", "wiki", "reise", "sport", "tech"];
const WORDS: [&str; 12] =
    ["red", "tall", "quick", "north", "glass", "river", "stone", "light", "paper", "field", "storm", "apple"];
const INDEX_FILES: [&str; 3] = ["index.html", "index.php", "default.aspx"];
const TRACKING: [&str; 6] = ["utm_source", "fbclid", "ref", "sid", "from", "share"];

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse::<u64>().ok());
    let sites = numbers.next().unwrap_or(1_000);
    let first = numbers.next().unwrap_or(0);
    let results: Vec<Result> =
        (first..first + sites).into_par_iter().map(|number| examine(number, sites == 1)).collect();
    results.iter().for_each(|result| print!("{}", result.told));
    report_kinds(&results);
    report_sites(&results);
    let all = sum(results.iter());
    if all.share_of_written() > MAX_WRONG || all.share_of_all() > MAX_WRONG {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

/// What a server does with a form of a URL that is not the one that it would have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Other {
    Redirects,
    Shows,
    Missing,
}

/// What a server answers.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Answer {
    Page(u64),
    Redirect(String),
    Missing,
}

/// What URLs of a site may differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Habit {
    /// Two schemes.
    Scheme,
    /// A host with and without `www`.
    Www,
    /// A slash at the end in all sections, or in none.
    Slash,
    /// In each section it is otherwise.
    MixedSlash,
    /// Index files in all sections.
    Index,
    /// In each section it is otherwise, and some have only slashes.
    MixedIndex,
    /// Names that only the site knows.
    Pretty,
    /// Parameters that are ignored.
    Tracking,
    /// Pages that are named by a parameter.
    Query,
}

const HABITS: [Habit; 9] = [
    Habit::Scheme,
    Habit::Www,
    Habit::Slash,
    Habit::MixedSlash,
    Habit::Index,
    Habit::MixedIndex,
    Habit::Pretty,
    Habit::Tracking,
    Habit::Query,
];

/// How the URLs of a section end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// `/section/name-N`, written with a slash at the end or without.
    Slash { is_written: bool },
    /// `/section/name-N/` and the name of a file behind that, which is written or not.
    Index { file: &'static str, is_written: bool },
    /// `/section/view.php?id=N`, and nothing else.
    Query,
}

#[derive(Clone, Debug)]
struct Section {
    name: &'static str,
    style: Style,
    other: Other,
}

/// A site and its server.
struct Site {
    number: u64,
    habits: Vec<Habit>,
    domain: String,
    /// The first is the one that the server would have.
    schemes: [&'static str; 2],
    other_scheme: Other,
    hosts: [&'static str; 2],
    other_host: Other,
    sections: Vec<Section>,
    /// What `/index.php?id=N` does.
    by_number: Other,
    has_tracking: bool,
    /// Whether one redirect leads to the page.
    redirects_at_once: bool,
    /// Whether a redirect keeps parameters that are ignored.
    keeps_params: bool,
    /// Whether pages have canonical links.
    has_links: bool,
    /// Whether a page has the same bytes each time.
    has_digests: bool,
    pages: u64,
    fetched_percent: u64,
}

impl Site {
    fn new(number: u64) -> Self {
        let mut chance = number;
        let mut random = |below: u64| {
            chance = xxh3_64(&chance.to_le_bytes());
            chance % below
        };
        let habits: Vec<Habit> = if number.is_multiple_of(2) {
            vec![HABITS[(number / 2) as usize % HABITS.len()]]
        } else {
            HABITS.into_iter().filter(|_| random(2) == 0).collect()
        };
        let has = |habit: Habit| habits.contains(&habit);
        let pick =
            |chance: u64| [Other::Redirects, Other::Redirects, Other::Shows, Other::Missing][chance as usize];
        let turned = |[one, other]: [&'static str; 2], is_turned: bool| {
            if is_turned { [other, one] } else { [one, other] }
        };
        let schemes = turned(["https", "http"], random(2) == 0);
        let hosts = turned(["", "www."], random(2) == 0);
        let mut other_of = |habit: Habit| if has(habit) { pick(random(3)) } else { Other::Missing };
        let (other_scheme, other_host) = (other_of(Habit::Scheme), other_of(Habit::Www));
        let by_number = if has(Habit::Pretty) { pick(random(3)) } else { Other::Missing };
        let is_mixed = has(Habit::MixedSlash) || has(Habit::MixedIndex);
        let mut style = || {
            let wanted = |habits: [Habit; 2]| habits.into_iter().any(has);
            let kinds: Vec<u64> = [
                (0, wanted([Habit::Slash, Habit::MixedSlash]) || has(Habit::MixedIndex)),
                (1, wanted([Habit::Index, Habit::MixedIndex])),
                (2, has(Habit::Query)),
            ]
            .into_iter()
            .filter_map(|(kind, is_wanted)| is_wanted.then_some(kind))
            .collect();
            let is_written = random(2) == 0;
            let kind = if kinds.is_empty() { 3 } else { kinds[random(kinds.len() as u64) as usize] };
            let style = match kind {
                1 => Style::Index { file: INDEX_FILES[random(3) as usize], is_written: random(3) == 0 },
                2 => Style::Query,
                _ => Style::Slash { is_written },
            };
            // A site without the habit has no other forms.
            let other = if kind == 3 { Other::Missing } else { pick(random(4)) };
            (style, other)
        };
        let first = style();
        let count = 2 + number as usize % 4;
        let styles: Vec<(Style, Other)> =
            (0..count).map(|_| if is_mixed || has(Habit::Query) { style() } else { first }).collect();
        let start = random(SECTIONS.len() as u64) as usize;
        let names = (start..).map(|name| SECTIONS[name % SECTIONS.len()]);
        let sections =
            names.zip(styles).map(|(name, (style, other))| Section { name, style, other }).collect();
        Self {
            number,
            domain: format!("site-{number}.example"),
            schemes,
            other_scheme,
            hosts,
            other_host,
            sections,
            by_number,
            has_tracking: has(Habit::Tracking),
            redirects_at_once: random(2) == 0,
            keeps_params: random(2) == 0,
            has_links: random(2) == 0,
            has_digests: random(4) > 0,
            pages: MIN_PAGES + random(MAX_PAGES - MIN_PAGES + 1),
            fetched_percent: MIN_FETCHED + random(101 - MIN_FETCHED),
            habits,
        }
    }

    fn hash(&self, page: u64, of: u64) -> u64 {
        xxh3_64_with_seed(&[page.to_le_bytes(), of.to_le_bytes()].concat(), self.number)
    }

    fn section(&self, page: u64) -> &Section {
        &self.sections[self.hash(page, 0) as usize % self.sections.len()]
    }

    fn name(&self, page: u64) -> String {
        let word = |of| WORDS[self.hash(page, of) as usize % WORDS.len()];
        format!("{}-{}-{page}", word(1), word(2))
    }

    /// The path that the server would have, and others that it knows.
    fn paths(&self, page: u64) -> (String, Vec<String>) {
        let Section { name, style, other } = self.section(page);
        let base = format!("/{name}/{}", self.name(page));
        let (written, mut others) = match style {
            Style::Slash { is_written: false } => (base.clone(), vec![format!("{base}/")]),
            Style::Slash { is_written: true } => (format!("{base}/"), vec![base]),
            Style::Index { file, is_written: true } => (format!("{base}/{file}"), vec![format!("{base}/")]),
            Style::Index { file, is_written: false } => (format!("{base}/"), vec![format!("{base}/{file}")]),
            Style::Query => (format!("/{name}/view.php?id={page}"), Vec::new()),
        };
        if *other == Other::Missing {
            others.clear();
        }
        if self.by_number != Other::Missing {
            others.push(format!("/index.php?id={page}"));
        }
        (written, others)
    }

    fn canonical(&self, page: u64) -> String {
        format!("{}://{}{}{}", self.schemes[0], self.hosts[0], self.domain, self.paths(page).0)
    }

    /// What the server answers.
    fn answer(&self, url: &str) -> Answer {
        let Some((scheme, rest)) = url.split_once("://") else { return Answer::Missing };
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let is_other_scheme = scheme == self.schemes[1];
        let Some(www) = host.strip_suffix(&*self.domain) else { return Answer::Missing };
        let is_other_host = www == self.hosts[1];
        let is_known = [scheme, www]
            == [self.schemes[usize::from(is_other_scheme)], self.hosts[usize::from(is_other_host)]];
        let others = [(is_other_scheme, self.other_scheme), (is_other_host, self.other_host)];
        let does = |what: Other| others.contains(&(true, what));
        if !is_known || does(Other::Missing) {
            return Answer::Missing;
        }
        let Some((page, of_path, ignored)) = self.find(path) else { return Answer::Missing };
        let moves = does(Other::Redirects);
        let is_moved = of_path == Some(Other::Redirects);
        if !moves && !is_moved {
            return Answer::Page(page);
        }
        let scheme =
            if is_other_scheme && self.other_scheme == Other::Redirects { self.schemes[0] } else { scheme };
        let www = if is_other_host && self.other_host == Other::Redirects { self.hosts[0] } else { www };
        let written = self.paths(page).0;
        let path = match () {
            () if moves && !(is_moved && self.redirects_at_once) => path.to_owned(),
            () if self.keeps_params => with_params(&written, &ignored),
            () => written,
        };
        Answer::Redirect(format!("{scheme}://{www}{}{path}", self.domain))
    }

    /// The page of a path, what the server does with it if it would have another, and parameters that are ignored.
    fn find<'u>(&self, path: &'u str) -> Option<(u64, Option<Other>, Vec<&'u str>)> {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let params = || query.split('&').filter(|param| !param.is_empty());
        let id = params().find_map(|param| param.strip_prefix("id="));
        let number = match id.filter(|_| path.ends_with(".php") && !path.contains("-")) {
            Some(id) => id.parse().ok()?,
            None => path.split('/').nth(2)?.rsplit('-').next()?.parse().ok()?,
        };
        if number >= self.pages {
            return None;
        }
        let is_same = |form: &str| match form.split_once('?') {
            Some((of_path, of_query)) => of_path == path && params().any(|param| param == of_query),
            None => form == path,
        };
        let (written, others) = self.paths(number);
        let own = if written.contains('?') || path == "/index.php" { id } else { None };
        let ignored = params().filter(|param| own.is_none_or(|id| *param != format!("id={id}"))).collect();
        let by_number = (path == "/index.php").then_some(self.by_number);
        match () {
            () if is_same(&written) => Some((number, None, ignored)),
            () if others.iter().any(|other| is_same(other)) => {
                Some((number, by_number.or(Some(self.section(number).other)), ignored))
            }
            () => None,
        }
    }

    /// The page that a URL leads to.
    fn page(&self, url: &str) -> Option<u64> {
        let mut url = url.to_owned();
        for _ in 0..MAX_HOPS {
            match self.answer(&url) {
                Answer::Page(page) => return Some(page),
                Answer::Redirect(target) => url = target,
                Answer::Missing => return None,
            }
        }
        None
    }

    /// The URLs that links lead to; a few lead nowhere.
    fn links(&self) -> BTreeSet<String> {
        let mut links = BTreeSet::new();
        for page in 0..self.pages {
            let (written, others) = self.paths(page);
            let chance = |of: u64, below: u64| self.hash(page, of) % below;
            if chance(10, 100) < 85 {
                links.insert(self.canonical(page));
            }
            let others: Vec<&String> = others.iter().chain([&written]).collect();
            for link in 0..chance(11, 5) {
                let of = |what: u64, below: u64| chance(100 + 10 * link + what, below);
                let mut path = others[of(0, others.len() as u64) as usize].clone();
                if of(1, 100) < 2 {
                    path = path.trim_end_matches('/').replace("-", "_");
                }
                if self.has_tracking && of(2, 2) == 0 {
                    let name = TRACKING[(self.number + of(3, 3)) as usize % TRACKING.len()];
                    path = with_params(&path, &[&*format!("{name}={:x}", of(4, 1 << 20))]);
                }
                let side = |what: u64, other: Other| usize::from(other != Other::Missing && of(what, 2) == 0);
                let (scheme, host) =
                    (self.schemes[side(5, self.other_scheme)], self.hosts[side(6, self.other_host)]);
                links.insert(format!("{scheme}://{host}{}{path}", self.domain));
            }
        }
        links
    }

    /// Learns from the URLs that are fetched.
    fn learn(&self, links: &BTreeSet<String>) -> RuleSet {
        let all = SampleSize::new(1.0, u64::MAX).expect("a share");
        let mut crawl = CrawlStore::new(EvidenceKinds::AUTO, all);
        let fetched =
            |url: &&String| xxh3_64_with_seed(url.as_bytes(), self.number) % 100 < self.fetched_percent;
        for url in links.iter().filter(fetched) {
            let (answer, mut digest, mut text, mut title, mut link) =
                (self.answer(url), String::new(), String::new(), String::new(), String::new());
            let clues = match &answer {
                Answer::Page(page) => {
                    let bytes = if self.has_digests { *page } else { xxh3_64(url.as_bytes()) };
                    write!(digest, "{bytes:032x}").expect("text takes all");
                    write!(text, "{:016x}", self.hash(*page, 3)).expect("text takes all");
                    write!(title, "{} of {}", self.name(*page), self.domain).expect("text takes all");
                    link.push_str(&self.canonical(*page));
                    Clues {
                        digest: Some(digest.as_bytes()),
                        text_digest: Some(text.as_bytes()),
                        title: Some(title.as_bytes()),
                        canonical: self.has_links.then_some(link.as_bytes()),
                        status: Some(200),
                        ..Clues::default()
                    }
                }
                Answer::Redirect(target) => {
                    Clues { redirect: Some(target.as_bytes()), status: Some(301), ..Clues::default() }
                }
                Answer::Missing => Clues { status: Some(404), ..Clues::default() },
            };
            crawl.observe(url.as_bytes(), &clues, None).expect("simulated URLs are valid");
        }
        let crawl = crawl.finish().expect("a crawl in memory");
        let trainer = Trainer::builder().build().expect("defaults are valid");
        trainer.train_stored(&crawl, &()).expect("rules can be learned").rules
    }
}

fn with_params(path: &str, params: &[&str]) -> String {
    let mut path = path.to_owned();
    for param in params {
        let separator = if path.contains('?') { '&' } else { '?' };
        path.push(separator);
        path.push_str(param);
    }
    path
}

/// What came of the URLs of some sites.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    sites: u64,
    urls: u64,
    pages: u64,
    keys: u64,
    canonical_urls: u64,
    /// Canonical URLs that differ from their URL, and show its page.
    alive: u64,
    redirects: u64,
    /// Those of them whose URL redirects too.
    redirect_on: u64,
    dead: u64,
    other_page: u64,
}

impl Counts {
    fn wrong(&self) -> u64 {
        self.redirects + self.dead + self.other_page
    }

    fn share_of_written(&self) -> f64 {
        self.wrong() as f64 / (self.alive + self.wrong()).max(1) as f64
    }

    fn share_of_all(&self) -> f64 {
        self.wrong() as f64 / self.urls.max(1) as f64
    }

    /// The share of the URLs that need not be fetched where one of each is.
    fn saved(&self, fetched: u64) -> f64 {
        1.0 - fetched as f64 / self.urls.max(1) as f64
    }
}

impl AddAssign<&Self> for Counts {
    fn add_assign(&mut self, other: &Self) {
        self.sites += other.sites;
        self.urls += other.urls;
        self.pages += other.pages;
        self.keys += other.keys;
        self.canonical_urls += other.canonical_urls;
        self.alive += other.alive;
        self.redirects += other.redirects;
        self.redirect_on += other.redirect_on;
        self.dead += other.dead;
        self.other_page += other.other_page;
    }
}

struct Result {
    number: u64,
    habits: Vec<Habit>,
    counts: Counts,
    told: String,
}

fn sum<'r>(results: impl Iterator<Item = &'r Result>) -> Counts {
    let mut sum = Counts::default();
    results.for_each(|result| sum += &result.counts);
    sum
}

fn examine(number: u64, tells: bool) -> Result {
    let site = Site::new(number);
    let links = site.links();
    let rules = site.learn(&links);
    let normalizer = Normalizer::compile(&rules);
    let mut counts = Counts { sites: 1, ..Counts::default() };
    let (mut keys, mut canonical_urls, mut pages) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut told = if tells { tell(&site, &rules) } else { String::new() };
    let mut scratch = Scratch::default();
    for url in &links {
        let Some(page) = site.page(url) else { continue };
        let both = normalizer.both_with(url.as_bytes(), &mut scratch).expect("simulated URLs are valid");
        let canonical = String::from_utf8_lossy(both.canonical).into_owned();
        keys.insert(both.key.to_vec());
        pages.insert(page);
        counts.urls += 1;
        if canonical != *url {
            let answer = site.answer(&canonical);
            match &answer {
                Answer::Page(other) if *other == page => counts.alive += 1,
                Answer::Page(_) => counts.other_page += 1,
                Answer::Redirect(_) => {
                    counts.redirects += 1;
                    counts.redirect_on += u64::from(matches!(site.answer(url), Answer::Redirect(_)));
                }
                Answer::Missing => counts.dead += 1,
            }
            if tells && answer != Answer::Page(page) {
                writeln!(told, "{url} ({:?}) -> {canonical}: {answer:?}", site.answer(url))
                    .expect("text takes all");
            }
        }
        canonical_urls.insert(canonical);
    }
    (counts.keys, counts.canonical_urls, counts.pages) =
        (keys.len() as u64, canonical_urls.len() as u64, pages.len() as u64);
    Result { number, habits: site.habits, counts, told }
}

/// The sections of a site, and its rules with whether they write canonical URLs.
fn tell(site: &Site, rules: &RuleSet) -> String {
    let mut told = String::new();
    for section in &site.sections {
        writeln!(told, "{section:?}").expect("text takes all");
    }
    for (_, site) in rules.sites() {
        for rule in site.rules() {
            let does = if rule.fetchable { "writes" } else { "joins " };
            writeln!(told, "{does} {rule}").expect("text takes all");
        }
        writeln!(told, "{} canonical URLs were observed", site.canonical_urls().len())
            .expect("text takes all");
    }
    told
}

/// A table: how it went on the sites of each kind.
fn report_kinds(results: &[Result]) {
    println!(
        "{:12} {:>6} {:>8} {:>8} {:>16} {:>6} {:>6} {:>9} {:>9}   saved %: possible, by keys, by canonical URLs",
        "habit", "sites", "URLs", "alive", "redirect (as URL)", "dead", "other", "written %", "all %"
    );
    let line = |name: &str, counts: Counts| {
        if counts.sites == 0 {
            return;
        }
        println!(
            "{name:12} {:>6} {:>8} {:>8} {:>17} {:>6} {:>6} {:>9.3} {:>9.3}   {:.1} {:.1} {:.1}",
            counts.sites,
            counts.urls,
            counts.alive,
            format!("{} ({})", counts.redirects, counts.redirect_on),
            counts.dead,
            counts.other_page,
            100.0 * counts.share_of_written(),
            100.0 * counts.share_of_all(),
            100.0 * counts.saved(counts.pages),
            100.0 * counts.saved(counts.keys),
            100.0 * counts.saved(counts.canonical_urls),
        );
    };
    for habit in HABITS {
        let alone =
            results.iter().filter(|result| result.number.is_multiple_of(2) && result.habits == [habit]);
        line(&format!("{habit:?}"), sum(alone));
    }
    line("mixed", sum(results.iter().filter(|result| !result.number.is_multiple_of(2))));
    line("all", sum(results.iter()));
}

/// The sites with most that is wrong.
fn report_sites(results: &[Result]) {
    let mut wrong: Vec<&Result> = results.iter().filter(|result| result.counts.wrong() > 0).collect();
    wrong.sort_by_key(|result| std::cmp::Reverse(result.counts.wrong()));
    println!("\nSites with canonical URLs that are wrong: {} of {}", wrong.len(), results.len());
    for Result { number, habits, counts, .. } in wrong.into_iter().take(SHOWN) {
        println!(
            "  site {number} {habits:?}: {} redirect ({} as their URLs do), {} dead, {} of another page; {} alive, {} URLs",
            counts.redirects, counts.redirect_on, counts.dead, counts.other_page, counts.alive, counts.urls
        );
    }
}
