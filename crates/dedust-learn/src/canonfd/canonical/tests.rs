use dedust::Normalizer;
use dedust::rules::{CanonicalCounts, Rule};

use crate::preference::UnmetReason;
use crate::{Clues, Crawl, EvidenceKinds, LearnOptions, Trainer, Training};

/// A crawl that is written down row by row.
struct Rows(Crawl);

impl Rows {
    fn new() -> Self {
        Self(Crawl::new(EvidenceKinds::AUTO))
    }

    /// A URL that shows a page, and the canonical URL that it names.
    fn shows(&mut self, url: &str, page: u32, canonical: Option<&str>) {
        let digest = format!("{page:032x}");
        let (digest, canonical) = (Some(digest.as_bytes()), canonical.map(str::as_bytes));
        self.observe(url, &Clues { digest, canonical, status: Some(200), ..Clues::default() });
    }

    fn redirects(&mut self, url: &str, target: &str) {
        let redirect = Some(target.as_bytes());
        self.observe(url, &Clues { redirect, status: Some(301), ..Clues::default() });
    }

    fn observe(&mut self, url: &str, clues: &Clues<'_>) {
        self.0.observe(url.as_bytes(), clues).unwrap();
    }

    fn learn(self, wishes: &[&str]) -> Training {
        let prefer = wishes.iter().map(|wish| wish.parse().unwrap()).collect();
        let options = LearnOptions { prefer, ..LearnOptions::default() };
        let trainer = Trainer::builder().options(options).build().unwrap();
        trainer.train(&self.0.into_corpora(), &()).unwrap()
    }
}

/// Pages under `http://a.example`, some of which were also met under these forms.
fn learn(others: &[(&str, u32)], wishes: &[&str]) -> Training {
    let mut rows = Rows::new();
    for page in 0..60 {
        rows.shows(&format!("http://a.example/page/{page}"), page, None);
        for (start, _) in others.iter().filter(|(_, pages)| page < *pages) {
            rows.shows(&format!("{start}/page/{page}"), page, None);
        }
    }
    rows.learn(wishes)
}

fn canonical(training: &Training, url: &str) -> String {
    let normalizer = Normalizer::compile(&training.rules);
    let canonical = normalizer.normalize(url).unwrap();
    assert_eq!(normalizer.key(&canonical), normalizer.key(url));
    assert_eq!(normalizer.normalize(&canonical).unwrap(), canonical);
    canonical.to_string()
}

/// How many canonical URLs of the site are alive, unmet and wrong.
fn counts(training: &Training) -> [u64; 3] {
    figures(training.rules.sites().next().unwrap().1.canonical_counts())
}

/// The same of each rule that writes canonical URLs, with the bound.
fn counts_by_rule(training: &Training) -> Vec<([u64; 3], Option<f64>)> {
    let rules = training.rules.sites().next().unwrap().1.rules().iter();
    let of_rule = |rule: &Rule| (figures(rule.evidence.canonical), rule.evidence.canonical_bound);
    rules.filter(|rule| rule.fetchable).map(of_rule).collect()
}

fn figures(counts: Option<CanonicalCounts>) -> [u64; 3] {
    let CanonicalCounts { alive, unmet, wrong } = counts.unwrap();
    [alive, unmet, wrong]
}

#[test]
fn the_scheme_that_shows_more_pages_is_written_unless_people_want_the_other() {
    let others = [("https://a.example", 30)];
    let url = |scheme: &str| format!("{scheme}://a.example/page/70");
    for scheme in ["http", "https"] {
        assert_eq!(canonical(&learn(&others, &[]), &url(scheme)), url("http"));
        assert_eq!(canonical(&learn(&others, &["https"]), &url(scheme)), url("https"));
        assert_eq!(canonical(&learn(&others, &["https", "a.example=http"]), &url(scheme)), url("http"));
    }
    assert_eq!(
        canonical(&learn(&[("https://a.example", 60)], &[]), &url("http")),
        url("https"),
        "equally many"
    );
}

#[test]
fn a_form_that_was_seen_too_rarely_is_not_written() {
    let training = learn(&[("https://a.example", 5)], &["https"]);
    for url in ["http://a.example/page/70", "https://a.example/page/70"] {
        assert_eq!(canonical(&training, url), url);
    }
    assert_eq!(canonical(&training, "https://a.example/page/4"), "http://a.example/page/4", "it was seen");
    let reasons: Vec<_> = training.sites[0].unmet.iter().map(|unmet| unmet.reason).collect();
    assert_eq!(reasons, [UnmetReason::SeenTooRarely]);
}

#[test]
fn a_form_that_was_never_seen_is_not_written() {
    let training = learn(&[], &["www"]);
    assert_eq!(canonical(&training, "http://a.example/page/7"), "http://a.example/page/7");
}

#[test]
fn slashes_are_written_as_the_site_redirects() {
    for (written, other) in [("/", ""), ("", "/")] {
        let mut rows = Rows::new();
        for page in 0..60 {
            let url = format!("https://s.example/p-{page}{written}");
            rows.shows(&url, page, Some(&url));
            if page % 2 == 0 {
                rows.redirects(&format!("https://s.example/p-{page}{other}"), &url);
            }
        }
        let training = rows.learn(&[]);
        assert_eq!(counts(&training), [60, 0, 0]);
        let [(of_rule, bound)] = counts_by_rule(&training)[..] else { panic!("one rule writes slashes") };
        assert_eq!(of_rule, [30, 0, 0], "the redirects lead to 30 of them");
        assert!((bound.unwrap() - 0.0950).abs() < 1e-4);
        for page in [3, 4, 70] {
            let url = format!("https://s.example/p-{page}{written}");
            assert_eq!(canonical(&training, &url), url);
            assert_eq!(canonical(&training, &format!("https://s.example/p-{page}{other}")), url);
        }
    }
}

#[test]
fn a_url_that_never_existed_is_not_written() {
    let mut rows = Rows::new();
    let sections = ["news", "sport", "tech", "reise"];
    for page in 0..120 {
        let url = format!("http://m.example/{}/artikel-{page}", sections[page as usize % 4]);
        rows.shows(&url, page, None);
        rows.redirects(&format!("http://m.example/index.php?id={page}"), &url);
    }
    let training = rows.learn(&[]);
    for page in 0..120 {
        let url = format!("http://m.example/{}/artikel-{page}", sections[page % 4]);
        assert_eq!(canonical(&training, &url), url);
    }
    assert_eq!((counts(&training), counts_by_rule(&training)), ([120, 0, 0], Vec::new()));
}

#[test]
fn what_nobody_has_fetched_is_unmet() {
    let mut rows = Rows::new();
    for page in 0..60 {
        let url = format!("http://a.example/p?id={page}");
        if page < 50 {
            rows.shows(&url, page, None);
        }
        for session in [7919, 104_729] {
            rows.shows(&format!("{url}&sid={}", session * (page + 1)), page, None);
        }
    }
    let training = rows.learn(&[]);
    assert_eq!(canonical(&training, "http://a.example/q?id=3"), "http://a.example/q?id=3");
    assert_eq!(counts(&training), [50, 10, 0]);
    assert_eq!(counts_by_rule(&training)[0].0, [50, 10, 0], "each once, though two URLs have it");
}

#[test]
fn each_section_has_its_own_direction() {
    let mut rows = Rows::new();
    let url = |section: &str, page: u32, slash: &str| format!("http://m.example/{section}/p-{page}{slash}");
    for page in 0..80 {
        for (section, written, other) in [("blog", "/", ""), ("shop", "", "/")] {
            rows.shows(
                &url(section, page, written),
                page + 1000 * section.len() as u32 * written.len() as u32,
                None,
            );
            if page % 2 == 0 {
                rows.redirects(&url(section, page, other), &url(section, page, written));
            }
        }
    }
    let training = rows.learn(&[]);
    for slash in ["", "/"] {
        assert_eq!(canonical(&training, &url("blog", 99, slash)), url("blog", 99, "/"));
        assert_eq!(canonical(&training, &url("shop", 99, slash)), url("shop", 99, ""));
    }
    assert_eq!(
        canonical(&training, &url("about", 1, "/")),
        url("about", 1, "/"),
        "a section that was never seen"
    );
}

#[test]
fn a_url_that_its_page_names_stands_for_all_others_of_its_key() {
    let mut rows = Rows::new();
    for page in 0..60 {
        let named = format!("http://a.example/p?id={page}&lang=en");
        rows.shows(&named, page, Some(&named));
        rows.shows(&format!("http://a.example/p?id={page}"), page, Some(&named));
    }
    let training = rows.learn(&[]);
    assert_eq!(canonical(&training, "http://a.example/p?id=7"), "http://a.example/p?id=7&lang=en");
    assert_eq!(canonical(&training, "http://a.example/q?id=7"), "http://a.example/q?id=7");
}

#[test]
fn no_slash_is_written_behind_a_file() {
    let mut rows = Rows::new();
    for page in 0..60 {
        let blog = format!("http://m.example/blog/p-{page}/");
        let docs = format!("http://m.example/docs/p-{page}/");
        rows.shows(&blog, page, None);
        rows.shows(&docs, 2000 + page, None);
        if page % 2 == 0 {
            rows.redirects(blog.trim_end_matches('/'), &blog);
            rows.redirects(&format!("{docs}index.php"), &docs);
        }
        rows.shows(&format!("http://m.example/news/p-{page}/default.aspx"), 1000 + page, None);
    }
    let training = rows.learn(&[]);
    for page in [3, 99] {
        let url = format!("http://m.example/news/p-{page}/default.aspx");
        assert_eq!(canonical(&training, &url), url);
    }
}

#[test]
fn a_section_that_was_never_seen_with_a_slash_gets_none() {
    let mut rows = Rows::new();
    for page in 0..60 {
        let blog = format!("http://m.example/blog/p-{page}/");
        rows.shows(&blog, page, None);
        let news = format!("http://m.example/news/p-{page}");
        rows.shows(&news, 1000 + page, None);
        if page % 2 == 0 {
            rows.redirects(blog.trim_end_matches('/'), &blog);
            rows.redirects(&format!("{news}/"), &news);
        }
        if page < 20 {
            rows.shows(&format!("http://m.example/tech/p-{page}"), 2000 + page, None);
        }
    }
    let training = rows.learn(&[]);
    for page in [3, 99] {
        let url = format!("http://m.example/tech/p-{page}");
        assert_eq!(canonical(&training, &url), url);
    }
}

#[test]
fn a_number_whose_name_only_the_site_knows_gets_no_slash() {
    let mut rows = Rows::new();
    let sections = [("blog", "/"), ("shop", "/"), ("help", "")];
    for page in 0..120 {
        let (section, slash) = sections[page as usize * 7 % 3];
        let base = format!("http://m.example/{section}/name-{page}");
        let url = format!("{base}{slash}");
        rows.shows(&url, page, None);
        if page % 2 == 0 {
            rows.redirects(&format!("{base}{}", if slash.is_empty() { "/" } else { "" }), &url);
        }
        if page % 4 == 0 {
            rows.redirects(&format!("http://m.example/index.php?id={page}"), &url);
        }
    }
    let training = rows.learn(&[]);
    for page in [3, 4, 999] {
        let url = canonical(&training, &format!("http://m.example/index.php?id={page}"));
        assert!(!url.contains("index.php/"), "{url}");
    }
}

#[test]
fn what_redirects_is_not_written_for_what_redirects() {
    let mut rows = Rows::new();
    for page in 0..80 {
        for (section, slash) in [("blog", ""), ("shop", ""), ("news", "/")] {
            let base = format!("m.example/{section}/p-{page}");
            let url = format!("http://{base}{slash}");
            rows.shows(&url, page + 1000 * u32::from(section.as_bytes()[0]), None);
            if page % 2 == 0 {
                rows.redirects(&format!("https://{base}{slash}"), &url);
            }
            if page % 5 == 0 && section == "news" {
                rows.redirects(&format!("https://{base}"), &url);
                rows.redirects(&format!("http://{base}"), &url);
            }
        }
    }
    let training = rows.learn(&[]);
    assert_eq!(canonical(&training, "https://m.example/news/p-99/"), "http://m.example/news/p-99/");
    let url = canonical(&training, "https://m.example/news/p-99");
    assert_ne!(url, "http://m.example/news/p-99");
}
