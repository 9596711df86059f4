//! Which of two forms the graph-based selection makes the destination: the one with more URLs.

#![expect(clippy::unwrap_used, reason = "a failure is what a test is for")]

use dedust::Normalizer;
use dedust_baselines::Method;
use dedust_learn::{Clues, Crawl, EvidenceKinds, Trainer};

/// Rules from pages `1..=first` in the form `/a?x=N` and `1..=second` in the form `/b/N`.
fn learned(first: usize, second: usize) -> Normalizer {
    let mut crawl = Crawl::new(EvidenceKinds::AUTO);
    let forms = (1..=first).map(|n| (n, format!("http://example.org/a?x={n}")));
    let forms = forms.chain((1..=second).map(|n| (n, format!("http://example.org/b/{n}"))));
    for (page, url) in forms {
        let label = page.to_string();
        crawl
            .observe(url.as_bytes(), &Clues { cluster: Some(label.as_bytes()), ..Clues::default() })
            .unwrap();
    }
    let trainer = Trainer::builder().learner(Method::TreeGraph).build().unwrap();
    Normalizer::compile(&trainer.train(&crawl.into_corpora(), &()).unwrap().rules)
}

#[test]
fn the_larger_node_is_the_destination() {
    let to_a = learned(90, 60);
    assert_eq!(to_a.normalize("http://example.org/b/777").unwrap(), "http://example.org/a?x=777");
    assert_eq!(to_a.normalize("http://example.org/a?x=777").unwrap(), "http://example.org/a?x=777");
    let to_b = learned(60, 90);
    assert_eq!(to_b.normalize("http://example.org/a?x=777").unwrap(), "http://example.org/b/777");
    assert_eq!(to_b.normalize("http://example.org/b/777").unwrap(), "http://example.org/b/777");
}
