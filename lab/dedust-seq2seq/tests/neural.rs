//! The method as a whole, network and all: the cases of the paper's Table 3, the same result on any number of threads, and
//! files of weights. Needs `--features neural`, and `--release` to be quick.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, also in what its cases share")]

use std::sync::{Arc, Mutex};

use dedust::rules::{Closed, SiteRules, SiteSummary};
use dedust::{Normalizer, RuleSet};
use dedust_learn::support::{LearnSettings, Learned, Learner as _};
use dedust_learn::{Clues, Corpus, Crawl, EvidenceKinds, Progress, Trainer};
use dedust_seq2seq::model::{LoadWeightsError, Weights, cpu};
use dedust_seq2seq::{Options, Seq2Seq, Translator, Variant};

fn url(path: &str) -> String {
    format!("http://ask.example.org/{path}")
}

/// A site with the phenomena of the paper's case study.
fn corpus() -> Corpus {
    let mut crawl = Crawl::new(EvidenceKinds::AUTO);
    let mut observe = |page: String, path: String| {
        let clues = Clues { cluster: Some(page.as_bytes()), ..Clues::default() };
        crawl.observe(url(&path).as_bytes(), &clues).unwrap();
    };
    for n in 0..150 {
        observe(format!("user {n}"), format!("users/{n}/name-{n}x"));
        observe(format!("user {n}"), format!("users/{n}"));
        observe(format!("question {n}"), format!("questions/{}/words-{n}", 5000 + n));
        observe(format!("question {n}"), format!("q/{}", 5000 + n));
        observe(format!("tag {n}"), format!("questions/tagged/topic{n}"));
        observe("login".into(), format!("private-message/set/user{n}"));
        observe(format!("thread {n}"), format!("t/prev/{}", 10_000 + n));
        observe(format!("thread {n}"), format!("t/{}.aspx", 90_000 + 7 * n));
    }
    crawl.into_corpora().remove(0)
}

fn learner() -> Seq2Seq {
    Seq2Seq::new(Options { keeps_models: true, ..Options::default() })
}

fn normalizer(learned: Learned) -> Normalizer {
    let mut rules = RuleSet::new("seq2seq");
    rules.insert("example.org", SiteRules::new(SiteSummary::default(), learned.rules).unwrap()).unwrap();
    Normalizer::compile(&rules)
}

fn saved(weights: &Weights) -> Vec<u8> {
    let mut bytes = Vec::new();
    weights.save(&mut bytes).unwrap();
    bytes
}

#[test]
fn the_cases_of_table_3() {
    let normalizer = normalizer(learner().learn(&corpus(), &LearnSettings::default(), &()));
    let canonical = |path: &str| normalizer.normalize(url(path)).unwrap().to_string();
    let key = |path: &str| normalizer.key(url(path)).unwrap();
    assert_eq!(canonical("users/150781/rich"), url("users/150781"), "superfluous segment");
    assert_eq!(canonical("questions/132218/how-to"), url("q/132218"), "substitution");
    assert_eq!(canonical("questions/tagged/google"), url("questions/tagged/google"), "not a substitution");
    assert_eq!(key("private-message/set/Yovav"), key("private-message/set/anzer"), "constant redirection");
    assert_eq!(canonical("t/prev/10135"), url("t/prev/10135"), "database mapping");
    assert_eq!(canonical("never/seen/before"), url("never/seen/before"), "unseen pattern");
}

#[test]
fn the_papers_variant_is_written_as_rules_that_nothing_was_checked_of() {
    let mut crawl = Crawl::new(EvidenceKinds::AUTO);
    for n in 0..120 {
        for path in [format!("users/{n}/name-{n}x"), format!("users/{n}"), format!("users/{n}/")] {
            let page = format!("user {n}");
            let clues = Clues { cluster: Some(page.as_bytes()), ..Clues::default() };
            crawl.observe(url(&path).as_bytes(), &clues).unwrap();
        }
    }
    let learner = Seq2Seq::new(Options { variant: Variant::Paper, keeps_models: true, ..Options::default() });
    let learned = learner.learn(&crawl.into_corpora()[0], &LearnSettings::default(), &());
    assert!(learner.take_weights().sites.is_empty(), "its models are not kept");
    assert!(!learned.rules.is_empty());
    assert!(
        learned.rules.iter().all(|rule| rule.closed == Closed::Yes && rule.evidence.failure_bound == 1.0)
    );
    let normalizer = normalizer(learned);
    let canonical = |path: &str| normalizer.normalize(url(path)).unwrap().to_string();
    assert_eq!(canonical("users/150781/rich"), url("users/150781"));
    assert_eq!(canonical("users/150781/"), url("users/150781"), "the paper's tokens forget slashes");
    assert_eq!(canonical("users/150781"), url("users/150781"));
    assert_eq!(canonical("never/seen/before"), url("never/seen/before"));
}

#[test]
fn the_same_bytes_on_any_number_of_threads_and_other_bytes_for_another_seed() {
    let mut crawl = Crawl::new(EvidenceKinds::AUTO);
    for (site, n) in ["one", "two", "three"].into_iter().flat_map(|site| (0..60).map(move |n| (site, n))) {
        for path in [format!("users/{n}/name-{n}x"), format!("users/{n}"), format!("users/{n}?sid=s{n}")] {
            let (url, page) = (format!("http://{site}.example/{path}"), n.to_string());
            let clues = Clues { cluster: Some(page.as_bytes()), ..Clues::default() };
            crawl.observe(url.as_bytes(), &clues).unwrap();
        }
    }
    let corpora = crawl.into_corpora();
    let run = |seed: u64, threads: usize| {
        let learner = Arc::new(Seq2Seq::new(Options { seed, keeps_models: true, ..Options::default() }));
        let trainer = Trainer::builder().learner(learner.clone()).build().unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let training = pool.install(|| trainer.train(&corpora, &())).unwrap();
        (training.rules, saved(&learner.take_weights()))
    };
    let (rules, weights) = run(1, 1);
    assert!(rules.sites().all(|(_, site)| !site.rules().is_empty()));
    let (on_three, weights_on_three) = run(1, 3);
    assert!(on_three == rules && weights_on_three == weights);
    assert_ne!(run(2, 1).1, weights);
}

#[test]
fn epochs_are_told_with_loss_and_exact_match() {
    #[derive(Default)]
    struct Heard(Mutex<Vec<(usize, f64, f64)>>);
    impl Progress for Heard {
        fn epoch_done(&self, site: &str, epoch: usize, held_out_loss: f64, exact_match: f64) {
            assert_eq!(site, "example.org");
            self.0.lock().unwrap().push((epoch, held_out_loss, exact_match));
        }
    }
    let heard = Heard::default();
    learner().learn(&corpus(), &LearnSettings::default(), &heard);
    let heard = heard.0.into_inner().unwrap();
    let models: Vec<&[(usize, f64, f64)]> = heard.chunk_by(|a, b| b.0 == a.0 + 1).collect();
    assert_eq!(models.len(), 2, "one for each half of the pages");
    for epochs in models {
        let ((first, first_loss, _), (_, last_loss, exact_match)) = (epochs[0], epochs[epochs.len() - 1]);
        assert_eq!(first, 1);
        assert!(last_loss < first_loss, "{last_loss} and {first_loss}");
        assert!((0.5..=1.0).contains(&exact_match), "{exact_match}");
    }
}

#[test]
fn weights_come_back_and_damaged_or_foreign_ones_are_refused() {
    let learner = learner();
    let rules = learner.learn(&corpus(), &LearnSettings::default(), &()).rules.len() as u64;
    let weights = learner.take_weights();
    let bytes = saved(&weights);
    let loaded = Weights::load(&bytes, &cpu()).unwrap();
    assert_eq!(saved(&loaded), bytes);
    let card = &loaded.sites["example.org"].card;
    assert_eq!((card.urls, card.labelled, card.rules), (1200, 1200, rules));
    assert!(card.exact_match > 0.5 && card.language.len() > 4);

    let refusal = |bytes: &[u8]| Weights::load(bytes, &cpu()).unwrap_err();
    let mut damaged = bytes.clone();
    *damaged.last_mut().unwrap() ^= 1;
    assert!(matches!(refusal(&damaged), LoadWeightsError::Damaged { .. }));
    assert!(matches!(refusal(&bytes[..bytes.len() / 2]), LoadWeightsError::Malformed(_)));
    assert!(matches!(refusal(b"not weights"), LoadWeightsError::Malformed(_)));
    let foreign = b"\x02\0\0\0\0\0\0\0{}";
    assert!(matches!(refusal(foreign), LoadWeightsError::Foreign));
}

#[test]
fn unseen_templates_are_translated_in_batches_and_remembered() {
    let learner = learner();
    learner.learn(&corpus(), &LearnSettings::default(), &());
    let model = learner.take_weights().sites.remove("example.org").unwrap();
    let mut translator = Translator::new("example.org", model, cpu());
    let urls = [url("users/9/mike"), url("users/8/ann"), url("q/7"), "no url".into()];
    let results = translator.translate(&urls.iter().map(String::as_bytes).collect::<Vec<_>>());
    assert_eq!(results[0].as_deref(), Some("http://ask.example.org/users/9"));
    assert_eq!(results[1].as_deref(), Some("http://ask.example.org/users/8"));
    assert_eq!(results[2], None, "unchanged");
    assert_eq!(results[3], None);
    assert_eq!(translator.known(), 2, "of two templates");
}
