/*!
`SiteReducer`: what workers drew of the rows of a site in; how its URLs are grouped, its rules, or how good rules are, out.

A site on which it fails is a row that says so: the work on all others goes on.
*/

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{BinaryBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::cast::AsArray as _;
use arrow_schema::{DataType, Field};
use dedust::errors::with_causes;
use dedust_eval::Evaluator;
use dedust_learn::errors::{SampleError, TrainSampleError};
use dedust_learn::{SamplePlan, SiteSample, Stage, Training};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrow;
use crate::column::Texts;
use crate::errors::{DedustError, TrainError};
use crate::learn::PyTrainer;
use crate::normalizer::PyNormalizer;
use crate::rows::Rows;
use crate::spread::PySamplePlan;

/// What is made of the rows of a site.
enum Task {
    FindGroups(BinaryRows),
    Learn(Box<LearnedRows>),
    Evaluate { normalizer: Py<PyNormalizer>, rows: Box<EvaluatedRows> },
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
            ("groups", None) => Task::FindGroups(BinaryRows::default()),
            ("learn", None) => Task::Learn(Box::default()),
            ("evaluate", Some(normalizer)) => Task::Evaluate { normalizer, rows: Box::default() },
            _ => {
                let problem = "expected the task groups or learn, or evaluate with a normalizer";
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
                    let sample = self.plan.site(&name, self.trainer.get().evidence(), self.task.stage());
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
        }
    }

    fn run(&mut self, name: &str, sample: SiteSample, trainer: &PyTrainer) -> Result<(), Failure> {
        match self {
            Self::FindGroups(rows) => {
                let keys = sample.find_groups()?.varying_keys();
                let bytes: Vec<u8> = keys.into_iter().flat_map(u64::to_le_bytes).collect();
                rows.push(name, &bytes);
            }
            Self::Learn(rows) => match trainer.inner().train_sample(sample, &()) {
                Ok(training) => rows.push_site(name, &training)?,
                Err(TrainSampleError::Sample(error)) => return Err(error.into()),
                Err(error) => return Err(Failure::Told(with_causes(&error))),
            },
            Self::Evaluate { normalizer, rows } => {
                let mut evaluator = Evaluator::new(normalizer.get().inner(), trainer.evidence());
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
            Self::Learn(rows) => rows.push_failure(name, state, error),
            Self::Evaluate { rows, .. } => rows.push_failure(name, state, error),
        }
        Ok(())
    }

    fn take_rows(&mut self) -> PyResult<Rows> {
        match self {
            Self::FindGroups(rows) => std::mem::take(rows).finish(),
            Self::Learn(rows) => std::mem::take(rows).finish(),
            Self::Evaluate { rows, .. } => std::mem::take(rows).finish(),
        }
    }
}

/// Sites with bytes.
#[derive(Default)]
struct BinaryRows {
    sites: StringBuilder,
    values: BinaryBuilder,
}

impl BinaryRows {
    fn push(&mut self, site: &str, value: &[u8]) {
        self.sites.append_value(site);
        self.values.append_value(value);
    }

    fn finish(mut self) -> PyResult<Rows> {
        let fields =
            vec![Field::new("site", DataType::Utf8, true), Field::new("groups", DataType::Binary, true)];
        Rows::new(fields, vec![vec![Arc::new(self.sites.finish()), Arc::new(self.values.finish())]])
    }
}

/// Sites with their rules.
#[derive(Default)]
pub(crate) struct LearnedRows {
    sites: StringBuilder,
    rules: BinaryBuilder,
    /// URLs, pages, saved, promise, observations.
    numbers: [Int64Builder; 5],
    states: StringBuilder,
    errors: StringBuilder,
}

impl LearnedRows {
    /// Adds a site of a training.
    pub(crate) fn push_site(&mut self, name: &str, training: &Training) -> PyResult<()> {
        let found = training.sites.iter().find(|report| &*report.site == name);
        let Some((report, rules)) = found.zip(training.rules.site(name)) else { return Ok(()) };
        let mut alone = dedust::RuleSet::new(training.rules.method());
        let mut json = Vec::new();
        alone.insert(name, rules.clone()).map_err(|error| TrainError::new_err(with_causes(&error)))?;
        alone.save(&mut json).map_err(|error| DedustError::new_err(error.to_string()))?;
        self.sites.append_value(name);
        self.rules.append_value(json);
        let promise = rules.summary().promise.map(|promise| promise.lost.cast_signed());
        let numbers = [
            Some(report.urls as i64),
            Some(report.pages as i64),
            Some(report.saved as i64),
            promise,
            Some(report.observations.cast_signed()),
        ];
        self.numbers.iter_mut().zip(numbers).for_each(|(column, number)| column.append_option(number));
        self.states.append_value("learned");
        self.errors.append_null();
        Ok(())
    }

    fn push_failure(&mut self, name: &str, state: &str, error: Option<&str>) {
        self.sites.append_value(name);
        self.rules.append_null();
        self.numbers.iter_mut().for_each(Int64Builder::append_null);
        self.states.append_value(state);
        self.errors.append_option(error);
    }

    pub(crate) fn finish(mut self) -> PyResult<Rows> {
        let mut fields =
            vec![Field::new("site", DataType::Utf8, true), Field::new("rules", DataType::Binary, true)];
        let numbers = ["urls", "pages", "saved", "promise", "observations"];
        fields.extend(numbers.map(|name| Field::new(name, DataType::Int64, true)));
        fields.extend(["state", "error"].map(|name| Field::new(name, DataType::Utf8, true)));
        let mut columns: Vec<ArrayRef> = vec![Arc::new(self.sites.finish()), Arc::new(self.rules.finish())];
        columns.extend(self.numbers.iter_mut().map(|column| -> ArrayRef { Arc::new(column.finish()) }));
        columns.push(Arc::new(self.states.finish()));
        columns.push(Arc::new(self.errors.finish()));
        Rows::new(fields, vec![columns])
    }
}

/// Sites with figures.
#[derive(Default)]
struct EvaluatedRows {
    sites: StringBuilder,
    /// URLs, pages, URLs whose page is not known.
    numbers: [Int64Builder; 3],
    /// Compression, fpr, precision, recall, F1.
    shares: [Float64Builder; 5],
    states: StringBuilder,
    errors: StringBuilder,
}

impl EvaluatedRows {
    fn push(&mut self, name: &str, evaluation: &dedust_eval::Evaluation) {
        self.sites.append_value(name);
        let key = &evaluation.micro.key;
        let numbers = [key.urls as i64, key.pages as i64, evaluation.unlabelled as i64];
        self.numbers.iter_mut().zip(numbers).for_each(|(column, number)| column.append_value(number));
        let shares = [key.compression, key.fpr, key.precision, key.recall, key.f1];
        self.shares.iter_mut().zip(shares).for_each(|(column, share)| column.append_value(share));
        self.states.append_value("learned");
        self.errors.append_null();
    }

    fn push_failure(&mut self, name: &str, state: &str, error: Option<&str>) {
        self.sites.append_value(name);
        self.numbers.iter_mut().for_each(Int64Builder::append_null);
        self.shares.iter_mut().for_each(Float64Builder::append_null);
        self.states.append_value(state);
        self.errors.append_option(error);
    }

    fn finish(mut self) -> PyResult<Rows> {
        let mut fields = vec![Field::new("site", DataType::Utf8, true)];
        fields.extend(["urls", "pages", "unlabelled"].map(|name| Field::new(name, DataType::Int64, true)));
        let shares = ["compression", "fpr", "precision", "recall", "f1"];
        fields.extend(shares.map(|name| Field::new(name, DataType::Float64, true)));
        fields.extend(["state", "error"].map(|name| Field::new(name, DataType::Utf8, true)));
        let mut columns: Vec<ArrayRef> = vec![Arc::new(self.sites.finish())];
        columns.extend(self.numbers.iter_mut().map(|column| -> ArrayRef { Arc::new(column.finish()) }));
        columns.extend(self.shares.iter_mut().map(|column| -> ArrayRef { Arc::new(column.finish()) }));
        columns.push(Arc::new(self.states.finish()));
        columns.push(Arc::new(self.errors.finish()));
        Rows::new(fields, vec![columns])
    }
}
