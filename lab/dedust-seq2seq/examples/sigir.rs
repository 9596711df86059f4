//! The crawl simulation of the paper on sites with known pages: learn from the first three quarters of each, score on the
//! rest.
//!
//!     cargo run --release -p dedust-seq2seq --features neural --example sigir -- SITE_DIR...
//!
//! A SITE_DIR holds `pages.jsonl.gz` and `truth.jsonl.gz`. One line per site and variant on standard output. The variable
//! VARIANT, `copy` or `paper`, leaves out the other; UNITS makes the paper's model smaller than its 512 units.

#![expect(clippy::print_stdout, reason = "a program of its own")]

use std::path::Path;

use cpu_time::ProcessTime;
use dedust::rules::{SiteRules, SiteSummary};
use dedust::{Normalizer, RuleSet};
use dedust_eval::compare::{DividedSite, Draw, Sample, Scope, Split};
use dedust_eval::metrics::Tally;
use dedust_io::Observation;
use dedust_learn::support::{LearnSettings, Learner as _};
use dedust_learn::{Clues, EvidenceKinds};
use dedust_seq2seq::model::PAPER_UNITS;
use dedust_seq2seq::paper::{PaperTranslator, SCHEDULE};
use dedust_seq2seq::{Options, Seq2Seq};
use xxhash_rust::xxh3::xxh3_128;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    println!("site\tvariant\tprecision\trecall\tf1\trules\tcpu_seconds");
    let units = std::env::var("UNITS").ok().and_then(|units| units.parse().ok()).unwrap_or(PAPER_UNITS);
    let wanted = std::env::var("VARIANT").ok();
    let is_wanted = |variant: &str| wanted.as_deref().is_none_or(|wanted| wanted == variant);
    for folder in std::env::args().skip(1) {
        let name = Path::new(&folder).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let sites = read(Path::new(&folder))?;
        let keep_all: Tally = sites.iter().map(|site| site.keep_all(Scope::Unseen)).sum();
        print(&name, "keep-all", &keep_all, 0, 0.0);
        if is_wanted("copy") {
            let started = ProcessTime::now();
            let (mut tally, mut rules) = (Tally::default(), 0);
            for site in &sites {
                let (of_site, count) = copying_variant(site)?;
                tally += of_site;
                rules += count;
            }
            print(&name, "copy", &tally, rules, started.elapsed().as_secs_f64());
        }
        if is_wanted("paper") {
            let started = ProcessTime::now();
            let tally: Tally = sites.iter().map(|site| paper_variant(site, units)).sum();
            print(&name, "paper", &tally, 0, started.elapsed().as_secs_f64());
        }
    }
    Ok(())
}

fn print(site: &str, variant: &str, tally: &Tally, rules: usize, seconds: f64) {
    let score = tally.score();
    let (precision, recall, f1) = (score.precision, score.recall, score.f1);
    println!("{site}\t{variant}\t{precision:.4}\t{recall:.4}\t{f1:.4}\t{rules}\t{seconds:.2}");
}

fn read(folder: &Path) -> Result<Vec<DividedSite>, Failure> {
    let mut sample = Sample::with_truth(Split::new(Draw::Order, 0.75, usize::MAX)?, EvidenceKinds::AUTO);
    let mut observation = Observation::new();
    let mut pages = dedust_io::open(folder.join("pages.jsonl.gz"))?.observations()?;
    while let Some(row) = pages.read(&mut observation)? {
        if row.is_ok() {
            let clues = Clues {
                cluster: observation.cluster().map(str::as_bytes),
                canonical: observation.canonical(),
                redirect: observation.redirect(),
                digest: observation.digest().map(str::as_bytes),
                text_digest: observation.text_digest().map(str::as_bytes),
                simhash: observation.simhash(),
                title: observation.title().map(str::as_bytes),
                status: observation.status(),
                size: observation.size(),
                ..Clues::default()
            };
            sample.observe(observation.url(), &clues, None).ok();
        }
    }
    let mut truth = dedust_io::open(folder.join("truth.jsonl.gz"))?.observations()?;
    while let Some(row) = truth.read(&mut observation)? {
        if row.is_ok() {
            sample.observe_truth(observation.url(), observation.cluster().map(str::as_bytes)).ok();
        }
    }
    Ok(sample.into_sites())
}

fn copying_variant(site: &DividedSite) -> Result<(Tally, usize), Failure> {
    let learner = Seq2Seq::new(Options::default());
    let learned =
        site.corpus().map(|corpus| learner.learn(corpus, &LearnSettings::default(), &())).unwrap_or_default();
    let count = learned.rules.len();
    let mut rules = RuleSet::new("seq2seq");
    rules.insert(site.site(), SiteRules::new(SiteSummary::default(), learned.rules)?)?;
    let normalizer = Normalizer::compile(&rules);
    let key = |url: &[u8]| normalizer.key(url).map_or_else(|_| xxh3_128(url), |key| xxh3_128(key.as_bytes()));
    Ok((Tally::count(site.scored().labelled(Scope::Unseen).map(|(url, label)| (key(url), label))), count))
}

/// The canonical forms are compared as they are: whether they are URLs does not matter to the paper.
fn paper_variant(site: &DividedSite, units: usize) -> Tally {
    let device = dedust_seq2seq::model::cpu();
    let train = |corpus| PaperTranslator::train(corpus, units, &SCHEDULE, 0, &device, &|_| ());
    let (urls, labels): (Vec<&[u8]>, Vec<u32>) = site.scored().labelled(Scope::Unseen).unzip();
    match site.corpus().and_then(train) {
        None => site.keep_all(Scope::Unseen),
        Some(mut translator) => {
            let texts: Vec<std::borrow::Cow<'_, str>> =
                urls.iter().map(|url| String::from_utf8_lossy(url)).collect();
            let forms = translator.translate(&texts.iter().map(|text| &**text).collect::<Vec<_>>());
            Tally::count(forms.iter().map(|form| xxh3_128(form.as_bytes())).zip(labels))
        }
    }
}
