/*!
Can somebody who only places links, hosts or pages make others' pages vanish? Learns from many simulated sites that are attacked, and
counts.

`cargo run --release -p dedust-simulate --example hostile_sites [-- SITES [FIRST]]`. Of the 1,000 sites, or `SITES`, each has articles, a
parameter `skin` that none of them heeds, and one attack by 1, 5 or 10 % of its URLs, on victims of which some were seen or none. What
comes out is the table of attacks: pages of victims that were lost, and sites on which `skin` is left out of unseen articles, as it should
be. Exits with 1 when a page of a victim is lost, or the right rule is missing on more than a tenth of the sites.

A page of a victim is lost when two of its 500 URLs have one key, or one has the key of another page.
*/

#![expect(clippy::print_stdout, reason = "a check reports on standard output")]

use std::collections::HashSet;
use std::process::ExitCode;

use dedust::Normalizer;
use dedust_learn::support::SampleSize;
use dedust_learn::{Clues, CrawlStore, EvidenceKinds, Trainer};
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

const ATTACKS: [Attack; 6] =
    [Attack::Links, Attack::HomeLinks, Attack::Hosts, Attack::Claims, Attack::CutOff, Attack::Generated];
/// The right rule may be missing on one site in so many.
const MISSING_ONE_IN: usize = 10;
/// URLs of victims that are normalized.
const VICTIMS: u64 = 500;

/// What the attacker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Attack {
    /// Links to articles with a parameter by which the victims are named.
    Links,
    /// The same, where the victims are shown by the home page.
    HomeLinks,
    /// Hosts of one domain that do not heed the parameter by which another names its pages.
    Hosts,
    /// Pages that name victims as canonical, and show something else.
    Claims,
    /// Pages without text that name victims as canonical.
    CutOff,
    /// Pages with a few words in another order each.
    Generated,
}

/// A URL and what was seen there.
struct Row {
    url: String,
    text: Option<String>,
    simhash: u64,
    canonical: Option<String>,
}

impl Row {
    fn new(url: String, text: String) -> Self {
        let simhash = xxh3_64(text.as_bytes());
        Self { url, text: Some(text), simhash, canonical: None }
    }
}

/// An attacked site.
struct Site {
    number: u64,
    attack: Attack,
    /// URLs of the site, and per cent of them that are the attacker's.
    urls: u64,
    percent: u64,
    /// Victims that were seen.
    seen: u64,
    /// What paths of articles and of victims end with.
    ending: &'static str,
    /// The parameter that names victims.
    name: &'static str,
}

impl Site {
    fn new(number: u64) -> Self {
        let mut state = number;
        let mut draw = |below: u64| {
            state = xxh3_64(&state.to_le_bytes());
            state % below
        };
        Self {
            number,
            attack: ATTACKS[(number % ATTACKS.len() as u64) as usize],
            urls: 1_000 + draw(2_000),
            percent: [1, 5, 10][draw(3) as usize],
            seen: [0, 12, 60][draw(3) as usize],
            ending: ["", "/"][draw(2) as usize],
            name: ["id", "p", "item", "page_id", "article"][draw(5) as usize],
        }
    }

    fn host(&self) -> String {
        format!("www.hostile-{}.example", self.number)
    }

    /// The URL of an article.
    fn article(&self, number: u64) -> String {
        format!("http://{}/news/title-{number}{}", self.host(), self.ending)
    }

    /// The URL of a victim.
    fn victim(&self, number: u64) -> String {
        let Self { name, ending, .. } = self;
        match self.attack {
            Attack::HomeLinks => format!("http://{}/?{name}={number}", self.host()),
            Attack::Hosts => {
                format!("http://victim.hostile-{}.example/show{ending}?{name}={number}", self.number)
            }
            Attack::Generated => {
                format!("http://{}/reports/{}_{}.html", self.host(), number % 12, number / 12)
            }
            _ => format!("http://{}/show{ending}?{name}={number}", self.host()),
        }
    }

    fn rows(&self) -> Vec<Row> {
        let hostile = self.urls * self.percent / 100;
        let articles = self.urls / 4;
        let mut rows = Vec::new();
        for number in 0..articles {
            let shown = format!("article {number} of {}", self.number);
            rows.push(Row::new(self.article(number), shown.clone()));
            // Random values, so that only what remains can tell the page.
            let skins = (0..3).map(|skin| xxh3_64(&[number as u8, skin, (number >> 8) as u8]) % 997);
            rows.extend(
                skins.map(|skin| Row::new(format!("{}?skin={skin}", self.article(number)), shown.clone())),
            );
        }
        rows.extend((0..self.seen).map(|number| {
            let url = self.victim(number);
            let row = Row::new(url.clone(), format!("victim {number}"));
            let simhash = if self.attack == Attack::Generated { near(number) } else { row.simhash };
            Row { canonical: (self.attack != Attack::Generated).then_some(url), simhash, ..row }
        }));
        rows.extend((0..hostile).map(|number| self.attack_row(number, articles)));
        rows
    }

    fn attack_row(&self, number: u64, articles: u64) -> Row {
        let target = number % (articles / 10).max(1);
        let random = xxh3_64(&number.to_le_bytes()) % 1_000_000;
        let shown = format!("article {target} of {}", self.number);
        match self.attack {
            Attack::Links | Attack::HomeLinks => {
                Row::new(format!("{}?{}={random}", self.article(target), self.name), shown)
            }
            Attack::Hosts => {
                let host =
                    format!("{}.hostile-{}.example", ["a", "b", "c"][(number % 3) as usize], self.number);
                let page = number / 12;
                let url = format!("http://{host}/show{}?{}={random}", self.ending, self.name);
                Row::new(url.replace("/show", &format!("/show-{page}")), format!("{host} {page}"))
            }
            Attack::Claims => {
                let row = Row::new(format!("http://{}/u/{number}", self.host()), format!("other {number}"));
                Row { canonical: Some(self.victim(number)), ..row }
            }
            Attack::CutOff => Row {
                text: None,
                simhash: 0,
                canonical: Some(self.victim(number)),
                url: format!("http://{}/u/{number}", self.host()),
            },
            Attack::Generated => {
                let row = Row::new(self.victim(1_000 + number), format!("victim {}", 1_000 + number));
                Row { simhash: near(number), ..row }
            }
        }
    }
}

/// A fingerprint that hardly differs from others.
fn near(number: u64) -> u64 {
    0x5a5a_5a5a_5a5a_5a5a ^ 1 << (number % 7) ^ 1 << (20 + number % 5) ^ 1 << (40 + number % 3)
}

/// What became of a site.
struct Outcome {
    site: Site,
    lost: usize,
    is_right_rule_kept: bool,
}

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse::<u64>().ok());
    let sites = numbers.next().unwrap_or(1_000);
    let first = numbers.next().unwrap_or(0);
    let outcomes: Vec<Outcome> =
        (first..first + sites).into_par_iter().map(|number| examine(Site::new(number))).collect();
    println!(
        "{:12} {:>6} {:>12} {:>12} {:>16}",
        "attack", "sites", "sites hurt", "pages lost", "right rule kept"
    );
    for attack in ATTACKS {
        let of_attack = || outcomes.iter().filter(|outcome| outcome.site.attack == attack);
        println!(
            "{:12} {:>6} {:>12} {:>12} {:>16}",
            format!("{attack:?}"),
            of_attack().count(),
            of_attack().filter(|outcome| outcome.lost > 0).count(),
            of_attack().map(|outcome| outcome.lost).sum::<usize>(),
            of_attack().filter(|outcome| outcome.is_right_rule_kept).count(),
        );
    }
    for Outcome { site, lost, .. } in outcomes.iter().filter(|outcome| outcome.lost > 0).take(10) {
        let Site { number, attack, percent, seen, .. } = site;
        println!(
            "site {number}: {attack:?} by {percent} %, {seen} victims seen: {lost} lost, as {}",
            site.victim(777)
        );
    }
    let missing = outcomes.iter().filter(|outcome| !outcome.is_right_rule_kept).count();
    let is_hurt = outcomes.iter().any(|outcome| outcome.lost > 0);
    if is_hurt || MISSING_ONE_IN * missing > outcomes.len() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn examine(site: Site) -> Outcome {
    let normalizer = learned(&site.rows());
    let key = |url: &str| normalizer.key(url).expect("simulated URLs are valid").to_string();
    let others: HashSet<String> = (0..site.urls / 4).map(|number| key(&site.article(number))).collect();
    let mut keys: HashSet<String> = HashSet::new();
    let mut is_lost = |url: &String| {
        let key = key(url);
        others.contains(&key) || !keys.insert(key)
    };
    let lost = (0..VICTIMS).map(|number| site.victim(number)).filter(|url| is_lost(url)).count();
    let unseen = site.article(1_000_000);
    let is_right_rule_kept = key(&format!("{unseen}?skin=5")) == key(&unseen);
    Outcome { lost, is_right_rule_kept, site }
}

fn learned(rows: &[Row]) -> Normalizer {
    let all = SampleSize::new(1.0, u64::MAX).expect("a share");
    let mut crawl = CrawlStore::new(EvidenceKinds::AUTO, all).with_mirrors();
    for Row { url, text, simhash, canonical } in rows {
        let clues = Clues {
            status: Some(200),
            text_digest: text.as_deref().map(str::as_bytes),
            title: text.is_some().then_some(b"Title".as_slice()),
            simhash: Some(*simhash).filter(|simhash| *simhash != 0),
            canonical: canonical.as_deref().map(str::as_bytes),
            ..Clues::default()
        };
        crawl.observe(url.as_bytes(), &clues, None).expect("simulated URLs are valid");
    }
    let crawl = crawl.finish().expect("a crawl in memory");
    let trainer = Trainer::builder().build().expect("defaults are valid");
    Normalizer::compile(&trainer.train_stored(&crawl, &()).expect("rules can be learned").rules)
}
