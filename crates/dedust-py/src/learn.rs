/*!
`Trainer` and `Training`: crawls in, rules and what they save out.
*/

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use dedust::RuleSet;
use dedust::errors::with_causes;
use dedust_baselines::Method;
use dedust_crawl::{ReadReport, read_all};
use dedust_learn::{
    CrawlStore, EvidenceKinds, LearnSettings, Learner as _, Mode, PARTS, Preference, Preferences,
    Progress as _, SampleSize, StoredCrawl, Trainer, Training,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyMapping;
use rayon::prelude::*;

use crate::batch::thread_count;
use crate::errors::{DedustError, ReadError, TrainError, warn};
use crate::html;
use crate::inputs::{self, ReadOptions, Source};
use crate::rule_set::PyRuleSet;
use crate::work::{self, Work};

/// Sites that a notebook shows.
const SHOWN_SITES: usize = 50;

/// Learns rules from crawls. All options are those of the command `dedust learn`, with the same defaults.
#[pyclass(frozen, name = "Trainer", module = "dedust")]
pub(crate) struct PyTrainer {
    trainer: Trainer,
    method: Method,
    /// Rules whose decisions and verdicts stay.
    keep: Option<Arc<RuleSet>>,
    evidence: EvidenceKinds,
    sample: SampleSize,
    finds_mirrors: bool,
    mirrors: Vec<(String, String)>,
    memory_bytes: usize,
    read: ReadOptions,
    threads: usize,
}

#[pymethods]
impl PyTrainer {
    #[new]
    #[pyo3(signature = (
        *, method="canonfd", evidence="auto", mode="balanced", max_loss=0.005, max_fpr=0.05, mirrors=None,
        find_mirrors=true, trust_hosts=false, prefer=None, keep=None, sample=0.2, max_sample=100_000, memory=256,
        host=None, columns=None, threads=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are named, as on the command line")]
    fn new(
        method: &str,
        evidence: &str,
        mode: &str,
        max_loss: f64,
        max_fpr: f64,
        mirrors: Option<Bound<'_, PyMapping>>,
        find_mirrors: bool,
        trust_hosts: bool,
        prefer: Option<Bound<'_, PyAny>>,
        keep: Option<Bound<'_, PyRuleSet>>,
        sample: f64,
        max_sample: u64,
        memory: usize,
        host: Option<String>,
        columns: Option<Bound<'_, PyMapping>>,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let wrong = |error: &dyn std::error::Error| PyValueError::new_err(with_causes(error));
        let method: Method = method.parse().map_err(|error| wrong(&error))?;
        let mode = Mode::ALL.into_iter().find(|known| known.name() == mode).ok_or_else(|| {
            let names: Vec<&str> = Mode::ALL.into_iter().map(Mode::name).collect();
            PyValueError::new_err(format!("mode=\"{mode}\", expected one of {}", names.join(", ")))
        })?;
        let settings = LearnSettings::default()
            .with_max_false_pair_rate(max_fpr)
            .with_mode(mode)
            .with_max_loss(max_loss)
            .with_trusted_hosts(trust_hosts);
        let mut wishes: Vec<Preference> = Vec::new();
        for wish in prefer.map(|prefer| prefer.try_iter()).transpose()?.into_iter().flatten() {
            wishes.push(wish?.extract::<String>()?.parse().map_err(|error| wrong(&error))?);
        }
        let preferences = Preferences::new(wishes).map_err(|error| wrong(&error))?;
        Ok(Self {
            trainer: Trainer::builder()
                .learner(method)
                .settings(settings)
                .preferences(preferences)
                .build()
                .map_err(|error| wrong(&error))?,
            method,
            keep: keep.map(|rules| rules.get().inner().clone()),
            evidence: evidence_kinds(evidence)?,
            sample: SampleSize::new(sample, max_sample).filter(|_| max_sample > 0).ok_or_else(|| {
                PyValueError::new_err(format!(
                    "sample={sample}, max_sample={max_sample}, expected a share from 0 to 1 and a number from 1"
                ))
            })?,
            finds_mirrors: method.leaves_out_mirrors() && find_mirrors,
            mirrors: inputs::pairs(mirrors.as_ref())?,
            memory_bytes: memory.saturating_mul(1_000_000),
            read: ReadOptions::new(host, columns.as_ref())?,
            threads: thread_count(threads)?,
        })
    }

    /// Learns from paths and tables. `progress` is called with the stage, what is done of it, and what there is to do; True shows
    /// a bar.
    #[pyo3(signature = (inputs, *, progress=None))]
    fn train(
        &self,
        py: Python<'_>,
        inputs: &Bound<'_, PyAny>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyTraining> {
        let sources = inputs::sources(inputs)?;
        let report = Mutex::new(ReadReport::default());
        let outcome = work::run(py, self.threads, progress, |work| {
            let (read, crawl) = self.read(sources, work);
            if let Ok(mut report) = report.lock() {
                *report = read;
            }
            self.learn(&crawl?, work)
        });
        if let Ok(report) = report.into_inner() {
            inputs::log(py, &report)?;
        }
        let mut training = outcome?;
        if let Some(earlier) = &self.keep {
            keep(py, &mut training.rules, earlier)?;
        }
        if training.sites.iter().all(|site| site.labelled == 0 && site.mirror_of.is_none()) {
            warn(
                py,
                "nothing is known of the pages of these URLs, so nothing was learned; rules need evidence: cluster, \
                 canonical, redirect, digest, text_digest, or simhash with title",
            )?;
        }
        Ok(PyTraining { rules: Py::new(py, PyRuleSet::new(training.rules.clone()))?, training })
    }
}

/// Keeps what was decided about earlier rules, and names the edits that gave way.
fn keep(py: Python<'_>, rules: &mut RuleSet, earlier: &RuleSet) -> PyResult<()> {
    for displaced in rules.keep(earlier).displaced {
        warn(py, &format!("an edit of {} gave way to a pinned one: {}", displaced.site, displaced.edit))?;
    }
    Ok(())
}

impl PyTrainer {
    pub(crate) fn inner(&self) -> &Trainer {
        &self.trainer
    }

    pub(crate) fn read_options(&self) -> &ReadOptions {
        &self.read
    }

    pub(crate) fn evidence(&self) -> EvidenceKinds {
        self.evidence
    }

    pub(crate) fn sample(&self) -> SampleSize {
        self.sample
    }

    pub(crate) fn finds_mirrors(&self) -> bool {
        self.finds_mirrors
    }

    pub(crate) fn named_mirrors(&self) -> &[(String, String)] {
        &self.mirrors
    }

    fn read(&self, sources: Vec<Source>, work: &Work) -> (ReadReport, PyResult<Stored>) {
        let opened = inputs::open(sources, &self.read);
        let opened = match opened {
            Ok(opened) => opened,
            Err(error) => return (ReadReport::default(), Err(ReadError::new_err(with_causes(&error)))),
        };
        let folder = match tempfile::tempdir() {
            Ok(folder) => folder,
            Err(error) => return (ReadReport::default(), Err(no_folder(&error))),
        };
        let mut store = CrawlStore::new(self.evidence, self.sample)
            .spill_to(folder.path().join("crawl"), self.memory_bytes);
        if self.finds_mirrors {
            store = store.with_mirrors();
            for (mirror, original) in &self.mirrors {
                store = store.with_named_mirror(mirror, original);
            }
        }
        let opened = opened.into_iter().map(|open| open());
        let (report, read) = read_all(opened, &mut work.reading(), |seen| seen.observe_in(&mut store));
        let crawl = read
            .map_err(|error| inputs::unreadable(&error))
            .and_then(|()| store.finish().map_err(|error| no_folder(&error)))
            .map(|crawl| Stored { crawl, _folder: folder });
        (report, crawl)
    }

    fn learn(&self, stored: &Stored, work: &Work) -> PyResult<Training> {
        let Stored { crawl, .. } = stored;
        work.start(crawl.sites().len(), crawl.rows());
        let learned = (0..PARTS).into_par_iter().map(|part| {
            if work.is_ended() {
                return Err(DedustError::new_err("learning was ended"));
            }
            let training = self.trainer.train_part(crawl, part, work);
            training.map_err(|error| TrainError::new_err(with_causes(&error)))
        });
        Ok(Training::of_parts(self.method.name(), learned.collect::<PyResult<_>>()?))
    }
}

/// A crawl, and the folder for what memory had no room for.
struct Stored {
    crawl: StoredCrawl,
    _folder: tempfile::TempDir,
}

fn no_folder(error: &std::io::Error) -> PyErr {
    let folder: PathBuf = std::env::temp_dir();
    DedustError::new_err(format!(
        "cannot put what was read into the folder {}: {error}; name another by the variable TMPDIR",
        folder.display()
    ))
}

/// Kinds of evidence by their names.
pub(crate) fn evidence_kinds(names: &str) -> PyResult<EvidenceKinds> {
    names.parse().map_err(|error: dedust_learn::errors::ParseEvidenceError| {
        PyValueError::new_err(format!("evidence: {}", with_causes(&error)))
    })
}

/// What was learned.
#[pyclass(frozen, name = "Training", module = "dedust")]
pub(crate) struct PyTraining {
    rules: Py<PyRuleSet>,
    training: Training,
}

#[pymethods]
impl PyTraining {
    /// The rules of all sites.
    #[getter]
    fn rules(&self, py: Python<'_>) -> Py<PyRuleSet> {
        self.rules.clone_ref(py)
    }

    /// What the rules of each site do to the URLs they were learned from: one dict per site, in the order of their names.
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.training.sites)
    }

    fn __repr__(&self) -> String {
        let sites = &self.training.sites;
        let (urls, saved) = (sites.iter().map(|site| site.urls), sites.iter().map(|site| site.saved));
        format!(
            "<dedust.Training: {} edits for {} sites save {} of {} URLs>",
            self.training.rules.rule_count(),
            sites.len(),
            saved.sum::<usize>(),
            urls.sum::<usize>()
        )
    }

    fn _repr_html_(&self) -> String {
        let sites = &self.training.sites;
        let rows = sites.iter().take(SHOWN_SITES).map(|site| {
            let numbers = [site.urls, site.labelled, site.pages, site.rules, site.saved];
            let numbers = numbers.iter().map(ToString::to_string);
            std::iter::once(site.site.to_string()).chain(numbers).collect()
        });
        let table = html::table(&["site", "URLs", "with evidence", "pages", "edits", "saved"], rows);
        match sites.len().saturating_sub(SHOWN_SITES) {
            0 => table,
            more => format!("{table}<p>and {more} more</p>"),
        }
    }
}

/// Numbers, texts, lists and maps as Python has them.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &impl serde::Serialize) -> PyResult<Bound<'py, PyAny>> {
    let json = serde_json::to_string(value).map_err(|error| DedustError::new_err(error.to_string()))?;
    py.import("json")?.call_method1("loads", (json,))
}
