use std::collections::{BTreeMap, BTreeSet};

use super::*;

fn rows(spec: LyingSpec) -> Vec<LyingRow> {
    let mut rows = Vec::new();
    LyingSite::new(spec).unwrap().each_row(|row| rows.push(row.clone()));
    rows
}

fn rows_of(lie: Lie) -> Vec<LyingRow> {
    rows(LyingSpec::new("a.example", 2_000).lies(Lies::from_iter([lie])).noise(0.0).seed(5))
}

fn path(row: &LyingRow) -> &str {
    row.url.split_once("a.example").unwrap().1
}

fn rows_by_page(rows: &[LyingRow]) -> BTreeMap<u64, Vec<&LyingRow>> {
    let mut by_page: BTreeMap<u64, Vec<&LyingRow>> = BTreeMap::new();
    rows.iter().for_each(|row| by_page.entry(row.page).or_default().push(row));
    by_page
}

fn digests<'r>(rows: &[&'r LyingRow]) -> BTreeSet<&'r str> {
    rows.iter().map(|row| row.text_digest.as_str()).collect()
}

#[test]
fn a_seed_gives_the_same_rows_and_another_seed_others() {
    let spec = |seed| LyingSpec::new("a.example", 1_500).seed(seed);
    assert_eq!(rows(spec(1)), rows(spec(1)));
    let [one, two] = [1, 2].map(|seed| rows(spec(seed)));
    let in_place = one.iter().zip(&two).filter(|(one, two)| one.url == two.url).count();
    assert!(in_place < 15, "{in_place} URLs are in the same place");
}

#[test]
fn urls_are_distinct_and_as_many_as_asked_for() {
    for lie in Lie::ALL {
        let rows = rows_of(lie);
        let urls: BTreeSet<&str> = rows.iter().map(|row| row.url.as_str()).collect();
        assert_eq!((rows.len(), urls.len()), (2_000, 2_000), "{lie}");
    }
    let site = LyingSite::new(LyingSpec::new("a.example", 3_000)).unwrap();
    let mut pages = BTreeSet::new();
    site.each_row(|row| {
        pages.insert(row.page);
    });
    assert_eq!((site.urls(), site.pages()), (3_000, pages.len() as u64));
    assert!(site.pages() * 10 < 3_000 * 9, "{} pages leave little to learn", site.pages());
}

#[test]
fn lists_name_page_one_as_canonical_and_their_contents_differ() {
    let rows = rows_of(Lie::CanonicalToFirstPage);
    let blog: Vec<&LyingRow> = rows.iter().filter(|row| path(row).starts_with("/blog/list")).collect();
    assert!(blog.len() > 200);
    for row in &blog {
        assert_eq!(row.canonical.as_deref(), Some("https://www.a.example/blog/list"));
        assert_eq!(row.title, blog[0].title);
    }
    let contents: BTreeSet<u64> = blog.iter().map(|row| row.content).collect();
    assert_eq!(contents.len(), digests(&blog).len());
    assert!(contents.len() > 200);
    let number_of = |path: &str| rows.iter().find(|row| row.url.ends_with(path)).map(|row| row.page);
    assert_eq!(number_of(".example/blog/list"), number_of("/blog/list?page=1"));
    assert_ne!(number_of("/blog/list?page=2"), number_of("/blog/list?page=1"));
}

#[test]
fn the_canonical_url_of_reviews_redirects() {
    let rows = rows_of(Lie::CanonicalToRedirect);
    let by_url: BTreeMap<&str, &LyingRow> = rows.iter().map(|row| (row.url.as_str(), row)).collect();
    let mut redirects = 0;
    for review in rows.iter().filter(|row| path(row).contains("&review=")) {
        let canonical = review.canonical.as_deref().unwrap();
        if let Some(target) = by_url.get(canonical) {
            assert_eq!(target.status, 301);
            assert_eq!(target.redirect, Some(canonical.replace("/review?", "/reviews?")));
            assert_eq!((target.clues().text_digest, target.clues().title), (None, None));
            redirects += 1;
        }
    }
    assert!(redirects > 300, "{redirects}");
}

#[test]
fn pages_that_name_the_home_page_are_others() {
    let rows = rows_of(Lie::CanonicalToHome);
    let to_home: Vec<&LyingRow> =
        rows.iter().filter(|row| row.canonical.as_deref() == Some("https://www.a.example/")).collect();
    let pages: BTreeSet<u64> = to_home.iter().map(|row| row.page).collect();
    assert!(pages.len() > 500);
    assert_eq!(pages.len(), digests(&to_home).len());
}

#[test]
fn near_identical_pages_differ_by_few_bits_and_are_different_contents() {
    let rows = rows_of(Lie::NearIdentical);
    let orders: Vec<&LyingRow> = rows.iter().filter(|row| path(row).starts_with("/order/")).collect();
    assert!(orders.len() > 200);
    for pair in orders.windows(2).filter(|pair| pair[0].page != pair[1].page) {
        assert_ne!(pair[0].content, pair[1].content);
        assert_ne!(pair[0].text_digest, pair[1].text_digest);
        assert_eq!(pair[0].title, pair[1].title);
        assert!((pair[0].simhash ^ pair[1].simhash).count_ones() <= 8);
    }
}

#[test]
fn a_filter_is_idle_in_four_categories_of_five() {
    let rows = rows_of(Lie::IdleFilter);
    let plain = |row: &LyingRow| {
        let path = path(row).to_owned();
        (path.starts_with("/find") && !path.contains("utm_") && !path.contains("id=")).then_some(path)
    };
    let mut pages_by_category: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    let mut facets: BTreeMap<String, Vec<&LyingRow>> = BTreeMap::new();
    for row in &rows {
        match plain(row) {
            Some(path) if path.contains("_facet=") => {
                let (category, _) = path.split_once("&_facet=").unwrap();
                facets.entry(category.to_owned()).or_default().push(row);
            }
            Some(path) => {
                let category = path.split('&').next().unwrap_or_default().to_owned();
                pages_by_category.entry(category).or_default().insert(row.page);
            }
            None => {}
        }
    }
    let idle = pages_by_category.values().filter(|pages| pages.len() == 1).count();
    let filtering = pages_by_category.len() - idle;
    assert!(filtering > 10 && (3 * filtering..=5 * filtering).contains(&idle), "{idle} {filtering}");
    let mut pairs = 0;
    for category in facets.values() {
        for pair in category.windows(2).filter(|pair| pair[0].page != pair[1].page) {
            assert_ne!(pair[0].text_digest, pair[1].text_digest);
            assert!((pair[0].simhash ^ pair[1].simhash).count_ones() < 20);
            pairs += 1;
        }
    }
    assert!(pairs > 100);
}

#[test]
fn errors_take_the_place_of_some_pages() {
    let rows = rows_of(Lie::SoftError);
    let soft: Vec<&LyingRow> = rows.iter().filter(|row| row.content == ERROR_CONTENT).collect();
    assert!((40..=80).contains(&soft.len()), "{}", soft.len());
    assert_eq!(digests(&soft).len(), 1);
    assert!(soft.iter().all(|row| row.status == 200));
    let hard = rows.iter().filter(|row| row.status != 200);
    assert!((10..=50).contains(&hard.clone().count()));
    assert!(hard.clone().all(|row| row.clues().simhash.is_none() && row.canonical.is_none()));
}

#[test]
fn an_editor_differs_at_every_fetch() {
    let rows = rows_of(Lie::ChangingPages);
    let rules: Vec<&LyingRow> = rows.iter().filter(|row| path(row).contains("do=edit")).collect();
    assert_eq!(digests(&rules).len(), rules.len());
    let pages: BTreeSet<u64> = rules.iter().map(|row| row.page).collect();
    assert!(pages.len() < rules.len(), "no page has two URLs");
}

#[test]
fn a_view_matters_in_one_section_of_ten() {
    let rows = rows_of(Lie::SectionMatters);
    let mut has_two_pages: BTreeMap<&str, bool> = BTreeMap::new();
    let mut page_by_path: BTreeMap<&str, u64> = BTreeMap::new();
    for row in rows.iter().filter(|row| path(row).contains("view=")) {
        let path = path(row).split('?').next().unwrap();
        let section = path.split('/').nth(1).unwrap();
        let page = *page_by_path.entry(path).or_insert(row.page);
        *has_two_pages.entry(section).or_default() |= page != row.page;
    }
    assert_eq!(has_two_pages.len(), 10);
    assert_eq!(has_two_pages.values().filter(|has| **has).count(), 1);
}

#[test]
fn without_noise_all_urls_of_a_page_show_the_same_text() {
    let lies: Lies = Lie::ALL.into_iter().filter(|lie| *lie != Lie::ChangingPages).collect();
    let rows = rows(LyingSpec::new("a.example", 4_000).lies(lies).seed(3));
    let mut tracked = 0;
    for rows in rows_by_page(&rows).values() {
        let shown: Vec<&LyingRow> =
            rows.iter().copied().filter(|row| row.status == 200 && row.content != ERROR_CONTENT).collect();
        assert!(digests(&shown).len() <= 1, "{shown:#?}");
        let is_tracked =
            |row: &&&LyingRow| ["utm_", "gclid=", "sid="].iter().any(|name| row.url.contains(name));
        tracked += shown.iter().filter(is_tracked).count();
    }
    assert!(tracked > 500, "{tracked}");
}

#[test]
fn noise_changes_the_asked_share_of_fetches_by_a_few_bits() {
    let rows = rows(LyingSpec::new("a.example", 4_000).lies(Lies::default()).noise(0.2).seed(3));
    let (mut pairs, mut differing, mut bits) = (0_u32, 0_u32, 0);
    for rows in rows_by_page(&rows).values() {
        for pair in rows.chunks_exact(2) {
            pairs += 1;
            differing += u32::from(pair[0].text_digest != pair[1].text_digest);
            bits += (pair[0].simhash ^ pair[1].simhash).count_ones();
        }
    }
    // Two fetches agree where neither of them is noisy.
    let share = f64::from(differing) / f64::from(pairs);
    assert!((0.31..0.41).contains(&share), "{share}");
    assert!(bits > 0 && f64::from(bits) < 6.0 * f64::from(differing), "{bits} bits");
}

#[test]
fn lines_name_the_columns_of_a_crawl() {
    let page = LyingRow {
        url: "https://www.a.example/item?id=7&sid=9".to_owned(),
        page: 12,
        content: 12,
        status: 200,
        title: "amber 7".to_owned(),
        text_digest: "00000000000000aa".to_owned(),
        simhash: 0xff,
        words: 200,
        canonical: Some("https://www.a.example/item?id=7".to_owned()),
        redirect: None,
    };
    let moved = LyingRow { status: 301, canonical: None, redirect: page.canonical.clone(), ..page.clone() };
    let mut out = Vec::new();
    page.append_observation(&mut out);
    moved.append_observation(&mut out);
    moved.append_truth(&mut out);
    let expected = concat!(
        r#"{"url":"https://www.a.example/item?id=7&sid=9","status":200,"title":"amber 7","#,
        r#""text_digest":"00000000000000aa","simhash":"00000000000000ff","words":200,"#,
        r#""canonical":"https://www.a.example/item?id=7"}"#,
        "\n",
        r#"{"url":"https://www.a.example/item?id=7&sid=9","status":301,"#,
        r#""redirect":"https://www.a.example/item?id=7"}"#,
        "\n",
        r#"{"url":"https://www.a.example/item?id=7&sid=9","page":12}"#,
        "\n",
    );
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[test]
fn impossible_sites_are_refused() {
    assert!(LyingSite::new(LyingSpec::new("a", 10)).is_err());
    let error = LyingSite::new(LyingSpec::new("a.example", 10).noise(1.5)).unwrap_err();
    assert_eq!(error.to_string(), "share of noise is 1.5, expected a number from 0 to 1");
    assert_eq!(LyingSite::new(LyingSpec::new("a.example", 0)).unwrap().pages(), 0);
}
