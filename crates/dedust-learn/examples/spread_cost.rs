/*!
What does it cost to learn from rows that are spread over many processes? Beside one process, on the same rows: CPU seconds, and
how much is moved between processes.

```sh
cargo run --release -p dedust-learn --example spread_cost -- 5000000 40
```

Arguments: rows (default: 1,000,000) and processes (default: 40), which are worked on one after the other. A third of the rows is of one
site; the others are of sites of 300 to 30,000 rows. Reading files and Spark's own work are not part of it.
*/
#![expect(clippy::print_stdout, reason = "it is what this program is for")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::time::Duration;

use cpu_time::ProcessTime;
use dedust_learn::errors::{SampleError, TrainSampleError};
use dedust_learn::support::{
    Census, Purpose, SamplePlan, SampleSize, ShardSampler, Sightings, Stage, StoredSite, find_mirrors,
};
use dedust_learn::{Clues, CrawlStore, EvidenceKinds, Trainer, Training};

const KINDS: EvidenceKinds = EvidenceKinds::AUTO;

/// One row after the other.
#[derive(Default)]
struct Row {
    url: String,
    digest: String,
}

impl Row {
    /// Makes the row of this number: pages have three rows, which differ by their sessions.
    fn write(&mut self, number: u64) {
        let (page, session) = (number / 3, number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20);
        // Large sites are far apart, small ones many.
        let site = if page % 3 == 0 { 0 } else { 1 + page % 1000 * (page % 7 + 1) / 7 };
        self.url.clear();
        self.digest.clear();
        let _ = write!(self.url, "http://www.site{site}.example/catalog/view?item={page}&sid={session:x}");
        let _ = write!(self.digest, "{page:032}");
    }

    fn clues(&self) -> Clues<'_> {
        Clues { digest: Some(self.digest.as_bytes()), status: Some(200), ..Clues::default() }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>());
    let rows = arguments.next().transpose()?.unwrap_or(1_000_000);
    let processes = arguments.next().transpose()?.unwrap_or(40).max(1);
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;

    let (one, expected) = by_one(rows)?;
    let (spread, found) = by_many(rows, processes)?;
    if expected != found {
        return Err("the rules differ".into());
    }
    println!(
        "{rows} rows, {processes} processes: {:.2} x the CPU time of one",
        spread.as_secs_f64() / one.as_secs_f64()
    );
    Ok(())
}

fn by_one(rows: u64) -> Result<(Duration, Vec<u8>), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let started = ProcessTime::now();
    let mut store =
        CrawlStore::new(KINDS, SampleSize::default()).spill_to(folder.path(), 256_000_000).with_mirrors();
    let mut row = Row::default();
    for number in 0..rows {
        row.write(number);
        store.observe(row.url.as_bytes(), &row.clues(), None)?;
    }
    let crawl = store.finish()?;
    let read = started.elapsed();
    let training = Trainer::builder().build()?.train_stored(&crawl, &())?;
    println!(
        "one process: {:.1} s to read, {:.1} s in all",
        read.as_secs_f64(),
        started.elapsed().as_secs_f64()
    );
    Ok((started.elapsed(), json(&training)?))
}

fn by_many(rows: u64, processes: u64) -> Result<(Duration, Vec<u8>), Box<dyn Error>> {
    let started = ProcessTime::now();
    let numbers_of = |process: u64| (process..rows).step_by(processes as usize);
    let mut sites: BTreeMap<Box<str>, StoredSite> = BTreeMap::new();
    let mut sightings = Sightings::default();
    let mut sighting_bytes = 0;
    let mut row = Row::default();
    for process in 0..processes {
        let mut census = Census::new(Purpose::Learn, true);
        for number in numbers_of(process) {
            row.write(number);
            census.observe(row.url.as_bytes(), &row.clues())?;
        }
        let (counted, seen) = census.finish();
        for site in counted {
            let all = sites.entry(site.name.clone()).or_insert_with(|| StoredSite::new(site.name));
            all.size += site.size;
        }
        let bytes = seen.to_bytes();
        sighting_bytes += bytes.len();
        sightings.merge(Sightings::from_bytes(&bytes).ok_or("no sightings")?);
    }
    let counted = started.elapsed();
    let declared = sightings.declared_sites();
    let mut candidates: Vec<StoredSite> =
        sites.values().filter(|site| declared.iter().any(|name| **name == *site.name)).cloned().collect();
    find_mirrors(sightings, &[], &mut candidates);
    let mut plan = SamplePlan::new(SampleSize::default());
    sites.values().chain(&candidates).for_each(|site| plan.add(site));

    let trainer = Trainer::builder().build()?;
    let mut learned = vec![trainer.train_mirrors(&candidates)?];
    let mut stage = Stage::Pilot;
    let (mut drawing, mut unchecked) = (plan.clone(), Vec::new());
    let (mut moved_rows, mut moved_bytes) = (0, 0);
    loop {
        let mut drawn: BTreeMap<Box<str>, Vec<Box<[u8]>>> = BTreeMap::new();
        for process in 0..processes {
            let mut sampler = ShardSampler::new(&drawing, stage, Purpose::Learn);
            let mut send = |site: &str, record: &[u8]| {
                moved_rows += 1;
                moved_bytes += record.len();
                drawn.entry(site.into()).or_default().push(record.into());
            };
            for number in numbers_of(process) {
                row.write(number);
                sampler.observe(row.url.as_bytes(), &row.clues(), None, &mut send)?;
            }
            sampler.finish(&mut send);
        }
        let (mut again, mut groups) = (Vec::new(), Vec::new());
        for (site, records) in drawn {
            let mut sample = drawing.site(&site, KINDS, stage);
            records.iter().try_for_each(|record| sample.take(record))?;
            if stage == Stage::Pilot {
                groups.push((site, sample.find_groups()?));
                continue;
            }
            let training = match stage {
                Stage::Check => trainer.check_sample(sample, &()),
                _ => trainer.train_sample(sample, &()),
            };
            match training {
                Ok(mut training) => {
                    unchecked.append(&mut training.unchecked);
                    learned.push(training);
                }
                Err(TrainSampleError::Sample(SampleError::TooFew)) => again.push(site),
                Err(error) => return Err(error.into()),
            }
        }
        match stage {
            Stage::Pilot => {
                plan.set_groups(groups);
                (drawing, stage) = (plan.clone(), Stage::Draw);
            }
            Stage::Draw | Stage::Check if !again.is_empty() => {
                drawing = drawing.wider(again.iter().map(|site| &**site));
            }
            Stage::Draw => (drawing, stage) = (plan.to_check(unchecked.drain(..)), Stage::Check),
            Stage::Check => break,
        }
    }
    println!(
        "{processes} processes: {:.1} s to count, {:.1} s in all; moved: {moved_rows} rows of {moved_bytes} bytes, \
         {sighting_bytes} bytes that tell of mirrors",
        counted.as_secs_f64(),
        started.elapsed().as_secs_f64()
    );
    Ok((started.elapsed(), json(&trainer.unite(learned))?))
}

fn json(training: &Training) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut json = Vec::new();
    training.rules.save(&mut json)?;
    Ok(json)
}
