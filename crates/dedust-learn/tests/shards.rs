//! A crawl that is spread over many processes is learned from as by one: the same rules to the byte, and the same reports, however
//! its observations are dealt out.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::collections::BTreeMap;

use dedust_learn::errors::{SampleError, TrainSampleError};
use dedust_learn::support::{
    Census, Purpose, SamplePlan, SampleSize, ShardSampler, Sightings, SiteSize, Stage, StoredSite, Unchecked,
    find_mirrors,
};
use dedust_learn::{Clues, CrawlStore, EvidenceKinds, StoredCrawl, Trainer, Training};

/// One observation.
#[derive(Clone, Debug)]
struct Row {
    url: String,
    digest: Option<String>,
    cluster: Option<String>,
    redirect: Option<String>,
    time: &'static str,
}

impl Row {
    fn new(url: String, digest: impl Into<String>) -> Self {
        Self { url, digest: Some(digest.into()), cluster: None, redirect: None, time: "2026-05-01" }
    }

    fn clues(&self) -> Clues<'_> {
        Clues {
            digest: self.digest.as_ref().map(String::as_bytes),
            cluster: self.cluster.as_ref().map(String::as_bytes),
            redirect: self.redirect.as_ref().map(String::as_bytes),
            status: Some(if self.redirect.is_some() { 301 } else { 200 }),
            ..Clues::default()
        }
    }
}

/// A number that looks like chance.
fn chance(seed: u64) -> u64 {
    let mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ (mixed >> 31)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 7
}

/// Twenty shops with sessions and tracking, one of them with a third of all rows; one whose parameter matters; an old domain that leads
/// to a new one.
fn crawl() -> Vec<Row> {
    let mut rows = Vec::new();
    for site in 0..20_u64 {
        for page in 0..if site == 0 { 3000 } else { 40 + 7 * site } {
            for visit in 0..3 {
                let session = chance(site << 40 | page << 8 | visit);
                let url = match site % 3 {
                    0 => format!("http://shop{site}.example/view?id={page}&sid={session:x}"),
                    1 => format!("http://www.shop{site}.example/p/{page}?utm_source={}", session % 9),
                    _ => format!("http://shop{site}.example/p/{page};jsessionid={session:X}"),
                };
                rows.push(Row::new(url, format!("{site} {page}")));
            }
        }
    }
    for page in 0..300 {
        rows.push(Row::new(format!("http://pages.example/list?page={page}"), format!("list {page}")));
    }
    for page in 0..60 {
        let new = format!("https://new.example/a/{page}");
        let old = Row::new(format!("http://old.example/a/{page}"), "moved");
        rows.push(Row { digest: None, redirect: Some(new.clone()), ..old });
        rows.push(Row::new(new, format!("new {page}")));
    }
    rows.push(Row { time: "2026-06-01", ..Row::new("ftp://shop1.example/file".into(), "file") });
    rows
}

fn sample() -> SampleSize {
    SampleSize::new(0.2, 1500).unwrap()
}

fn trainer() -> Trainer {
    Trainer::builder().build().unwrap()
}

/// What users get: the rule file, and the report of each site.
fn result(training: &Training) -> (String, Vec<String>) {
    let mut rules = Vec::new();
    training.rules.save(&mut rules).unwrap();
    let reports = training.sites.iter().map(|site| format!("{site:?}")).collect();
    (String::from_utf8(rules).unwrap(), reports)
}

fn by_one_process(rows: &[Row]) -> (String, Vec<String>) {
    let mut store = CrawlStore::new(EvidenceKinds::AUTO, sample()).with_mirrors();
    for row in rows {
        store.observe(row.url.as_bytes(), &row.clues(), Some(row.time.as_bytes())).unwrap();
    }
    result(&trainer().train_stored(&store.finish().unwrap(), &()).unwrap())
}

/// Deals rows out to so many processes.
fn deal(rows: &[Row], processes: usize, seed: u64) -> Vec<Vec<Row>> {
    let mut shards = vec![Vec::new(); processes];
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&index| chance(seed ^ index as u64));
    for index in order {
        shards[chance(seed + index as u64) as usize % processes].push(rows[index].clone());
    }
    shards
}

fn by_shards_on_disk(shards: &[Vec<Row>]) -> (String, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let stored = shards.iter().enumerate().map(|(number, rows)| {
        let folder = folder.path().join(number.to_string());
        let store = CrawlStore::new(EvidenceKinds::AUTO, sample()).with_mirrors();
        let mut store = store.spill_to(&folder, 100_000);
        for row in rows {
            store.observe(row.url.as_bytes(), &row.clues(), Some(row.time.as_bytes())).unwrap();
        }
        (folder, store.suspend().unwrap())
    });
    let stored: Vec<_> = stored.collect();
    let crawl = StoredCrawl::of_suspended(EvidenceKinds::AUTO, sample(), &stored, Some(&[])).unwrap();
    result(&trainer().train_stored(&crawl, &()).unwrap())
}

/// What all processes drew, by site.
fn draw(shards: &[Vec<Row>], plan: &SamplePlan, stage: Stage) -> BTreeMap<String, Vec<Vec<u8>>> {
    let mut drawn: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
    let mut send = |site: &str, record: &[u8]| drawn.entry(site.into()).or_default().push(record.into());
    for rows in shards {
        let mut sampler = ShardSampler::new(plan, stage, Purpose::Learn);
        for row in rows {
            let time = Some(row.time.as_bytes());
            sampler.observe(row.url.as_bytes(), &row.clues(), time, &mut send).unwrap();
        }
        sampler.finish(&mut send);
    }
    drawn
}

/// Learns from rows that are read four times. Gives the sites that had to be drawn again, too.
fn by_samples(shards: &[Vec<Row>], sample: SampleSize) -> (Training, Vec<String>) {
    let mut counted: BTreeMap<Box<str>, StoredSite> = BTreeMap::new();
    let mut sightings = Sightings::default();
    for rows in shards {
        let mut census = Census::new(Purpose::Learn, true);
        for row in rows {
            census.observe(row.url.as_bytes(), &row.clues()).unwrap();
        }
        let (sites, seen) = census.finish();
        for site in sites {
            let all = counted.entry(site.name.clone()).or_insert_with(|| StoredSite::new(site.name));
            all.size += site.size;
        }
        sightings.merge(Sightings::from_bytes(&seen.to_bytes()).unwrap());
    }
    let declared = sightings.declared_sites();
    let mut candidates: Vec<StoredSite> =
        counted.values().filter(|site| declared.iter().any(|name| **name == *site.name)).cloned().collect();
    find_mirrors(sightings, &[], &mut candidates);

    let mut plan = SamplePlan::new(sample);
    counted.values().chain(&candidates).for_each(|site| plan.add(site));
    let pilots = draw(shards, &plan, Stage::Pilot).into_iter().map(|(site, records)| {
        let mut pilot = plan.site(&site, EvidenceKinds::AUTO, Stage::Pilot);
        records.iter().for_each(|record| pilot.take(record).unwrap());
        (site, pilot.find_groups().unwrap())
    });
    let groups: Vec<_> = pilots.collect();
    plan.set_groups(groups);
    let mut learned = vec![trainer().train_mirrors(&candidates).unwrap()];
    let mut again = Vec::new();
    let mut to_check = Vec::new();
    for mut training in by_samples_of(shards, plan.clone(), Stage::Draw, &mut again) {
        to_check.append(&mut training.unchecked);
        learned.push(training);
    }
    // They travel as JSON.
    let travelled = to_check.iter().map(|unchecked| Unchecked::from_json(&unchecked.to_json()).unwrap());
    learned.extend(by_samples_of(shards, plan.to_check(travelled), Stage::Check, &mut again));
    (trainer().unite(learned), again)
}

/// What is made of samples of each site. Sites that have to be drawn again are added to `again`.
fn by_samples_of(
    shards: &[Vec<Row>],
    mut plan: SamplePlan,
    stage: Stage,
    again: &mut Vec<String>,
) -> Vec<Training> {
    let mut made = Vec::new();
    loop {
        let mut too_few = Vec::new();
        for (site, records) in draw(shards, &plan, stage) {
            let mut sample = plan.site(&site, EvidenceKinds::AUTO, stage);
            records.iter().for_each(|record| sample.take(record).unwrap());
            let training = match stage {
                Stage::Check => trainer().check_sample(sample, &()),
                _ => trainer().train_sample(sample, &()),
            };
            match training {
                Ok(training) => made.push(training),
                Err(TrainSampleError::Sample(SampleError::TooFew)) => too_few.push(site),
                Err(error) => panic!("{error}"),
            }
        }
        if too_few.is_empty() {
            return made;
        }
        plan = plan.wider(too_few.iter().map(String::as_str));
        again.append(&mut too_few);
    }
}

#[test]
fn processes_that_share_a_disk_learn_what_one_learns() {
    let rows = crawl();
    let expected = by_one_process(&rows);
    assert!(expected.0.contains("new.example") && expected.0.contains("q.sid"), "{}", expected.0);
    for (processes, seed) in [(1, 1), (3, 2), (16, 3)] {
        assert_eq!(by_shards_on_disk(&deal(&rows, processes, seed)), expected, "{processes} processes");
    }
}

#[test]
fn processes_that_draw_samples_learn_what_one_learns() {
    let rows = crawl();
    let expected = by_one_process(&rows);
    for (processes, seed) in [(1, 1), (4, 2), (30, 3)] {
        let (training, _) = by_samples(&deal(&rows, processes, seed), sample());
        assert_eq!(result(&training), expected, "{processes} processes");
    }
}

#[test]
fn a_page_that_matters_keeps_its_parameter() {
    let (training, _) = by_samples(&deal(&crawl(), 5, 9), sample());
    let normalizer = dedust::Normalizer::compile(&training.rules);
    let url = "http://pages.example/list?page=7";
    assert_eq!(normalizer.key(url).unwrap().as_str(), Some(url));
    assert_eq!(
        normalizer.key("http://shop0.example/view?id=7&sid=1").unwrap(),
        normalizer.key("http://shop0.example/view?sid=2&id=7").unwrap()
    );
}

/// Sites of which most URLs are in few groups, so that a hash says little about how many are drawn.
#[test]
fn sites_of_few_groups_are_drawn_again() {
    let row = |site: u64, row: u64| {
        let page = format!("{site}-{}", row % 6);
        let url = format!("http://few{site}.example/{page}?sid={}", chance(row));
        Row { cluster: Some(page.clone()), ..Row::new(url, page) }
    };
    let rows: Vec<Row> = (0..16).flat_map(|site| (0..1500).map(move |number| row(site, number))).collect();
    let sample = SampleSize::new(0.1, 150).unwrap();
    let mut store = CrawlStore::new(EvidenceKinds::AUTO, sample).with_mirrors();
    for row in &rows {
        store.observe(row.url.as_bytes(), &row.clues(), Some(row.time.as_bytes())).unwrap();
    }
    let expected = result(&trainer().train_stored(&store.finish().unwrap(), &()).unwrap());
    let (training, again) = by_samples(&deal(&rows, 4, 5), sample);
    assert!(!again.is_empty(), "no site was drawn again");
    assert_eq!(result(&training), expected);
}

#[test]
fn a_damaged_observation_is_told_and_nothing_else_is_lost() {
    let plan = SamplePlan::new(sample());
    let mut sample = plan.site("a.example", EvidenceKinds::AUTO, Stage::Draw);
    assert_eq!(sample.take(b"not a record"), Err(SampleError::Damaged { number: 1 }));
    let mut sampler = ShardSampler::new(&plan, Stage::Draw, Purpose::Learn);
    let mut records = Vec::new();
    sampler
        .observe(b"http://a.example/x", &Clues::default(), None, |_, record| records.push(record.to_vec()))
        .unwrap();
    assert_eq!(sample.take(&records[0]), Ok(()));
    let cut = &records[0][..records[0].len() - 1];
    assert_eq!(sample.take(cut), Err(SampleError::Damaged { number: 3 }));
    assert_eq!(sample.into_corpus().unwrap().unwrap().len(), 1);
}

#[test]
fn urls_that_are_too_long_are_not_learned_from_but_evaluated() {
    let long = format!("http://a.example/?{}", "a&".repeat(300));
    let urls = [long.as_str(), "http://a.example/x", "mailto:me@a.example"];
    let plan = SamplePlan::new(sample());
    for (purpose, expected, too_long) in [(Purpose::Learn, 1, 1), (Purpose::Evaluate, 3, 0)] {
        let mut census = Census::new(purpose, false);
        let mut sampler = ShardSampler::new(&plan, Stage::Draw, purpose);
        let mut drawn = 0;
        for url in urls {
            census.observe(url.as_bytes(), &Clues::default()).unwrap();
            sampler.observe(url.as_bytes(), &Clues::default(), None, |_, _| drawn += 1).unwrap();
        }
        assert_eq!(census.too_long(), too_long);
        let rows: u64 = census.finish().0.iter().map(|site| site.size.rows).sum();
        assert_eq!((rows, drawn), (expected, expected), "{purpose:?}");
    }
}

#[test]
fn a_site_of_the_pilot_is_not_learned_from() {
    let mut plan = SamplePlan::new(sample());
    let size = SiteSize { rows: 100_000, bytes: 1, ..SiteSize::default() };
    let large = StoredSite { size, ..StoredSite::new("large.example") };
    plan.add(&large);
    assert!(plan.has_large_sites() && plan.is_large(&large));
    let sample = plan.site("large.example", EvidenceKinds::AUTO, Stage::Draw);
    assert_eq!(sample.into_corpus().err(), Some(SampleError::NoGroups));
}

#[test]
fn bytes_that_are_no_sightings_are_refused() {
    let bytes = Sightings::default().to_bytes();
    assert_eq!(Sightings::from_bytes(&bytes), Some(Sightings::default()));
    assert_eq!(Sightings::from_bytes(&bytes[1..]), None);
    assert_eq!(Sightings::from_bytes(&[0xff; 40]), None);
    assert_eq!(Sightings::from_bytes(b""), None);
}
