//! The same observations give the same rule file: in any order, and on any number of threads.

#![expect(clippy::unwrap_used, reason = "a failure is what a test is for")]

use dedust_baselines::Method;
use dedust_learn::{Clues, Crawl, EvidenceKinds, Trainer};
use proptest::prelude::*;

/// URLs of two sites with session ids, mirrors, print views and pages that are different.
fn observations() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for n in 0..60u64 {
        let random = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        for site in ["example.org", "example.com"] {
            all.push((format!("http://www.{site}/view?id={n}&sid={random:06x}"), format!("{site} {n}")));
            all.push((format!("http://{site}/view?id={n}"), format!("{site} {n}")));
            all.push((format!("http://{site}/print/{n}"), format!("{site} {n}")));
            all.push((
                format!("http://{site}/list?page={n}&sort={}", n % 3),
                format!("{site} list {n} {}", n % 3),
            ));
        }
    }
    all
}

fn rule_file(observations: &[(String, String)], method: Method) -> String {
    let mut crawl = Crawl::new(EvidenceKinds::AUTO);
    for (url, page) in observations {
        crawl.observe(url.as_bytes(), &Clues { digest: Some(page.as_bytes()), ..Clues::default() }).unwrap();
    }
    let trainer = Trainer::builder().learner(method).build().unwrap();
    let mut bytes = Vec::new();
    trainer.train(&crawl.into_corpora(), &()).unwrap().rules.save(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn shuffled_input_gives_the_same_rule_file(shuffled in Just(observations()).prop_shuffle()) {
        for method in [Method::TreeGraph, Method::TreeNaive] {
            prop_assert_eq!(rule_file(&shuffled, method), rule_file(&observations(), method));
        }
    }

    #[test]
    fn repeated_observations_change_nothing(repeated in proptest::sample::subsequence(observations(), 0..200)) {
        let mut all = observations();
        all.extend(repeated);
        prop_assert_eq!(rule_file(&all, Method::TreeGraph), rule_file(&observations(), Method::TreeGraph));
    }
}

#[test]
fn any_number_of_threads_gives_the_same_rule_file() {
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| rule_file(&observations(), Method::TreeGraph))
    };
    let one = on(1);
    assert!(one.contains("\"change\""), "nothing was learned:\n{one}");
    assert_eq!(one, on(4));
}
