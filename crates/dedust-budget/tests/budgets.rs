//! What gets a budget and what does not, in any order, and what people decide.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use dedust_budget::{BudgetBook, Budgets, Crawl, Decision, LookupScratch, PageText, Verdict, learn};

/// A wiki: articles, their versions, a login page under many URLs, and an archive with a page of its own for each day.
fn rows() -> Vec<(String, Vec<u64>)> {
    let mut rows = Vec::new();
    for number in 0..300u64 {
        let article: Vec<u64> = (0..20).map(|line| 1_000 * number + line).collect();
        rows.push((format!("http://a.example/wiki/{number}"), article.clone()));
        for version in 1..4 {
            let old = article.iter().copied().filter(|line| line % 7 != version).collect();
            rows.push((format!("http://a.example/wiki/{number}?version={version}"), old));
        }
        rows.push((format!("http://a.example/login?from={number}"), vec![1, 2, 3]));
        let day = (0..5).map(|line| 500_000_000 + 1_000 * number + line).collect();
        rows.push((format!("http://a.example/archive/{}/{}/", number / 28, number % 28), day));
    }
    rows
}

fn crawl<'r>(rows: impl IntoIterator<Item = &'r (String, Vec<u64>)>) -> Crawl {
    let mut crawl = Crawl::new();
    for (url, lines) in rows {
        crawl.observe(url.as_bytes(), PageText { lines, ..PageText::default() }, 0);
    }
    crawl
}

fn saved(budgets: &Budgets) -> String {
    let mut bytes = Vec::new();
    budgets.save(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// How many of a thousand URLs, with numbers for `N`, are fetched.
fn fetched(budgets: &Budgets, url: &str) -> usize {
    let (book, mut scratch) = (BudgetBook::new(budgets), LookupScratch::default());
    let urls = (1_000..2_000).map(|number: u32| url.replace('N', &number.to_string()));
    urls.filter(|url| book.decide(url.as_bytes(), &mut scratch) == Decision::Fetch).count()
}

#[test]
fn worthless_spaces_have_budgets_and_others_have_none() {
    let rows = rows();
    let budgets = learn(crawl(&rows), 0.99);
    assert!(fetched(&budgets, "http://a.example/wiki/N?version=2") < 50);
    assert!(fetched(&budgets, "http://a.example/login?from=N") < 50);
    for worth in ["http://a.example/wiki/N", "http://a.example/archive/7/N/", "http://b.example/login?from=N"]
    {
        assert_eq!(fetched(&budgets, worth), 1_000, "{worth}");
    }
    let login = budgets.patterns.iter().find(|pattern| pattern.to_string().contains("from")).unwrap();
    assert_eq!((login.verdict, login.seen.pages), (Verdict::Sink, 1));
}

#[test]
fn order_changes_nothing() {
    let rows = rows();
    let expected = saved(&learn(crawl(&rows), 0.99));
    assert_eq!(saved(&learn(crawl(rows.iter().rev()), 0.99)), expected);
    let (left, right): (Vec<_>, Vec<_>) = rows.iter().partition(|(url, _)| url.len() % 2 == 0);
    assert_eq!(saved(&learn(crawl(right.into_iter().chain(left)), 0.99)), expected);
}

#[test]
fn without_lines_only_sinks_have_budgets() {
    let mut crawl = Crawl::new();
    for number in 0..300u64 {
        let answer = |answer| PageText { answer: Some(answer), ..PageText::default() };
        crawl.observe(format!("http://a.example/login?from={number}").as_bytes(), answer(7), 0);
        // Each page has two URLs, and its text is the same at both.
        for copy in ["p", "q"] {
            crawl.observe(
                format!("http://a.example/page/{number}?{copy}=1").as_bytes(),
                answer(1_000 + number),
                0,
            );
        }
    }
    let budgets = learn(crawl, 0.99);
    assert!(fetched(&budgets, "http://a.example/login?from=N") < 50);
    assert_eq!(fetched(&budgets, "http://a.example/page/N?p=1"), 1_000);
}

#[test]
fn decisions_survive_learning_again() {
    let rows = rows();
    let mut earlier = learn(crawl(&rows), 0.99);
    let version =
        earlier.patterns.iter_mut().find(|pattern| pattern.to_string().contains("version")).unwrap();
    (version.fetch, version.decided) = (0.5, true);
    let earlier = Budgets::load(saved(&earlier).as_bytes()).unwrap();
    let mut later = learn(crawl(&rows[300..]), 0.99);
    assert_eq!(later.keep(&earlier), 1);
    let half = fetched(&later, "http://a.example/wiki/N?version=2");
    assert!((400..600).contains(&half), "{half}");
    assert_eq!(fetched(&later, "http://a.example/wiki/N"), 1_000);
}

#[test]
fn files_that_cannot_be_used_are_refused() {
    let refused = |text: &str| Budgets::load(text.as_bytes()).unwrap_err().to_string();
    let with = |pattern: &str| format!(r#"{{"version":1,"keep_text":0.99,"patterns":[{pattern}]}}"#);
    assert_eq!(refused("[]"), "not a file of budgets");
    assert_eq!(
        refused(r#"{"version":2,"keep_text":1,"patterns":[]}"#),
        "budgets have format version 2, expected 1"
    );
    assert_eq!(
        refused(&with(r#"{"host":"a.example","when":[],"fetch":1.5}"#)),
        "pattern 0 has fetch 1.5, expected a number from 0 to 1"
    );
    let unknown = refused(&with(r#"{"host":"a.example","when":[{"part":"color","is":"red"}],"fetch":1}"#));
    assert!(unknown.starts_with("pattern 0 tests the part `color`, expected one of depth, "), "{unknown}");
    assert!(Budgets::load(with("").as_bytes()).is_ok());
}

#[test]
fn nothing_is_learned_of_nothing() {
    assert!(learn(Crawl::new(), 0.99).patterns.is_empty());
}
