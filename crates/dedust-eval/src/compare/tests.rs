use std::sync::Arc;

use dedust_baselines::Method;
use dedust_learn::{CanonFd, Clues, EvidenceKinds, LearnSettings, Learner, Trainer};

use super::*;
use crate::evaluate::Evaluator;

/// URLs of 60 products with three session ids each, and the pages they show.
fn visits() -> Vec<(String, String)> {
    let mut visits = Vec::new();
    for page in 0..60u64 {
        for visit in 0..3 {
            let session = 0x1234_5678 * (page + 1) * (visit + 3);
            visits.push((
                format!("http://www.shop.example/view?id={page}&sid={session:016x}"),
                format!("{page}"),
            ));
        }
    }
    visits
}

fn sample(split: Split) -> Vec<SiteSample> {
    let mut sample = Sample::new(split, EvidenceKinds::AUTO);
    for (url, page) in visits() {
        let clues = Clues { digest: Some(page.as_bytes()), ..Clues::default() };
        sample.observe(url.as_bytes(), &clues, None).unwrap();
    }
    sample.into_sites()
}

fn learners(methods: &[Method]) -> Vec<Arc<dyn Learner>> {
    methods.iter().map(|&method| Arc::new(method) as Arc<dyn Learner>).collect()
}

fn random(seed: u64, share: f64, max_urls: usize) -> Split {
    Split::new(Draw::Random { seed }, share, max_urls).unwrap()
}

fn trained(site: &SiteSample) -> Vec<&[u8]> {
    site.training().iter().map(SavedObservation::url).collect()
}

#[test]
fn a_share_of_nothing_or_of_more_than_all_is_refused() {
    for share in [0.0, -0.1, 1.5, f64::NAN] {
        assert!(matches!(Split::new(Draw::Order, share, 10), Err(InvalidSplit::Share(_))), "{share}");
    }
    assert_eq!(Split::new(Draw::Order, 0.2, 0), Err(InvalidSplit::NoUrls));
    assert!(Split::new(Draw::Order, 1.0, 1).is_ok());
}

#[test]
fn order_takes_the_first_urls() {
    let sites = sample(Split::new(Draw::Order, 0.2, 1000).unwrap());
    let visits = visits();
    let first: Vec<&[u8]> = visits[..36].iter().map(|(url, _)| url.as_bytes()).collect();
    assert_eq!(trained(&sites[0]), first);
    let rest: Vec<&[u8]> = visits[36..].iter().map(|(url, _)| url.as_bytes()).collect();
    assert_eq!(sites[0].scored().urls(Scope::Unseen).collect::<Vec<_>>(), rest);
}

#[test]
fn chance_draws_about_the_share_and_never_more_than_the_most() {
    let drawn = trained(&sample(random(0, 0.2, 1000))[0]).len();
    assert!((20..55).contains(&drawn), "{drawn}");
    let few = sample(random(0, 0.2, 10));
    assert_eq!(trained(&few[0]).len(), 10);
    let all = sample(random(0, 0.2, 1000));
    assert!(trained(&few[0]).iter().all(|url| trained(&all[0]).contains(url)), "fewer of the same");
    assert_ne!(trained(&sample(random(1, 0.2, 1000))[0]), trained(&all[0]));
    assert_eq!(trained(&sample(random(0, 1.0, 1000))[0]).len(), 180);
}

#[test]
fn spellings_of_one_url_are_on_one_side() {
    let mut sample = Sample::new(Split::new(Draw::Order, 0.5, 1000).unwrap(), EvidenceKinds::AUTO);
    for url in ["http://a.example/1", "http://a.example/2", "HTTP://A.example:80/1#top"] {
        let clues = Clues { digest: Some(b"1"), ..Clues::default() };
        sample.observe(url.as_bytes(), &clues, None).unwrap();
    }
    let sites = sample.into_sites();
    assert_eq!(sites[0].urls(), 2);
    assert_eq!(sites[0].training().len(), 2);
    assert_eq!(sites[0].scored().urls(Scope::Unseen).collect::<Vec<_>>(), [b"http://a.example/2"]);
    assert_eq!(sites[0].scored().len(), 3);
}

#[test]
fn figures_are_those_of_the_evaluator() {
    let sites = sample(random(0, 0.5, 1000));
    let comparison = compare(&sites, &learners(&Method::ALL), &LearnSettings::default(), &|| ()).unwrap();
    assert_eq!(comparison.rows.len(), Method::ALL.len());
    for row in &comparison.rows {
        let trainer = Trainer::builder().learner(row.method.parse::<Method>().unwrap()).build().unwrap();
        let corpus = sites[0].corpus().unwrap().clone();
        let rules = trainer.train(&[corpus], &()).unwrap().rules;
        let normalizer = dedust::Normalizer::compile(&rules);
        for scope in Scope::ALL {
            let mut evaluator = Evaluator::new(&normalizer, EvidenceKinds::AUTO);
            for url in sites[0].scored().urls(scope) {
                let visits = visits();
                let (_, page) = visits.iter().find(|visit| visit.0.as_bytes() == url).unwrap();
                evaluator.observe(url, &Clues { cluster: Some(page.as_bytes()), ..Clues::default() });
            }
            let evaluation = evaluator.finish();
            let scores = evaluation.micro;
            let [key, url] = match row.method {
                "keep-all" => [scores.keep_all, scores.keep_all],
                _ => [scores.key, scores.url],
            };
            assert_eq!(row.measured(scope).key.score(), key, "{}", row.method);
            assert_eq!(row.measured(scope).url.score(), url, "{}", row.method);
            assert_eq!(comparison.macro_average(row.method, scope).f1, key.f1, "{}", row.method);
        }
    }
}

#[test]
fn truth_decides_what_is_scored() {
    let mut sample = Sample::with_truth(random(0, 1.0, 1000), EvidenceKinds::AUTO);
    for (url, page) in visits() {
        let clues = Clues { digest: Some(page.as_bytes()), ..Clues::default() };
        sample.observe(url.as_bytes(), &clues, None).unwrap();
    }
    let known = b"http://www.shop.example/view?id=1&sid=000000006d3a06d0";
    assert_eq!(sample.observe_truth(known, Some(b"one")), Ok(true));
    assert_eq!(sample.observe_truth(b"http://www.shop.example/view?id=2&sid=ff", Some(b"two")), Ok(true));
    assert_eq!(sample.observe_truth(b"http://www.shop.example/view?id=2&sid=fe", None), Ok(true));
    assert_eq!(sample.observe_truth(b"http://other.example/", Some(b"one")), Ok(false));
    let sites = sample.into_sites();
    assert_eq!(sites[0].scored().urls(Scope::Whole).count(), 2);
    assert_eq!(sites[0].scored().unlabelled(), 1);
    let unseen: Vec<_> = sites[0].scored().urls(Scope::Unseen).collect();
    assert_eq!(unseen, [b"http://www.shop.example/view?id=2&sid=ff"]);
}

#[test]
fn the_sweep_agrees_with_the_comparison_at_its_limit() {
    let sites = sample(random(0, 0.5, 1000));
    let methods = learners(&[Method::TreeGraph, Method::Standard]);
    let comparison = compare(&sites, &methods, &LearnSettings::default(), &|| ()).unwrap();
    let points = sweep(&sites, &methods, &SWEPT_RATES, &|| ()).unwrap();
    assert_eq!(points.len(), 22);
    for point in points.iter().filter(|point| point.max_false_pair_rate == 0.05) {
        for scope in Scope::ALL {
            assert_eq!(point.micro(scope), comparison.micro(point.method, scope));
        }
        assert_eq!(point.rules, comparison.costs(point.method).rules);
    }
}

#[test]
fn a_site_too_small_to_learn_from_is_still_scored() {
    let mut sample = Sample::new(random(0, 1e-9, 1000), EvidenceKinds::AUTO);
    let clues = Clues { digest: Some(b"1"), ..Clues::default() };
    sample.observe(b"http://a.example/1", &clues, None).unwrap();
    let sites = sample.into_sites();
    assert!(sites[0].corpus().is_none());
    let comparison = compare(&sites, &[Arc::new(CanonFd)], &LearnSettings::default(), &|| ()).unwrap();
    assert_eq!((comparison.rows[0].rules.deployed, comparison.rows[0].unseen.key.urls), (0, 1));
    assert_eq!(sites[0].keep_all(Scope::Whole).urls, 1);
}
