/*!
`Trainer` and `Training`: crawls in, rules and what they save out.
*/

use std::sync::{Arc, Mutex};

use dedust::RuleSet;
use dedust::errors::with_causes;
use dedust_crawl::{LearnError, Pipeline, ReadReport};
use dedust_learn::errors::InvalidOption;
#[cfg(not(feature = "lab"))]
use dedust_learn::support::CanonFd;
use dedust_learn::support::Learner;
use dedust_learn::{EvidenceKinds, LearnOptions, Trainer, Training};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyMapping;
use serde_json::{Map, Value};

use crate::batch::thread_count;
use crate::errors::{DedustError, ReadError, TrainError, note, warn};
use crate::html;
use crate::inputs::{self, ReadOptions};
use crate::rule_set::PyRuleSet;
use crate::work;

/// Sites that a notebook shows.
const SHOWN_SITES: usize = 50;

/// Learns rules from crawls. All options are those of the command `dedust learn`. One that is not given is that of the rules to `keep`,
/// or has the default of the command.
#[pyclass(frozen, name = "Trainer", module = "dedust")]
pub(crate) struct PyTrainer {
    pipeline: Pipeline,
    /// Rules whose decisions and verdicts stay.
    keep: Option<Arc<RuleSet>>,
    read: ReadOptions,
    threads: usize,
}

#[pymethods]
impl PyTrainer {
    #[new]
    #[pyo3(signature = (
        *, method=None, evidence=None, mode=None, max_loss=None, max_fpr=None, mirrors=None, find_mirrors=None,
        trust_hosts=None, prefer=None, keep=None, sample=None, max_sample=None, memory=256, host=None, columns=None,
        threads=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are named, as on the command line")]
    fn new(
        py: Python<'_>,
        method: Option<&str>,
        evidence: Option<&str>,
        mode: Option<&str>,
        max_loss: Option<f64>,
        max_fpr: Option<f64>,
        mirrors: Option<Bound<'_, PyMapping>>,
        find_mirrors: Option<bool>,
        trust_hosts: Option<bool>,
        prefer: Option<Bound<'_, PyAny>>,
        keep: Option<Bound<'_, PyRuleSet>>,
        sample: Option<f64>,
        max_sample: Option<u64>,
        memory: usize,
        host: Option<String>,
        columns: Option<Bound<'_, PyMapping>>,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let named = mirrors.as_ref().map(|mirrors| inputs::pairs(Some(mirrors))).transpose()?;
        let named =
            named.map(|named| named.iter().map(|(from, to)| format!("{from}={to}")).collect::<Vec<_>>());
        let wishes = prefer.map(|prefer| prefer.try_iter()?.map(|wish| wish?.extract()).collect());
        let wishes: Option<Vec<String>> = wishes.transpose()?;
        let given = [
            ("method", method.map(Value::from)),
            ("evidence", evidence.map(Value::from)),
            ("mode", mode.map(Value::from)),
            ("max_loss", max_loss.map(Value::from)),
            ("max_fpr", max_fpr.map(Value::from)),
            ("mirror", named.map(Value::from)),
            ("no_mirrors", find_mirrors.map(|finds| Value::from(!finds))),
            ("trust_hosts", trust_hosts.map(Value::from)),
            ("prefer", wishes.map(Value::from)),
            ("sample", sample.map(Value::from)),
            ("max_sample", max_sample.map(Value::from)),
        ];
        let given = given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let keep = keep.map(|rules| rules.get().inner().clone());
        let options = options(py, keep.as_deref(), &given.collect())?;
        let learner = learner(&options.method)
            .map_err(|error| PyValueError::new_err(format!("method is {}: {error}", options.method)))?;
        let trainer = Trainer::builder().learner(learner).options(options).build();
        let trainer = trainer.map_err(|error| invalid(&error))?;
        Ok(Self {
            pipeline: Pipeline::new(trainer).held_bytes(memory.saturating_mul(1_000_000)),
            keep,
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
            let opened = inputs::open(sources, &self.read);
            let opened = opened.map_err(|error| ReadError::new_err(with_causes(&error)))?;
            let opened = opened.into_iter().map(|open| open());
            let (read, training) = self.pipeline.learn(opened, &mut work.reading(), work);
            if let Ok(mut report) = report.lock() {
                *report = read;
            }
            training.map_err(|error| not_learned(&error))
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

/// The learner of a name, among those that are built in.
#[cfg(feature = "lab")]
fn learner(name: &str) -> Result<impl Learner + use<>, dedust_baselines::UnknownMethod> {
    name.parse::<dedust_baselines::Method>()
}

#[cfg(not(feature = "lab"))]
fn learner(name: &str) -> Result<impl Learner + use<>, String> {
    let only = CanonFd.name();
    (name == only)
        .then_some(CanonFd)
        .ok_or_else(|| format!("`{name}` is no method of this build; it has {only}"))
}

/// Keeps what was decided about earlier rules, and names the rules that gave way.
fn keep(py: Python<'_>, rules: &mut RuleSet, earlier: &RuleSet) -> PyResult<()> {
    for displaced in rules.keep(earlier).displaced {
        warn(py, &format!("a rule of {} gave way to a pinned one: {}", displaced.site, displaced.rule))?;
    }
    Ok(())
}

/// What is asked for: what is given, else what was asked for when the earlier rules were learned, else the defaults.
fn options(py: Python<'_>, earlier: Option<&RuleSet>, given: &Map<String, Value>) -> PyResult<LearnOptions> {
    let asked = earlier
        .map_or(Ok(None), LearnOptions::of_rules)
        .map_err(|error| PyValueError::new_err(format!("keep: in the options of these rules, {error}")))?;
    let asked = asked.unwrap_or_default();
    let options = asked.with(given).map_err(|error| invalid(&error))?;
    let repeated = asked.repeated(given);
    if !repeated.is_empty() {
        let shown: Vec<String> =
            repeated.iter().map(|change| format!("{} {}", change.name, change.is)).collect();
        note(py, &format!("with the options of the rules to keep: {}", shown.join(", ")))?;
    }
    Ok(options)
}

/// An option out of range, by the name that it has here.
fn invalid(error: &InvalidOption) -> PyErr {
    let name = if &*error.name == "mirror" { "mirrors" } else { &*error.name };
    PyValueError::new_err(format!("{name} {}", error.problem))
}

impl PyTrainer {
    pub(crate) fn inner(&self) -> &Trainer {
        self.pipeline.trainer()
    }

    pub(crate) fn options(&self) -> &LearnOptions {
        self.inner().options()
    }

    pub(crate) fn read_options(&self) -> &ReadOptions {
        &self.read
    }
}

/// An exception for a crawl of which nothing was learned.
fn not_learned(error: &LearnError) -> PyErr {
    match error {
        LearnError::Read(error) => inputs::unreadable(error),
        LearnError::Store { .. } => {
            DedustError::new_err(format!("{}; name another by the variable TMPDIR", with_causes(error)))
        }
        error => TrainError::new_err(with_causes(error)),
    }
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
            "<dedust.Training: {} rules for {} sites save {} of {} URLs>",
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
        let table = html::table(&["site", "URLs", "with evidence", "pages", "rules", "saved"], rows);
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
