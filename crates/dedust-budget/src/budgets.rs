/*!
Budgets as a file: patterns of URLs, what was seen of each, and the share of it to fetch. JSON that people can edit.

Reading checks what is applied, and names the pattern that is wrong. Learns nothing.
*/

use std::io::{Read, Write};

use serde::{Deserialize, Serialize};

use crate::Test;

/// The version of the format.
pub const FORMAT_VERSION: u32 = 1;

/// What is to be said of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Verdict {
    /// Many URLs, one answer: a login page, "not found" with status 200, an empty list.
    Sink,
    /// New URLs keep coming while new text does not.
    Endless,
    /// Pages with rows of a list that other pages show, in another order or fewer of them.
    Facet,
    /// Pages differ and show next to nothing that others do not.
    LowYield,
    /// Brings new text.
    WorthFetching,
    /// Too few URLs were seen.
    Unknown,
}

impl Verdict {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Sink => "sink",
            Self::Endless => "endless",
            Self::Facet => "facet",
            Self::LowYield => "low yield",
            Self::WorthFetching => "worth fetching",
            Self::Unknown => "unknown",
        }
    }
}

/// A pattern of URLs of a host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pattern {
    /// Eight hexadecimal digits that depend on the host and the tests.
    #[serde(default)]
    pub id: String,
    /// The host.
    pub host: String,
    /// What URLs of the pattern pass, all of it.
    pub when: Vec<Test>,
    /// The share of its URLs to fetch, from 0 to 1.
    pub fetch: f64,
    /// Whether people said so: then it stays when budgets are learned again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub decided: bool,
    /// What was found.
    #[serde(default = "unknown")]
    pub verdict: Verdict,
    /// What it was found from.
    #[serde(default)]
    pub seen: Seen,
}

fn unknown() -> Verdict {
    Verdict::Unknown
}

/// What was seen of a pattern.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Seen {
    /// URLs, after rules were applied.
    pub urls: u64,
    /// Different pages that they show.
    pub pages: u64,
    /// The share of the lines of its pages that no other page shows.
    pub new_text: f64,
    /// The mean of that share over pages is at most this, with 95 % confidence.
    pub new_text_at_most: f64,
    /// The share of all new text of the crawl that this pattern brings.
    pub share_of_text: f64,
    /// The share of its URLs that was met in the second half of the crawl.
    pub late_urls: f64,
    /// The share of its text that was met first in the second half of the crawl.
    pub late_text: f64,
    /// Some of its URLs.
    pub examples: Vec<String>,
}

/// Budgets of all hosts of a crawl.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budgets {
    /// See [`FORMAT_VERSION`].
    pub version: u32,
    /// The share of new text that is to be kept.
    pub keep_text: f64,
    /// The share of new text that was lost when budgets were tried on pages that had no part in making them.
    #[serde(default)]
    pub lost_text: f64,
    /// Whether lines of text were known. If not, only URLs that answer the same were told.
    #[serde(default)]
    pub has_lines: bool,
    /// URLs that budgets were learned from.
    #[serde(default)]
    pub urls: u64,
    /// The first pattern of which a URL passes all tests counts.
    pub patterns: Vec<Pattern>,
}

/// Why a file has no budgets that can be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadBudgetsError {
    /// It is not JSON, or other JSON than budgets.
    #[error("not a file of budgets")]
    Json(#[from] serde_json::Error),
    /// Written by a newer release.
    #[error("budgets have format version {found}, expected {FORMAT_VERSION}")]
    UnsupportedVersion {
        /// The version.
        found: u32,
    },
    /// A share is none.
    #[error("pattern {index} has fetch {found}, expected a number from 0 to 1")]
    InvalidShare {
        /// Counted from 0.
        index: usize,
        /// What it says.
        found: f64,
    },
    /// No URL has such a part.
    #[error("pattern {index} tests the part `{part}`, expected one of {}", crate::PART_NAMES.join(", "))]
    UnknownPart {
        /// Counted from 0.
        index: usize,
        /// What it says.
        part: Box<str>,
    },
}

impl Budgets {
    /// Reads budgets and checks them.
    pub fn load(reader: impl Read) -> Result<Self, LoadBudgetsError> {
        let mut budgets: Self = serde_json::from_reader(std::io::BufReader::new(reader))?;
        if budgets.version != FORMAT_VERSION {
            return Err(LoadBudgetsError::UnsupportedVersion { found: budgets.version });
        }
        for (index, pattern) in budgets.patterns.iter_mut().enumerate() {
            if !(0.0..=1.0).contains(&pattern.fetch) {
                return Err(LoadBudgetsError::InvalidShare { index, found: pattern.fetch });
            }
            if let Some(test) = pattern.when.iter().find(|test| !test.is_known()) {
                return Err(LoadBudgetsError::UnknownPart { index, part: test.part.clone() });
            }
            pattern.id = pattern.computed_id();
        }
        Ok(budgets)
    }

    /// Writes budgets, one line for each pattern.
    pub fn save(&self, mut writer: impl Write) -> std::io::Result<()> {
        let Self { version, keep_text, lost_text, has_lines, urls, patterns } = self;
        write!(
            writer,
            "{{\"version\": {version}, \"keep_text\": {keep_text}, \"lost_text\": {lost_text}, \"has_lines\": {has_lines}, \
             \"urls\": {urls}, \"patterns\": ["
        )?;
        for (index, pattern) in patterns.iter().enumerate() {
            writer.write_all(if index == 0 { b"\n" } else { b",\n" })?;
            serde_json::to_writer(&mut writer, pattern)?;
        }
        writer.write_all(b"\n]}\n")
    }

    /// Takes over what people decided in earlier budgets, before all that was learned. Returns how many decisions there are.
    pub fn keep(&mut self, earlier: &Budgets) -> usize {
        let decided: Vec<Pattern> =
            earlier.patterns.iter().filter(|pattern| pattern.decided).cloned().collect();
        let is_decided = |pattern: &Pattern| decided.iter().any(|earlier| earlier.id == pattern.id);
        let learned: Vec<Pattern> = self.patterns.drain(..).collect();
        for earlier in &decided {
            // What is known now of the very same pattern, with what was decided.
            let known = learned.iter().find(|pattern| pattern.id == earlier.id).unwrap_or(earlier);
            self.patterns.push(Pattern { fetch: earlier.fetch, decided: true, ..known.clone() });
        }
        self.patterns.extend(learned.into_iter().filter(|pattern| !is_decided(pattern)));
        decided.len()
    }
}

impl Pattern {
    /// The id that its host and tests give it.
    pub(crate) fn computed_id(&self) -> String {
        let mut text = self.host.clone();
        for test in &self.when {
            text.push_str(&format!("\n{}\n{}\n{}", test.part, test.value, test.is_negated));
        }
        format!("{:08x}", xxhash_rust::xxh3::xxh3_64(text.as_bytes()) as u32)
    }

    /// Whether less than all of it is fetched.
    pub fn is_limited(&self) -> bool {
        self.fetch < 1.0
    }
}
