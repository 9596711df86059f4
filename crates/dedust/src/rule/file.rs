/*!
The rule file: JSON for machines and people, format version first, the same bytes each time it is saved.

```json
{
  "version": 1,
  "method": "tree-graph",
  "sites": {
    "example.org": {
      "summary": { "urls": 1200, "labelled": 1100, "pages": 600, "raw_rules": 4, "qualified_rules": 2 },
      "rules": [
        {
          "pattern": { "scheme": { "is": "http" }, "path_0": { "is": "view" }, "q.id": { "any": { "class": "digits" } } },
          "rewrite": { "target": { "scheme": { "keep": "http" }, "path_0": { "copy": "q.id" } } },
          "evidence": { "urls": 300, "support_pairs": 280, "false_pairs": 0, "...": "..." }
        }
      ]
    }
  }
}
```
A site has `rules` (and perhaps `substitutions`), or `edits`:

```json
{ "when": { "path_0": { "is": "index.php" }, "path_1": "absent" },
  "change": [ { "path": [ { "text": "wiki" }, { "value": { "from": { "of": "q.title" } } } ] }, { "drop": "q.title" } ],
  "fetchable": true, "evidence": { "urls": 300, "...": "..." } }
```
A value `null` is a parameter without `=`; a key that a pattern does not name must be absent.
*/

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Edit, InvalidSite, Rule, RuleSet, SiteRules, SiteSummary, Substitution};

/// The format this build writes, and the newest it reads.
pub const FORMAT_VERSION: u32 = 1;

/// Why a rule file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadRulesError {
    /// The file could not be read.
    #[error("cannot read the rule file")]
    Read(#[source] io::Error),
    /// It is not JSON, or not of the form of a rule file.
    #[error("not a rule file; expected JSON that starts with {{\"version\": 1")]
    Malformed(#[source] serde_json::Error),
    /// Written by a newer release. Upgrade, or learn the rules again.
    #[error("rule file has format version {found}, this build reads up to {supported}")]
    UnsupportedVersion {
        /// The version in the file.
        found: u32,
        /// The newest version this build reads.
        supported: u32,
    },
    /// A rule is not of the form of a rule.
    #[error("rule {index} of site `{site}` is malformed")]
    MalformedRule {
        /// The site.
        site: Box<str>,
        /// The rule's place in the site's list, from 0.
        index: usize,
        /// Where and what.
        source: serde_json::Error,
    },
    /// An edit is not of the form of an edit.
    #[error("edit {index} of site `{site}` is malformed")]
    MalformedEdit {
        /// The site.
        site: Box<str>,
        /// The edit's place in the site's list, from 0.
        index: usize,
        /// Where and what.
        source: serde_json::Error,
    },
    /// The rules of a site do not fit together.
    #[error("the rules of site `{site}` are refused")]
    InvalidSite {
        /// The site.
        site: Box<str>,
        /// What is wrong.
        source: InvalidSite,
    },
}

#[derive(Deserialize)]
struct Header {
    version: u32,
}

#[derive(Serialize)]
struct Saved<'a> {
    version: u32,
    method: &'a str,
    sites: BTreeMap<&'a str, SavedSite<'a>>,
}

#[derive(Serialize)]
struct SavedSite<'a> {
    summary: &'a SiteSummary,
    rules: &'a [Rule],
    #[serde(skip_serializing_if = "<[Substitution]>::is_empty")]
    substitutions: &'a [Substitution],
    #[serde(skip_serializing_if = "<[Edit]>::is_empty")]
    edits: &'a [Edit],
}

#[derive(Deserialize)]
struct Loaded<'a> {
    #[serde(default)]
    method: Box<str>,
    #[serde(borrow)]
    sites: BTreeMap<Box<str>, LoadedSite<'a>>,
}

#[derive(Deserialize)]
struct LoadedSite<'a> {
    #[serde(default)]
    summary: SiteSummary,
    #[serde(borrow, default)]
    rules: Vec<&'a RawValue>,
    #[serde(default)]
    substitutions: Vec<Substitution>,
    #[serde(borrow, default)]
    edits: Vec<&'a RawValue>,
}

impl RuleSet {
    /// Writes the rule file.
    pub fn save(&self, mut writer: impl Write) -> io::Result<()> {
        let sites = self
            .sites()
            .map(|(site, rules)| {
                (
                    site,
                    SavedSite {
                        summary: rules.summary(),
                        rules: rules.rules(),
                        substitutions: rules.substitutions(),
                        edits: rules.edits(),
                    },
                )
            })
            .collect();
        let saved = Saved { version: FORMAT_VERSION, method: self.method(), sites };
        serde_json::to_writer_pretty(&mut writer, &saved)?;
        writer.write_all(b"\n")
    }

    /// Reads and checks a rule file.
    pub fn load(mut reader: impl Read) -> Result<Self, LoadRulesError> {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).map_err(LoadRulesError::Read)?;
        let Header { version } = serde_json::from_slice(&bytes).map_err(LoadRulesError::Malformed)?;
        if version == 0 || version > FORMAT_VERSION {
            return Err(LoadRulesError::UnsupportedVersion { found: version, supported: FORMAT_VERSION });
        }
        let loaded: Loaded<'_> = serde_json::from_slice(&bytes).map_err(LoadRulesError::Malformed)?;
        let mut set = Self::new(&loaded.method);
        for (site, LoadedSite { summary, rules, substitutions, edits }) in loaded.sites {
            let rules = rules
                .iter()
                .enumerate()
                .map(|(index, rule)| {
                    serde_json::from_str(rule.get()).map_err(|source| LoadRulesError::MalformedRule {
                        site: site.clone(),
                        index,
                        source,
                    })
                })
                .collect::<Result<_, _>>()?;
            let edits = edits
                .iter()
                .enumerate()
                .map(|(index, edit)| {
                    serde_json::from_str(edit.get()).map_err(|source| LoadRulesError::MalformedEdit {
                        site: site.clone(),
                        index,
                        source,
                    })
                })
                .collect::<Result<_, _>>()?;
            SiteRules::new(summary, rules)
                .and_then(|rules| rules.with_substitutions(substitutions))
                .and_then(|rules| rules.with_edits(edits))
                .and_then(|rules| set.insert(&site, rules))
                .map_err(|source| LoadRulesError::InvalidSite { site, source })?;
        }
        Ok(set)
    }
}
