/*!
How much memory methods need: each learns once more, one site at a time, in a process of its own.

A process tells its own peak, as the kernel counts it, so that neither what other methods left behind nor what the
comparison itself holds is in it. What the training share takes is in it, as it is when `dedust learn` is run.
*/

use std::fs;
use std::io::{BufWriter, Write as _};
use std::process::{Command, Stdio};
use std::sync::Arc;

use clap::ValueEnum as _;
use dedust_eval::compare::DividedSite;
use dedust_learn::CrawlStore;
use dedust_learn::support::{Learner, PARTS, SampleSize, StoredRow};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{CompareArgs, learners, methods};
use crate::ExitStatus;
use crate::method::Method;
use crate::observe::read_all;
use crate::printer::Printer;

/// What a weighing process prints.
#[derive(Debug, Serialize, Deserialize)]
struct Weight {
    peak_bytes: Option<u64>,
}

/// An observation as the readers take it, to whom null is nothing.
#[derive(Debug, Serialize)]
struct Line<'a> {
    url: &'a str,
    cluster: Option<&'a str>,
    canonical: Option<&'a str>,
    redirect: Option<&'a str>,
    digest: Option<&'a str>,
    text_digest: Option<&'a str>,
    simhash: Option<String>,
    title: Option<&'a str>,
    status: Option<u16>,
    size: Option<u64>,
}

impl<'a> Line<'a> {
    /// `None` for URLs that JSON cannot hold.
    fn of(observation: &'a StoredRow) -> Option<Self> {
        let clues = observation.clues();
        let text = |bytes: Option<&'a [u8]>| bytes.and_then(|bytes| std::str::from_utf8(bytes).ok());
        Some(Self {
            url: std::str::from_utf8(observation.url()).ok()?,
            cluster: text(clues.cluster),
            canonical: text(clues.canonical),
            redirect: text(clues.redirect),
            digest: text(clues.digest),
            text_digest: text(clues.text_digest),
            simhash: clues.simhash.map(|fingerprint| format!("{fingerprint:016x}")),
            title: text(clues.title),
            status: clues.status,
            size: clues.size,
        })
    }
}

/// The peak memory of every method on every site, in bytes, in the order of the comparison; `None` where it cannot
/// be told.
pub(super) fn peaks(
    args: &CompareArgs,
    sites: &[DividedSite],
    learners: &[Arc<dyn Learner>],
    done: &(dyn Fn() + Sync),
) -> Vec<Option<u64>> {
    let tasks: Vec<(&DividedSite, &dyn Learner)> =
        sites.iter().flat_map(|site| learners.iter().map(move |learner| (site, &**learner))).collect();
    tasks
        .into_par_iter()
        .map(|(site, learner)| {
            let is_left_out = site.mirror_of().is_some() && learner.leaves_out_mirrors();
            let peak = if is_left_out { None } else { peak(args, site, learner.name()) };
            done();
            peak
        })
        .collect()
}

fn peak(args: &CompareArgs, site: &DividedSite, method: &str) -> Option<u64> {
    let variant = args
        .variant
        .filter(|_| method == Method::Seq2Seq.name())
        .and_then(|variant| variant.to_possible_value());
    let variant = variant.map(|variant| format!("--variant={}", variant.get_name()));
    let mut child = Command::new(std::env::current_exe().ok()?)
        .args(["compare", "-", "--weigh", "--threads", "1", "--quiet", "--methods", method])
        .args(["--seed", &args.seed.to_string(), "--max-fpr", &args.max_fpr.to_string()])
        .args(["--evidence", &args.evidence.to_string()])
        .args(variant)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut input = BufWriter::new(child.stdin.take()?);
    let written = site.training().iter().filter_map(Line::of).try_for_each(|line| {
        serde_json::to_writer(&mut input, &line)?;
        input.write_all(b"\n")
    });
    drop(input);
    let output = child.wait_with_output().ok()?;
    written.ok()?;
    serde_json::from_slice::<Weight>(&output.stdout).ok()?.peak_bytes
}

/// What a process of [`peaks`] does: learns with one method, and prints its own peak.
pub(super) fn weigh(args: &CompareArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    let mut store = CrawlStore::new(args.evidence, SampleSize::default());
    read_all(&args.inputs, &args.read, printer, |observation| {
        Ok(store.observe(observation.url(), &observation.clues(), None)?)
    })?;
    let crawl = store.finish()?;
    let settings = args.learn_options().settings();
    let learners = learners(args, &methods(&args.methods)?)?;
    for part in 0..PARTS {
        for (corpus, _) in crawl.corpora(part)? {
            for learner in &learners {
                std::hint::black_box(learner.learn(&corpus, &settings, &()));
            }
        }
    }
    printer.json(&Weight { peak_bytes: own_peak_bytes() })?;
    Ok(ExitStatus::Success)
}

/// The most memory this process had resident; `None` where there is no `/proc`.
fn own_peak_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    Some(kibibytes << 10)
}
