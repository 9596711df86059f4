//! Synthetic sites are what they claim to be: same bytes, true pages, real duplicates, known noise, Table 1.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

#[path = "simulate_site/oracle.rs"]
mod oracle;

use std::collections::{BTreeMap, HashMap, HashSet};

use dedust::ParsedUrl;
use dedust_simulate::{Noise, Phenomena, Phenomenon, Profile, Site, SiteSpec, Statistics};

use self::oracle::{Aliases, Parts};

struct Line {
    url: Vec<u8>,
    page: u64,
    label: u64,
    phenomenon: Option<Phenomenon>,
}

fn lines(spec: SiteSpec) -> Vec<Line> {
    let site = Site::new(spec).unwrap();
    let mut lines = Vec::new();
    site.visit_rows(|row| {
        let (page, label, phenomenon) = (row.page, row.label, row.phenomenon);
        lines.push(Line { url: row.url.to_vec(), page, label, phenomenon });
        Ok::<(), ()>(())
    })
    .unwrap();
    lines
}

fn every_single_site(urls: u64) -> impl Iterator<Item = (Phenomenon, Vec<Line>)> {
    Phenomenon::ALL
        .into_iter()
        .map(move |phenomenon| (phenomenon, lines(SiteSpec::single(phenomenon, urls, 3))))
}

fn json(spec: SiteSpec) -> (Vec<u8>, Vec<u8>) {
    let (mut observations, mut truth) = (Vec::new(), Vec::new());
    Site::new(spec).unwrap().write_json_lines(&mut observations, &mut truth).unwrap();
    (observations, truth)
}

fn noisy() -> SiteSpec {
    SiteSpec::new("a.example", 20_000)
        .duplicated_pages(5_000)
        .singletons(0.2)
        .noise(Noise { fake: 0.1, fragmented: 0.05 })
        .seed(11)
}

#[test]
fn the_same_specification_gives_the_same_bytes_everywhere() {
    let (observations, truth) = json(noisy());
    let digests = [&observations, &truth].map(|bytes| xxhash_rust::xxh3::xxh3_64(bytes));
    // A change here changes every recorded experiment: it must be meant.
    assert_eq!(digests.map(|digest| format!("{digest:016x}")), ["60b73609da0fdd9b", "5996bc6e20342629"]);
    assert_ne!(json(noisy().seed(12)).0, observations);
}

#[test]
fn lines_are_observations_and_truth() {
    let (observations, truth) = json(SiteSpec::new("a.example", 50).first_label(700));
    let observation =
        String::from_utf8(observations.split(|&byte| byte == b'\n').next().unwrap().into()).unwrap();
    let truth = String::from_utf8(truth.split(|&byte| byte == b'\n').next().unwrap().into()).unwrap();
    assert!(observation.starts_with(r#"{"url":"http"#), "{observation}");
    assert!(observation.ends_with('}'), "{observation}");
    assert_eq!(observation.replace(r#""cluster":7"#, r#""page":7"#), truth);
}

#[test]
fn urls_parse_belong_to_the_site_and_are_safe_normal_as_intended() {
    for (phenomenon, lines) in every_single_site(3_000) {
        let mut unsafe_urls = 0;
        for line in &lines {
            let parsed = ParsedUrl::parse(&line.url).unwrap();
            let site = dedust::site_of(parsed.host());
            let second = format!("{phenomenon}.test").into_bytes();
            assert!(site == format!("{phenomenon}.example").as_bytes() || site == second);
            assert!(site != second || phenomenon == Phenomenon::CrossDomainMirror);
            assert!(line.url.iter().all(|byte| byte.is_ascii_graphic() && !b"\"\\".contains(byte)));
            unsafe_urls += usize::from(parsed.as_bytes() != line.url);
        }
        assert_eq!(unsafe_urls == 0, phenomenon.is_safe_normal(), "{phenomenon}: {unsafe_urls}");
    }
}

#[test]
fn no_url_comes_twice_even_after_safe_normalization() {
    let sites = every_single_site(5_000).map(|(_, lines)| lines).chain([lines(noisy())]);
    for lines in sites {
        let mut seen = HashSet::new();
        for line in &lines {
            let normal = ParsedUrl::parse(&line.url).unwrap().as_bytes().to_vec();
            assert!(seen.insert(normal), "twice: {}", line.url.escape_ascii());
        }
    }
}

#[test]
fn the_right_rule_of_each_phenomenon_finds_exactly_its_pages() {
    for (phenomenon, lines) in every_single_site(6_000) {
        if phenomenon == Phenomenon::DatabaseMapping {
            continue;
        }
        let lines: Vec<Line> = lines.into_iter().filter(|line| line.phenomenon.is_some()).collect();
        let aliases = aliases(&lines);
        let mut page_by_key = HashMap::new();
        let mut key_by_page = HashMap::new();
        let mut duplicates = 0;
        for line in &lines {
            let key = oracle::key(phenomenon, &line.url, &aliases);
            let url = line.url.escape_ascii();
            assert_eq!(
                *page_by_key.entry(key.clone()).or_insert(line.page),
                line.page,
                "{phenomenon}: {url}"
            );
            let first = key_by_page.entry(line.page).or_insert_with(|| key.clone());
            assert_eq!(*first, key, "{phenomenon}: {url}");
            duplicates += 1;
        }
        assert!(duplicates > key_by_page.len() + 20, "{phenomenon} has too few duplicates");
    }
}

/// What the clusters say about names and numbers of categories.
fn aliases(lines: &[Line]) -> Aliases {
    let mut names: HashMap<u64, String> = HashMap::new();
    let parts: Vec<(u64, Parts)> = lines.iter().map(|line| (line.page, Parts::of(&line.url))).collect();
    names.extend(parts.iter().filter_map(|(page, parts)| Some((*page, parts.value("cat")?.to_owned()))));
    let number =
        |(page, parts): &(u64, Parts)| Some((names.get(page)?.clone(), parts.value("c")?.to_owned()));
    parts.iter().filter_map(number).collect()
}

#[test]
fn a_database_mapping_follows_no_line() {
    let (_, lines) = every_single_site(3_000).last().unwrap();
    let number = |url: &[u8]| {
        String::from_utf8_lossy(url).rsplit('/').next().and_then(|text| text.parse::<i64>().ok())
    };
    let mut offsets = HashSet::new();
    let mut by_page: HashMap<u64, Vec<i64>> = HashMap::new();
    for line in lines.iter().filter(|line| line.phenomenon.is_some()) {
        by_page.entry(line.page).or_default().extend(number(&line.url));
    }
    let pairs = by_page.values().filter(|numbers| numbers.len() > 1).count();
    offsets
        .extend(by_page.values().filter(|numbers| numbers.len() > 1).map(|numbers| numbers[0] - numbers[1]));
    assert!(pairs > 100 && offsets.len() > pairs * 9 / 10, "{} offsets of {pairs} pairs", offsets.len());
}

#[test]
fn some_urls_differ_in_one_token_and_must_not_be_merged() {
    for (phenomenon, lines) in every_single_site(3_000) {
        let mut page_by_rest: HashMap<Vec<&[u8]>, u64> = HashMap::new();
        let mut found = false;
        for line in lines.iter().filter(|line| line.phenomenon.is_some()) {
            let tokens: Vec<&[u8]> = line.url.split(|byte| b"/?&=.".contains(byte)).collect();
            for at in 0..tokens.len() {
                let mut rest = tokens.clone();
                rest[at] = b"*";
                found |= *page_by_rest.entry(rest).or_insert(line.page) != line.page;
            }
            if found {
                break;
            }
        }
        assert!(found, "{phenomenon} has no near miss");
    }
}

#[test]
fn every_relevant_key_of_the_background_separates_pages() {
    let lines = lines(SiteSpec::new("a.example", 20_000).duplicated_pages(5_000));
    for name in ["id", "lang", "page"] {
        let mut pages_by_rest: BTreeMap<_, HashSet<u64>> = BTreeMap::new();
        for line in lines.iter().filter(|line| line.phenomenon.is_none()) {
            let mut query = Parts::of(&line.url).query;
            query.retain(|param| param.0 != name && ["id", "lang", "page"].contains(&param.0.as_str()));
            pages_by_rest.entry(query).or_default().insert(line.page);
        }
        let mixed = pages_by_rest.values().filter(|pages| pages.len() > 1).count();
        assert!(mixed * 2 > pages_by_rest.len(), "{name}: {mixed} of {}", pages_by_rest.len());
    }
}

#[test]
fn rows_of_a_page_are_apart_and_can_be_had_alone() {
    let site = Site::new(noisy()).unwrap();
    let lines = lines(noisy());
    let neighbours = lines.windows(2).filter(|pair| pair[0].page == pair[1].page).count();
    assert!(neighbours < 400, "{neighbours} of {} follow a duplicate", lines.len());
    let mut url = Vec::new();
    let row = site.row(12_345, &mut url);
    assert_eq!(
        (row.url, row.page, row.label),
        (&*lines[12_345].url, lines[12_345].page, lines[12_345].label)
    );
}

#[test]
fn noise_is_as_frequent_as_asked_for() {
    let lines = lines(noisy().noise(Noise { fake: 0.15, fragmented: 0.05 }));
    let mut urls_by_label: HashMap<u64, usize> = HashMap::new();
    lines.iter().for_each(|line| *urls_by_label.entry(line.label).or_default() += 1);
    let pages: HashSet<u64> = lines.iter().map(|line| line.page).collect();
    let share = |is_counted: &dyn Fn(&&Line) -> bool| {
        lines.iter().filter(is_counted).count() as f64 / lines.len() as f64
    };
    let fresh = |line: &&Line| !pages.contains(&line.label) && urls_by_label[&line.label] == 1;
    let giant = |line: &&Line| !pages.contains(&line.label) && urls_by_label[&line.label] > 1;
    let swapped = |line: &&Line| pages.contains(&line.label) && line.label != line.page;
    for (name, found, wanted) in
        [("fresh", share(&fresh), 0.05), ("giant", share(&giant), 0.075), ("swapped", share(&swapped), 0.075)]
    {
        assert!((found - wanted).abs() < 0.006, "{name}: {found}, expected {wanted}");
    }
}

#[test]
fn wrong_specifications_are_refused() {
    let message = |spec: SiteSpec| Site::new(spec).unwrap_err().to_string();
    assert_eq!(
        message(SiteSpec::new("A.example", 9)),
        "invalid domain `A.example`, expected one such as `a.example`, in lower case"
    );
    assert_eq!(
        message(SiteSpec::new("a.example", 9).noise(Noise { fake: 0.7, fragmented: 0.4 })),
        "share of fake and fragmented together is 1.1, expected a number from 0 to 1"
    );
    assert!(Site::new(SiteSpec::new("localhost", 9)).is_err());
    assert!(Site::new(SiteSpec::new("a.example", 9).singletons(f64::NAN)).is_err());
}

/// Table 1 of the WWW 2010 paper, URLs, clusters and cluster sizes scaled.
fn check_table_1(found: &Statistics, scale: f64) {
    let close = |name: &str, found: f64, wanted: f64| {
        assert!((found - wanted).abs() <= 0.1 * wanted, "{name}: {found}, expected {wanted} within 10 %");
    };
    close("least URLs", found.urls_per_site.min as f64, 24_147.0 * scale);
    close("most URLs", found.urls_per_site.max as f64, 3_000_000.0 * scale);
    close("mean URLs", found.urls_per_site.mean, 352_106.0 * scale);
    close("least clusters", found.pages_per_site.min as f64, 158.0 * scale);
    close("most clusters", found.pages_per_site.max as f64, 976_862.0 * scale);
    close("mean clusters", found.pages_per_site.mean, 92_365.0 * scale);
    assert_eq!(found.urls_per_page.min, 2);
    close("largest cluster", found.urls_per_page.max as f64, 314_465.0 * scale);
    close("mean cluster", found.urls_per_page.mean, 3.81);
    close("duplicate rate", found.mean_duplicate_rate, 0.6336);
}

#[test]
fn the_www10_profile_has_the_statistics_of_the_paper() {
    for (sites, mean) in [(200, 350_000), (200, 352_106), (100, 352_106), (50, 352_106), (300, 100_000)] {
        let sites = Profile::plan(Profile::Www10.site_specs(sites, mean, 0)).unwrap();
        check_table_1(&Statistics::of(&sites), mean as f64 / 352_106.0);
    }
}

#[test]
fn generated_sites_have_the_planned_statistics() {
    let scale = 0.05;
    let sites = Profile::plan(Profile::Www10.site_specs(40, 17_605, 5)).unwrap();
    let planned = Statistics::of(&sites);
    let mut counted = Statistics { mean_duplicate_rate: planned.mean_duplicate_rate, ..planned };
    let mut labels = HashSet::new();
    let (mut largest, mut smallest) = (0, u64::MAX);
    for site in &sites {
        let mut urls_by_page: HashMap<u64, u64> = HashMap::new();
        site.visit_rows(|row| {
            *urls_by_page.entry(row.page).or_default() += 1;
            Ok::<(), ()>(())
        })
        .unwrap();
        assert_eq!(urls_by_page.len() as u64, site.pages());
        assert_eq!(urls_by_page.values().sum::<u64>(), site.spec().urls());
        largest = largest.max(urls_by_page.values().copied().max().unwrap());
        smallest = smallest.min(urls_by_page.values().copied().min().unwrap());
        labels.extend(urls_by_page.into_keys());
    }
    assert_eq!(labels.len() as u64, planned.pages, "sites share no labels");
    (counted.urls_per_page.max, counted.urls_per_page.min) = (largest, smallest);
    assert_eq!(counted, planned);
    check_table_1(&counted, scale);
}

#[test]
fn profiles_treat_phenomena_alike_and_domains_are_sites() {
    for (profile, per_site) in [(Profile::Www10, 8), (Profile::Small, 1)] {
        let specs = profile.site_specs(100, 2_000, 1);
        let sites = Profile::plan(specs).unwrap();
        let mut sites_by_phenomenon: HashMap<Phenomenon, usize> = HashMap::new();
        for site in &sites {
            let domain = site.spec().domain();
            assert_eq!(dedust::site_of(format!("www.{domain}").as_bytes()), domain.as_bytes());
            assert_eq!(site.spec().chosen_phenomena().len(), per_site);
            site.spec()
                .chosen_phenomena()
                .iter()
                .for_each(|one| *sites_by_phenomenon.entry(one).or_default() += 1);
        }
        assert_eq!(sites_by_phenomenon.len(), Phenomenon::ALL.len());
        assert!(sites_by_phenomenon.values().all(|&sites| sites == 4 * per_site));
    }
    let some: Phenomena = "mirrors,glued-slug".parse().unwrap();
    let specs = Profile::Www10.site_specs_of(some, 3, 1_000, 0);
    assert!(specs.iter().all(|spec| spec.chosen_phenomena() == some));
    assert_eq!(specs.iter().map(SiteSpec::urls).sum::<u64>() / 100, 29);
}
