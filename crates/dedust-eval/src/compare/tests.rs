use std::sync::Arc;

use dedust_baselines::Method;
use dedust_learn::support::{CanonFd, LearnSettings, Learner, PARTS, SampleSize, StoredRow};
use dedust_learn::{Clues, Corpus, CrawlStore, EvidenceKinds, Trainer};

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

fn sample(split: Split) -> Vec<DividedSite> {
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

fn trained(site: &DividedSite) -> Vec<&[u8]> {
    site.training().iter().map(StoredRow::url).collect()
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

#[test]
fn a_large_share_is_sampled_as_learning_samples_a_crawl() {
    let mut sample = Sample::new(random(0, 1.0, 100_000), EvidenceKinds::AUTO);
    let mut store = CrawlStore::new(EvidenceKinds::AUTO, SampleSize::default());
    for number in 0..60_000 {
        let (url, page) = (format!("http://a.example/{}?s={number}", number / 2), (number / 2).to_string());
        let clues = Clues { digest: Some(page.as_bytes()), ..Clues::default() };
        sample.observe(url.as_bytes(), &clues, None).unwrap();
        store.observe(url.as_bytes(), &clues, None).unwrap();
    }
    let sites = sample.into_sites();
    assert!(sites[0].is_sampled());
    assert_eq!(sites[0].training().len(), 60_000);
    let crawl = store.finish().unwrap();
    let learned_from = (0..PARTS).flat_map(|part| crawl.corpora(part).unwrap()).next().unwrap().0;
    let urls =
        |corpus: &Corpus| (0..corpus.len() as u32).map(|row| corpus.url(row).to_vec()).collect::<Vec<_>>();
    assert!(urls(sites[0].corpus().unwrap()) == urls(&learned_from));
    assert!((45_000..=50_000).contains(&learned_from.len()), "{}", learned_from.len());
    assert_eq!(
        sites[0].scored().urls(Scope::Unseen).count(),
        0,
        "what is not drawn was still to be learned from"
    );
}

/// Two sites with sessions, of which `old.example` declares its pages to be those of `new.example`.
fn mirrored(sample: &mut Sample) {
    for (number, site) in (0..200).flat_map(|number| [(number, "old.example"), (number, "new.example")]) {
        let canonical = format!("http://new.example/p/{number}");
        for session in ["", "?s=1", "?s=2"] {
            let (url, page) = (format!("http://{site}/p/{number}{session}"), format!("page {number}"));
            let clues = Clues {
                digest: Some(page.as_bytes()),
                canonical: (session.is_empty() && site == "old.example").then_some(canonical.as_bytes()),
                ..Clues::default()
            };
            sample.observe(url.as_bytes(), &clues, None).unwrap();
        }
    }
}

#[test]
fn a_mirror_is_left_out_by_those_that_do_so_when_learning() {
    let rules = |mut sample: Sample| {
        mirrored(&mut sample);
        let sites = sample.into_sites();
        let learners = learners(&[Method::CanonFd, Method::TreeGraph]);
        let comparison = compare(&sites, &learners, &LearnSettings::default(), &|| ()).unwrap();
        let mirrors: Vec<_> = sites.iter().map(|site| site.mirror_of().map(str::to_owned)).collect();
        let has_rules: Vec<bool> = comparison.rows.iter().map(|row| row.rules.deployed > 0).collect();
        (mirrors, has_rules)
    };
    let sample = || Sample::new(random(0, 1.0, 100_000), EvidenceKinds::AUTO);
    // Sites in the order of their names, each with both methods.
    assert_eq!(rules(sample()), (vec![None, Some("new.example".to_owned())], vec![true, true, false, true]));
    assert_eq!(rules(sample().without_mirrors()), (vec![None, None], vec![true; 4]));
}

#[test]
fn a_learning_curve_grows_with_what_was_learned_from() {
    let mut sample = CurveSample::new(EvidenceKinds::AUTO);
    for (url, page) in visits() {
        let clues = Clues { digest: Some(page.as_bytes()), ..Clues::default() };
        sample.observe(url.as_bytes(), &clues, None).unwrap();
    }
    let curves = sample.learn(&CanonFd, &LearnSettings::default()).unwrap();
    let [curve] = &*curves else { panic!("{curves:?}") };
    assert_eq!(&*curve.site, "shop.example");
    assert_eq!(curve.points.iter().map(|point| point.share).collect::<Vec<_>>(), [0.1, 0.3, 0.6, 1.0]);
    assert!(curve.points.is_sorted_by(|a, b| a.urls < b.urls), "{curve:?}");
    // All shares are scored on the whole: from a few URLs nothing can be proven, from all of them that `sid` does not matter.
    assert!(curve.points.iter().all(|point| (point.whole.urls, point.whole.pages) == (180, 60)));
    let [first, .., last] = &*curve.points else { panic!("{curve:?}") };
    assert_eq!((first.rules, first.whole.canonical), (0, 180));
    assert_eq!((last.urls, last.whole.canonical, last.whole.covered), (180, 60, 60));
    assert!(last.promise.is_some_and(|promise| promise.pages == 60));
}
