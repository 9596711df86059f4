/*!
What people may ask of learning, with its defaults and checks: one type for the command line, Python, the service and rule files.

Its fields have the names of the options of `dedust learn`, so that whoever takes options in another form hands them over by name
([`LearnOptions::with`]). A rule file keeps them as JSON. What has no influence on rules, as threads and memory, is not among them.
*/

use std::collections::BTreeMap;

use dedust::RuleSet;
use dedust::rules::MAX_OPTIONS_BYTES;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::canonfd::CanonFd;
use crate::crawl_store::{NamedMirror, SampleSize};
use crate::evidence::EvidenceKinds;
use crate::learner::{LearnSettings, Learner as _};
use crate::preference::{Preference, PreferenceError, Preferences, PreferredForms};
use crate::proof::{Mode, Proof};

/// What was asked of learning. Field by field in the order of their names, in which rule files have them.
///
/// ```
/// use dedust_learn::{LearnOptions, Trainer};
///
/// let options = LearnOptions { max_loss: 2.0, ..LearnOptions::default() };
/// let refused = Trainer::builder().options(options).build().unwrap_err();
/// assert_eq!(refused.to_string(), "max_loss is 2, expected 0 to 1");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LearnOptions {
    /// What makes two URLs duplicates. Default: [`EvidenceKinds::AUTO`].
    pub evidence: EvidenceKinds,
    /// Candidates with a larger share of false pairs are dropped, by learners that have such a limit. Default: 0.05.
    pub max_fpr: f64,
    /// The share of the pages of a site that one rule of [`CanonFd`] may lose. Default: 0.005.
    pub max_loss: f64,
    /// Observations of a site to learn from, at most. Default: 100,000.
    pub max_sample: u64,
    /// The name of the learner. A [`Trainer`](crate::Trainer) puts it there. Default: that of [`CanonFd`].
    pub method: Box<str>,
    /// Sites that are taken for another. Default: none.
    pub mirror: Vec<NamedMirror>,
    /// How much proof [`CanonFd`] asks for.
    pub mode: Mode,
    /// Whether no sites are looked for that show the pages of another. Default: they are, where the learner
    /// [can do without](crate::support::Learner::leaves_out_mirrors).
    pub no_mirrors: bool,
    /// The forms of URLs that [`CanonFd`] writes where a site has several. Default: https, and `www` as the site itself writes it.
    pub prefer: Vec<Preference>,
    /// The share of a site's observations to learn from. Default: 0.2; sites of up to 50,000 are used whole.
    pub sample: f64,
    /// Whether all hosts of a registrable domain are taken to have one owner. Default: no.
    pub trust_hosts: bool,
}

impl Default for LearnOptions {
    fn default() -> Self {
        let LearnSettings { max_false_pair_rate, proof, .. } = LearnSettings::default();
        let SampleSize { share, most } = SampleSize::default();
        Self {
            evidence: EvidenceKinds::AUTO,
            max_fpr: max_false_pair_rate,
            max_loss: proof.max_loss,
            max_sample: most,
            method: CanonFd.name().into(),
            mirror: Vec::new(),
            mode: proof.mode,
            no_mirrors: false,
            prefer: Vec::new(),
            sample: share,
            trust_hosts: proof.trusts_hosts,
        }
    }
}

/// An option that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} {problem}")]
#[non_exhaustive]
pub struct InvalidOption {
    /// The name of its field; a front end that calls it otherwise says so.
    pub name: Box<str>,
    /// What it is, and what was expected.
    pub problem: Box<str>,
}

impl InvalidOption {
    fn new(name: &str, problem: impl Into<Box<str>>) -> Self {
        Self { name: name.into(), problem: problem.into() }
    }
}

/// An option that two runs do not have in common, with both values as people read them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangedOption {
    /// The name of its field.
    pub name: String,
    /// The value before; empty for none, and for what is not so.
    pub was: String,
    /// The value now.
    pub is: String,
}

impl LearnOptions {
    /// The same with some values by the names of their fields, checked. They are those of any struct or map.
    pub fn with(&self, given: &impl Serialize) -> Result<Self, InvalidOption> {
        let (mut all, mut options) = (fields(self), self.clone());
        for (name, value) in fields(given) {
            // JSON has no infinity.
            let (shown, is_finite) = (in_words(&value), !value.is_null());
            all.insert(name.clone(), value);
            // One by one, so that an error is that of this option.
            options =
                serde_json::from_value(Value::Object(all.clone())).map_err(|error| match is_finite {
                    true => InvalidOption::new(&name, format!("is {shown}: {error}")),
                    false => InvalidOption::new(&name, "is no finite number"),
                })?;
        }
        options.check().map(|()| options)
    }

    /// What these rules were learned with; `None` if they do not say.
    pub fn of_rules(rules: &RuleSet) -> Result<Option<Self>, InvalidOption> {
        let Some(json) = rules.options() else { return Ok(None) };
        match serde_json::from_str::<Self>(json) {
            Ok(options) => options.check().map(|()| Some(options)),
            Err(error) => {
                let given: Map<String, Value> = serde_json::from_str(json).unwrap_or_default();
                Self::default().with(&given)?;
                Err(InvalidOption::new("options", format!("of the rules cannot be read: {error}")))
            }
        }
    }

    /// Whether they make sense.
    pub fn check(&self) -> Result<(), InvalidOption> {
        self.preferences()?;
        for (name, share) in [("max_fpr", self.max_fpr), ("max_loss", self.max_loss), ("sample", self.sample)]
        {
            if !(0.0..=1.0).contains(&share) {
                return Err(InvalidOption::new(name, format!("is {share}, expected 0 to 1")));
            }
        }
        if self.max_sample == 0 {
            return Err(InvalidOption::new("max_sample", "is 0, expected 1 or more"));
        }
        let mut originals = BTreeMap::new();
        for named in &self.mirror {
            let other = originals.insert(&named.mirror, named);
            if let Some(other) = other.filter(|other| other.original != named.original) {
                let problem = format!("is {other} and {named}, expected one original for a site");
                return Err(InvalidOption::new("mirror", problem));
            }
        }
        // Else rules would be written that cannot be read.
        if Value::Object(self.to_json()).to_string().len() > MAX_OPTIONS_BYTES {
            let (mirrors, wishes) = (self.mirror.len(), self.prefer.len());
            let (name, many) = if mirrors > wishes { ("mirror", mirrors) } else { ("prefer", wishes) };
            let most = MAX_OPTIONS_BYTES >> 10;
            let problem = format!(
                "is a list of {many}, expected so few that rule files need at most {most} KiB for it"
            );
            return Err(InvalidOption::new(name, problem));
        }
        Ok(())
    }

    /// What learners are given beside the corpus, but for what is wanted on single sites.
    pub fn settings(&self) -> LearnSettings {
        let &Self { max_fpr, mode, max_loss, trust_hosts, .. } = self;
        LearnSettings {
            max_false_pair_rate: max_fpr,
            proof: Proof { mode, max_loss, trusts_hosts: trust_hosts },
            preferred: PreferredForms::default(),
        }
    }

    /// How many observations of a site are learned from.
    pub fn sample_size(&self) -> SampleSize {
        SampleSize::new(self.sample, self.max_sample).unwrap_or_default()
    }

    /// The forms that are wanted.
    pub(crate) fn preferences(&self) -> Result<Preferences, InvalidOption> {
        let method = &*self.method;
        if !self.prefer.is_empty() && method != CanonFd.name() {
            let problem = format!("says which form {} writes, and is not for {method}", CanonFd.name());
            return Err(InvalidOption::new("prefer", problem));
        }
        let contradiction =
            |error: PreferenceError| InvalidOption::new("prefer", format!("cannot be met: {error}"));
        Preferences::new(self.prefer.iter().cloned()).map_err(contradiction)
    }

    /// In what these options differ from those before.
    pub fn changes(&self, before: &Self) -> Vec<ChangedOption> {
        let (was, is) = (fields(before), fields(self));
        let values = was.iter().zip(is.values());
        let changed = values.filter(|((_, was), is)| was != is);
        changed
            .map(|((name, was), is)| ChangedOption {
                name: name.clone(),
                was: in_words(was),
                is: in_words(is),
            })
            .collect()
    }

    /// The options among these that are neither the defaults nor `given`: what rules that are learned again repeat.
    pub fn repeated(&self, given: &impl Serialize) -> Vec<ChangedOption> {
        let given = fields(given);
        let mut repeated = self.changes(&Self::default());
        repeated.retain(|change| !given.contains_key(&change.name));
        repeated
    }

    /// For the head of a rule file.
    pub(crate) fn to_json(&self) -> Map<String, Value> {
        fields(self)
    }
}

/// The fields of a struct or map.
fn fields(value: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

fn in_words(value: &Value) -> String {
    match value {
        Value::Bool(false) => String::new(),
        Value::Bool(true) => "given".into(),
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(in_words).collect::<Vec<_>>().join(","),
        Value::Number(number) => {
            number.as_f64().map_or_else(|| number.to_string(), |number| number.to_string())
        }
        Value::Null | Value::Object(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(given: &Value) -> String {
        LearnOptions::default().with(given).unwrap_err().to_string()
    }

    #[test]
    fn each_option_is_refused_by_its_name_with_its_value_and_what_was_expected() {
        for (given, expected) in [
            (json!({"max_fpr": 2}), "max_fpr is 2, expected 0 to 1"),
            (json!({"max_loss": -0.5}), "max_loss is -0.5, expected 0 to 1"),
            (json!({"sample": 1.5}), "sample is 1.5, expected 0 to 1"),
            (json!({"max_sample": 0}), "max_sample is 0, expected 1 or more"),
            (json!({"max_loss": f64::NAN}), "max_loss is no finite number"),
            (
                json!({"mode": "bold"}),
                "mode is bold: unknown variant `bold`, expected one of `strict`, `balanced`, `paper`",
            ),
            (json!({"prefer": ["www", "bare"]}), "prefer cannot be met: `www` and `bare` exclude each other"),
            (
                json!({"prefer": ["www"], "method": "standard"}),
                "prefer says which form canonfd writes, and is not for standard",
            ),
            (
                json!({"mirror": ["a.example=b.example", "a.example=c.example"]}),
                "mirror is a.example=b.example and a.example=c.example, expected one original for a site",
            ),
        ] {
            assert_eq!(refused(&given), expected);
        }
        let many: Vec<String> = (0..40_000).map(|at| format!("m{at}.example=original.example")).collect();
        let expected =
            "mirror is a list of 40000, expected so few that rule files need at most 1024 KiB for it";
        assert_eq!(refused(&json!({"mirror": many})), expected);
        assert!(refused(&json!({"evidence": "hearsay"})).starts_with("evidence is hearsay: unknown kind"));
        assert!(
            refused(&json!({"mirror": ["a=b.example"]})).starts_with("mirror is a=b.example: expected two")
        );
        assert!(refused(&json!({"max_los": 1})).starts_with("max_los is 1: unknown field `max_los`"));
    }

    #[test]
    fn options_are_read_back_from_the_rules_that_keep_them() {
        let given = json!({
            "evidence": "canonical+digest", "max_fpr": 0.1, "max_loss": 1.0, "max_sample": 7, "method": "canonfd",
            "mirror": ["a.example=b.example"], "mode": "strict", "no_mirrors": true,
            "prefer": ["bare", "c.example=http"], "sample": 0.5, "trust_hosts": true
        });
        let options = LearnOptions::default().with(&given).unwrap();
        let changed: Vec<String> =
            options.changes(&LearnOptions::default()).into_iter().map(|change| change.name).collect();
        let mut all: Vec<&String> =
            given.as_object().unwrap().keys().filter(|name| *name != "method").collect();
        all.sort();
        assert_eq!(changed.iter().collect::<Vec<_>>(), all, "the test gives each option another value");
        let rules = RuleSet::default().with_options(options.to_json());
        assert_eq!(rules.options(), Some(&*given.to_string()));
        assert_eq!(LearnOptions::of_rules(&rules), Ok(Some(options)));
        assert_eq!(LearnOptions::of_rules(&RuleSet::default()), Ok(None));
    }

    #[test]
    fn options_of_a_file_are_checked_and_none_is_passed_over() {
        for (json, expected) in [
            (r#"{"max_loss": 2}"#, "max_loss is 2, expected 0 to 1"),
            (r#"{"max_loss": "2"}"#, "max_loss is 2: invalid type"),
            (r#"{"shape": 2}"#, "shape is 2: unknown field"),
            (
                r#"{"sample": 1, "sample": 0}"#,
                "options of the rules cannot be read: duplicate field `sample`",
            ),
        ] {
            let file = format!(r#"{{"version": 1, "options": {json}, "sites": {{}}}}"#);
            let rules = RuleSet::load(file.as_bytes()).unwrap();
            let error = LearnOptions::of_rules(&rules).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
