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
Or it shows the pages of another, and has `"mirror": { "of": "example.org", "fetchable": true, "evidence": { "...": "..." } }`.

With `"hosts": ["wiki.example.org"]` the rules of a site hold on these hosts alone, with and without `www`.

A value `null` is a parameter without `=`; a key that a pattern does not name must be absent.
*/

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read, Write};

use serde::de::{self, DeserializeSeed, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::set::check_site;
use super::{Edit, InvalidSite, Mirror, RefusedEdit, Rule, RuleSet, SiteRules, SiteSummary, Substitution};

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
    #[serde(skip_serializing_if = "<[Box<str>]>::is_empty")]
    hosts: &'a [Box<str>],
    rules: &'a [Rule],
    #[serde(skip_serializing_if = "<[Substitution]>::is_empty")]
    substitutions: &'a [Substitution],
    #[serde(skip_serializing_if = "<[Edit]>::is_empty")]
    edits: &'a [Edit],
    #[serde(skip_serializing_if = "<[RefusedEdit]>::is_empty")]
    refused: &'a [RefusedEdit],
    #[serde(skip_serializing_if = "Option::is_none")]
    mirror: Option<&'a Mirror>,
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
    #[serde(default)]
    hosts: Vec<Box<str>>,
    #[serde(borrow, default)]
    rules: Vec<&'a RawValue>,
    #[serde(default)]
    substitutions: Vec<Substitution>,
    #[serde(borrow, default)]
    edits: Vec<&'a RawValue>,
    #[serde(default)]
    refused: Vec<RefusedEdit>,
    #[serde(default)]
    mirror: Option<Mirror>,
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
                        hosts: rules.hosts(),
                        rules: rules.rules(),
                        substitutions: rules.substitutions(),
                        edits: rules.edits(),
                        refused: rules.refused(),
                        mirror: rules.mirror(),
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
        for (site, loaded) in loaded.sites {
            let rules = loaded.check(&site)?;
            set.insert(&site, rules).map_err(|source| LoadRulesError::InvalidSite { site, source })?;
        }
        Ok(set)
    }
}

impl LoadedSite<'_> {
    fn check(self, site: &str) -> Result<SiteRules, LoadRulesError> {
        let Self { summary, hosts, rules, substitutions, edits, refused, mirror } = self;
        let refuse = |source| LoadRulesError::InvalidSite { site: site.into(), source };
        if let Some(mirror) = mirror {
            let has_rules = !rules.is_empty() || !substitutions.is_empty() || !edits.is_empty();
            let mirror =
                if has_rules { Err(InvalidSite::Mirror) } else { SiteRules::mirror_of(summary, mirror) };
            return mirror.map_err(refuse);
        }
        let rules = rules
            .iter()
            .enumerate()
            .map(|(index, rule)| {
                serde_json::from_str(rule.get()).map_err(|source| LoadRulesError::MalformedRule {
                    site: site.into(),
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
                    site: site.into(),
                    index,
                    source,
                })
            })
            .collect::<Result<_, _>>()?;
        SiteRules::new(summary, rules)
            .and_then(|rules| rules.with_substitutions(substitutions))
            .and_then(|rules| rules.with_edits(edits))
            .map(|rules| rules.with_refused(refused).with_hosts(hosts))
            .map_err(refuse)
    }
}

/// Reads a rule file and hands out one site after the other, so that not all of them have to be in memory. Returns the
/// method. Unlike [`RuleSet::load`] it needs the version to come first, as it does in every file that was saved.
pub(crate) fn each_site(
    reader: impl Read,
    mut each: impl FnMut(&str, SiteRules),
) -> Result<Box<str>, LoadRulesError> {
    let mut stream = SiteStream { each: &mut each, error: None };
    let mut json = serde_json::Deserializer::from_reader(io::BufReader::with_capacity(1 << 20, reader));
    let method = json.deserialize_map(&mut stream).and_then(|method| json.end().map(|()| method));
    match stream.error {
        Some(error) => Err(error),
        None => method.map_err(|error| match error.classify() {
            serde_json::error::Category::Io => LoadRulesError::Read(error.into()),
            _ => LoadRulesError::Malformed(error),
        }),
    }
}

struct SiteStream<'e> {
    each: &'e mut dyn FnMut(&str, SiteRules),
    /// What [`serde`] cannot carry.
    error: Option<LoadRulesError>,
}

impl SiteStream<'_> {
    fn fail<E: de::Error>(&mut self, error: LoadRulesError) -> E {
        self.error = Some(error);
        E::custom("refused")
    }
}

/// The whole file.
impl<'de> Visitor<'de> for &mut SiteStream<'_> {
    type Value = Box<str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a rule file")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Box<str>, A::Error> {
        let (mut version, mut method) = (None, Box::default());
        while let Some(key) = map.next_key::<Box<str>>()? {
            match &*key {
                "version" => {
                    let found: u32 = map.next_value()?;
                    if found == 0 || found > FORMAT_VERSION {
                        let supported = FORMAT_VERSION;
                        return Err(self.fail(LoadRulesError::UnsupportedVersion { found, supported }));
                    }
                    version = Some(found);
                }
                "method" => method = map.next_value()?,
                "sites" if version.is_some() => map.next_value_seed(Sites(&mut *self))?,
                "sites" => return Err(de::Error::custom("`version` must come before `sites`")),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        if version.is_none() {
            return Err(de::Error::missing_field("version"));
        }
        Ok(method)
    }
}

/// Its sites.
struct Sites<'s, 'e>(&'s mut SiteStream<'e>);

impl<'de> DeserializeSeed<'de> for Sites<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Sites<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sites with their rules")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some((site, raw)) = map.next_entry::<Box<str>, Box<RawValue>>()? {
            let loaded: LoadedSite<'_> = serde_json::from_str(raw.get()).map_err(de::Error::custom)?;
            let checked = loaded.check(&site).and_then(|rules| {
                check_site(&site, &rules)
                    .map(|()| rules)
                    .map_err(|source| LoadRulesError::InvalidSite { site: site.clone(), source })
            });
            match checked {
                Ok(rules) => (self.0.each)(&site, rules),
                Err(error) => return Err(self.0.fail(error)),
            }
        }
        Ok(())
    }
}
