//! The learners that compare pairs of URLs: the same observations give the same rules, in any order.

use dedust_baselines::Method;
use dedust_learn::{Clues, Crawl, EvidenceKinds, Trainer};
use proptest::prelude::*;

/// A forum with sessions, mirrors, file names with numbers, and pages that are different.
fn observations() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for n in 0..40u64 {
        let random = |salt: u64| (3 * n + salt).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let mut add = |url: String, page: String| all.push((url, page));
        for salt in [1, 2] {
            let sid = random(salt);
            add(format!("http://www.example.org/view?id={n}&sid={sid:06x}"), format!("page {n}"));
        }
        add(format!("http://example.org/view?id={n}"), format!("page {n}"));
        add(format!("http://example.org/thread_{n}.html"), format!("page {n}"));
        add(format!("http://example.org/list?page={n}&sort={}", n % 3), format!("list {n} {}", n % 3));
    }
    all
}

fn rule_file(observations: &[(String, String)], method: Method) -> String {
    let mut crawl = Crawl::new(EvidenceKinds::AUTO);
    for (url, page) in observations {
        let clues = Clues { digest: Some(page.as_bytes()), ..Clues::default() };
        crawl.observe(url.as_bytes(), &clues).expect("a URL");
    }
    let trainer = Trainer::builder().learner(method).build().expect("default settings");
    let training = trainer.train(&crawl.into_corpora(), &()).expect("rules that fit together");
    let mut bytes = Vec::new();
    training.rules.save(&mut bytes).expect("memory");
    String::from_utf8(bytes).expect("JSON")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn shuffled_input_gives_the_same_rule_file(shuffled in Just(observations()).prop_shuffle()) {
        for method in [Method::Fanout5, Method::Fanout10, Method::DecisionTree] {
            let rules = rule_file(&observations(), method);
            prop_assert!(rules.contains("\"change\""), "nothing was learned:\n{}", rules);
            prop_assert_eq!(rule_file(&shuffled, method), rules);
        }
    }
}

#[test]
fn doing_nothing_learns_nothing() {
    for method in [Method::Standard, Method::KeepAll] {
        assert!(!rule_file(&observations(), method).contains("\"change\""));
    }
}
