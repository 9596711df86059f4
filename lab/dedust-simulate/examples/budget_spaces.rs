//! Sites with one endless or worthless space each, or one that looks like it and is worth every fetch: after how many of its URLs is it
//! recognised, do look-alikes get a budget, and do bounds hold?
//!
//!     cargo run --release -p dedust-simulate --example budget_spaces -- 1000

#![expect(clippy::print_stdout, reason = "an example that prints a table")]

use std::collections::HashSet;

use dedust_budget::{BudgetBook, Budgets, Crawl, Decision, LookupScratch, PageText, learn};
use dedust_simulate::{Space, SpaceSite};
use rayon::prelude::*;

/// URLs of the space after which it is looked whether it is recognised.
const LOOKS: [u64; 4] = [100, 200, 300, 500];

/// URLs of the space that are met after that, to see what was lost.
const LATER: u64 = 1_000;

/// What came of a site.
struct Outcome {
    space: Space,
    /// The first look at which less than a third of the space would still be fetched.
    recognised: Option<u64>,
    /// The share of the space that is fetched after the last look.
    fetched: f64,
    /// Bounds of patterns, and how many of these hold for what comes later.
    bounds: u32,
    held: u32,
}

fn main() {
    let sites: u64 = std::env::args().nth(1).map_or(1_000, |sites| sites.parse().unwrap_or(1_000));
    let outcomes: Vec<Outcome> = (0..sites).into_par_iter().map(try_site).collect();
    println!("{:20} {:>6} {:>11} {:>8} {:>8}", "space", "sites", "recognised", "fetched", "bounds");
    let mut is_good = true;
    for space in Space::ALL {
        let of_space: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.space == space).collect();
        let recognised = of_space.iter().filter(|outcome| outcome.recognised.is_some()).count();
        let fetched =
            of_space.iter().map(|outcome| outcome.fetched).sum::<f64>() / of_space.len().max(1) as f64;
        let bounds: u32 = of_space.iter().map(|outcome| outcome.bounds).sum();
        let held: u32 = of_space.iter().map(|outcome| outcome.held).sum();
        println!("{space:20} {:>6} {recognised:>11} {fetched:>8.3} {held:>4}/{bounds}", of_space.len());
        is_good &= if space.is_worth_fetching() {
            recognised == 0 && fetched == 1.0
        } else {
            recognised == of_space.len()
        };
    }
    let bounds: u32 = outcomes.iter().map(|outcome| outcome.bounds).sum();
    let held: u32 = outcomes.iter().map(|outcome| outcome.held).sum();
    println!("bounds that hold: {:.1} %", 100.0 * f64::from(held) / f64::from(bounds.max(1)));
    is_good &= f64::from(held) >= 0.95 * f64::from(bounds);
    assert!(is_good, "a space was not recognised, a look-alike got a budget, or bounds do not hold");
}

fn try_site(seed: u64) -> Outcome {
    let space = Space::ALL[seed as usize % Space::ALL.len()];
    let site = SpaceSite::new(space, 100 + seed % 200, seed);
    let mut outcome = Outcome { space, recognised: None, fetched: 1.0, bounds: 0, held: 0 };
    for look in LOOKS {
        let budgets = learn(crawl(&site, look), 0.99);
        outcome.fetched = fetched(&site, &budgets, look);
        if outcome.fetched < 1.0 / 3.0 && outcome.recognised.is_none() {
            outcome.recognised = Some(look);
        }
        if look == LOOKS[LOOKS.len() - 1] {
            (outcome.bounds, outcome.held) = check_bounds(&site, &budgets, look);
        }
    }
    outcome
}

/// The articles, and the first URLs of the space, in turns.
fn crawl(site: &SpaceSite, of_space: u64) -> Crawl {
    let mut crawl = Crawl::new();
    let mut lines = Vec::new();
    let mut order = 0;
    for number in 0..of_space.max(site.articles()) {
        for is_space in [false, true] {
            if number >= if is_space { of_space } else { site.articles() } {
                continue;
            }
            let url =
                if is_space { site.of_space(number, &mut lines) } else { site.article(number, &mut lines) };
            crawl.observe(url.as_bytes(), PageText { lines: &lines, ..PageText::default() }, order);
            order += 1;
        }
    }
    crawl
}

/// The share of the URLs of the space that come next that are fetched.
fn fetched(site: &SpaceSite, budgets: &Budgets, first: u64) -> f64 {
    let (book, mut scratch, mut lines) = (BudgetBook::new(budgets), LookupScratch::default(), Vec::new());
    let is_fetched = |number: &u64| {
        let url = site.of_space(*number, &mut lines);
        book.decide(url.as_bytes(), &mut scratch) == Decision::Fetch
    };
    (first..first + LATER).filter(is_fetched).count() as f64 / LATER as f64
}

/// How many patterns of the space have bounds, and how many of these hold for what comes next.
fn check_bounds(site: &SpaceSite, budgets: &Budgets, first: u64) -> (u32, u32) {
    let mut lines = Vec::new();
    let mut known = HashSet::new();
    for number in 0..site.articles() {
        site.article(number, &mut lines);
        known.extend(lines.iter().copied());
    }
    for number in 0..first {
        site.of_space(number, &mut lines);
        known.extend(lines.iter().copied());
    }
    // Of each pattern alone: all others are fetched in full.
    let (mut bounds, mut held) = (0, 0);
    for index in 0..budgets.patterns.len() {
        let mut alone = budgets.clone();
        for (at, pattern) in alone.patterns.iter_mut().enumerate() {
            pattern.fetch = if at == index { 0.0 } else { 1.0 };
        }
        let (book, mut scratch) = (BudgetBook::new(&alone), LookupScratch::default());
        let (mut urls, mut shares) = (0, 0.0);
        for number in first..first + LATER {
            let url = site.of_space(number, &mut lines);
            if book.decide(url.as_bytes(), &mut scratch) != Decision::Fetch {
                urls += 1;
                shares +=
                    lines.iter().filter(|line| !known.contains(line)).count() as f64 / lines.len() as f64;
            }
        }
        if urls > 0 {
            bounds += 1;
            held += u32::from(shares / f64::from(urls) <= budgets.patterns[index].seen.new_text_at_most);
        }
    }
    (bounds, held)
}
