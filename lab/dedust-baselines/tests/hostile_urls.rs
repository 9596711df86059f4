//! URLs that no one should write: they are learned from or left out, and nothing breaks.

use dedust::Normalizer;
use dedust_baselines::Method;
use dedust_learn::{Clues, Crawl, EvidenceKinds, Trainer};

fn hostile() -> Vec<Vec<u8>> {
    let params: Vec<String> = (0..10_000).map(|n| format!("p{n}={n}")).collect();
    let same: Vec<String> = (0..3_000).map(|n| format!("a={n}")).collect();
    vec![
        format!("http://example.org/?{}", "x".repeat(1 << 20)).into_bytes(),
        format!("http://example.org/?{}", params.join("&")).into_bytes(),
        format!("http://example.org/?{}", same.join("&")).into_bytes(),
        format!("http://example.org{}", "/a".repeat(5_000)).into_bytes(),
        format!("http://{}example.org/", "a.".repeat(2_000)).into_bytes(),
        b"http://example.org/%zz%2?%=%&&=&;".to_vec(),
        b"http://example.org/\0?\0=\xff\xfe".to_vec(),
        b"http://user:secret@example.org/a;b=c;d/?;=;".to_vec(),
        b"http://[::1]:8080/a?b".to_vec(),
        b"http:///x".to_vec(),
        b"http://".to_vec(),
        b"".to_vec(),
        b"mailto:a@example.org".to_vec(),
    ]
}

#[test]
fn every_method_takes_them_in_its_stride() {
    for method in Method::ALL {
        let mut crawl = Crawl::new(EvidenceKinds::AUTO);
        let urls = hostile();
        let parsed = urls
            .iter()
            .filter(|url| crawl.observe(url, &Clues { digest: Some(b"same"), ..Clues::default() }).is_ok())
            .count();
        assert_eq!(parsed, urls.len() - 2, "two of them are no URLs");
        let trainer = Trainer::builder().learner(method).build().unwrap();
        let training = trainer.train(&crawl.into_corpora(), &()).unwrap();
        let normalizer = Normalizer::compile(&training.rules);
        for url in urls {
            if let Ok(canonical) = normalizer.normalize(&url) {
                assert_eq!(normalizer.key(&canonical), normalizer.key(&url), "{method}");
                assert_eq!(normalizer.normalize(&canonical).unwrap(), canonical, "{method}");
            }
        }
        assert_eq!(normalizer.key("http://other.example/?b=2&a=1").unwrap(), "http://other.example/?a=1&b=2");
    }
}
