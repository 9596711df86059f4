/*!
`SiteReducer`: what workers drew of the rows of a site in; how its URLs are grouped, its rules, or how good rules are, out.

A site on which it fails is a row that says so: the work on all others goes on.
*/

use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::cast::AsArray as _;
use dedust::errors::with_causes;
use dedust_eval::Evaluator;
use dedust_learn::errors::{SampleError, TrainSampleError};
use dedust_learn::support::{SamplePlan, SiteSample, Stage};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrow;
use crate::column::Texts;
use crate::learn::PyTrainer;
use crate::normalizer::PyNormalizer;
use crate::rows::Rows;
use crate::site_rows::{EvaluatedRows, GroupRows, LearnedRows};
use crate::spread::PySamplePlan;

/// What is made of the rows of a site.
enum Task {
    FindGroups(GroupRows),
    Learn(Box<LearnedRows>),
    /// Rules that were learned from samples are held against all rows.
    Check(Box<LearnedRows>),
    Evaluate {
        normalizer: Py<PyNormalizer>,
        rows: Box<EvaluatedRows>,
    },
}

/// Puts the rows of each site together, and makes groups, rules or figures of them. All rows of a site come one after the other.
#[pyclass(name = "SiteReducer", module = "dedust._dedust")]
pub(crate) struct PySiteReducer {
    trainer: Py<PyTrainer>,
    plan: SamplePlan,
    task: Task,
    site: Option<(String, SiteSample, Option<SampleError>)>,
}

#[pymethods]
impl PySiteReducer {
    #[new]
    #[pyo3(signature = (trainer, plan, task, *, normalizer=None))]
    fn new(
        trainer: Py<PyTrainer>,
        plan: &PySamplePlan,
        task: &str,
        normalizer: Option<Py<PyNormalizer>>,
    ) -> PyResult<Self> {
        let task = match (task, normalizer) {
            ("groups", None) => Task::FindGroups(GroupRows::default()),
            ("learn", None) => Task::Learn(Box::default()),
            ("check", None) => Task::Check(Box::default()),
            ("evaluate", Some(normalizer)) => Task::Evaluate { normalizer, rows: Box::default() },
            _ => {
                let problem = "expected the task groups, learn or check, or evaluate with a normalizer";
                return Err(PyValueError::new_err(format!("task=\"{task}\", {problem}")));
            }
        };
        Ok(Self { trainer, plan: plan.inner().clone(), task, site: None })
    }

    /// Takes drawn rows: their sites, and the rows themselves. Gives what was made of the sites that are complete.
    fn take(&mut self, py: Python<'_>, table: &Bound<'_, PyAny>) -> PyResult<Rows> {
        let array = arrow::import_array(table)?;
        let columns = array.as_struct_opt().filter(|table| table.num_columns() == 2);
        let columns = columns
            .ok_or_else(|| PyValueError::new_err("expected a batch with the columns site and record"))?;
        let (sites, records) = (Texts::of(columns.column(0))?, Texts::of(columns.column(1))?);
        py.detach(|| {
            for row in 0..sites.len() {
                let (Some(site), Some(record)) = (sites.get(row), records.get(row)) else { continue };
                if self.site.as_ref().is_none_or(|(name, ..)| name.as_bytes() != site) {
                    self.end_site()?;
                    let name = String::from_utf8_lossy(site).into_owned();
                    let sample =
                        self.plan.site(&name, self.trainer.get().options().evidence, self.task.stage());
                    self.site = Some((name, sample, None));
                }
                if let Some((_, sample, failure)) = &mut self.site
                    && let Err(error) = sample.take(record)
                {
                    failure.get_or_insert(error);
                }
            }
            self.task.take_rows()
        })
    }

    /// What was made of the last site.
    fn finish(&mut self, py: Python<'_>) -> PyResult<Rows> {
        py.detach(|| {
            self.end_site()?;
            self.task.take_rows()
        })
    }
}

impl PySiteReducer {
    fn end_site(&mut self) -> PyResult<()> {
        let Some((name, sample, failure)) = self.site.take() else { return Ok(()) };
        let trainer = self.trainer.get();
        // One site must not end the work on all others, whatever is wrong with it.
        let outcome = catch_unwind(AssertUnwindSafe(|| match failure {
            Some(error) => Err(error.into()),
            None => self.task.run(&name, sample, trainer),
        }));
        let outcome = outcome.unwrap_or_else(|_| Err(Failure::Told("it ended by a panic".to_owned())));
        match outcome {
            Ok(()) => Ok(()),
            Err(Failure::Python(error)) => Err(error),
            Err(Failure::TooFew) => self.task.push_failure(&name, "again", None),
            Err(Failure::Told(told)) => self.task.push_failure(&name, "failed", Some(&told)),
        }
    }
}

/// Why nothing was made of a site.
enum Failure {
    /// Too few rows were drawn.
    TooFew,
    Told(String),
    Python(PyErr),
}

impl From<SampleError> for Failure {
    fn from(error: SampleError) -> Self {
        match error {
            SampleError::TooFew => Self::TooFew,
            error => Self::Told(with_causes(&error)),
        }
    }
}

impl From<TrainSampleError> for Failure {
    fn from(error: TrainSampleError) -> Self {
        match error {
            TrainSampleError::Sample(error) => error.into(),
            error => Self::Told(with_causes(&error)),
        }
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl Task {
    fn stage(&self) -> Stage {
        match self {
            Self::FindGroups(_) => Stage::Pilot,
            Self::Learn(_) | Self::Evaluate { .. } => Stage::Draw,
            Self::Check(_) => Stage::Check,
        }
    }

    fn run(&mut self, name: &str, sample: SiteSample, trainer: &PyTrainer) -> Result<(), Failure> {
        match self {
            Self::FindGroups(rows) => {
                let keys = sample.find_groups()?.varying_keys();
                let bytes: Vec<u8> = keys.into_iter().flat_map(u64::to_le_bytes).collect();
                rows.push(name, &bytes);
            }
            Self::Learn(rows) => {
                let training = trainer.inner().train_sample(sample, &())?;
                rows.push_site(name, &training)?;
                training.unchecked.iter().for_each(|unchecked| rows.push_unchecked(unchecked));
            }
            Self::Check(rows) => rows.push_site(name, &trainer.inner().check_sample(sample, &())?)?,
            Self::Evaluate { normalizer, rows } => {
                let mut evaluator = Evaluator::new(normalizer.get().inner(), trainer.options().evidence);
                sample.each(|url, clues, _| {
                    evaluator.observe(url, clues);
                })?;
                rows.push(name, &evaluator.finish());
            }
        }
        Ok(())
    }

    fn push_failure(&mut self, name: &str, state: &str, error: Option<&str>) -> PyResult<()> {
        match self {
            // Without groups all rows are of one group each: nothing is lost but duplicates.
            Self::FindGroups(rows) => rows.push(name, &[]),
            Self::Learn(rows) | Self::Check(rows) => rows.push_failure(name, state, error),
            Self::Evaluate { rows, .. } => rows.push_failure(name, state, error),
        }
        Ok(())
    }

    fn take_rows(&mut self) -> PyResult<Rows> {
        match self {
            Self::FindGroups(rows) => std::mem::take(rows).finish(),
            Self::Learn(rows) | Self::Check(rows) => std::mem::take(rows).finish(),
            Self::Evaluate { rows, .. } => std::mem::take(rows).finish(),
        }
    }
}
