/*!
The rule file: JSON for machines and people, format version first, the same bytes each time it is saved.

```json
{
  "version": 1,
  "method": "canonfd",
  "sites": {
    "example.org": {
      "summary": { "urls": 1200, "labelled": 1100, "pages": 600, "raw_rules": 4, "qualified_rules": 2 },
      "rules": [
        {
          "says": "on `/index.php`, where there is `title`: the path is `/wiki/{q.title}`",
          "when": { "path_0": { "is": "index.php" }, "path_1": "absent", "q.title": { "any": "text" } },
          "change": [ { "path": [ { "text": "wiki" }, { "value": { "from": { "of": "q.title" } } } ] }, { "drop": "q.title" } ],
          "fetchable": true,
          "evidence": { "urls": 300, "support_pairs": 280, "false_pairs": 0, "...": "..." }
        }
      ]
    },
    "example.net": { "mirror": { "of": "example.org", "except": ["contact"], "evidence": { "...": "..." } } }
  }
}
```
`docs/rules.md` is its reference, and `rules.schema.json` of this crate the same for machines.

A field of another name, and a site, field or key that is there twice, are errors: whoever wrote it means something that
would not be applied. So is a rule that can never be made.
*/

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read, Write};

use serde::de::{self, DeserializeOwned, DeserializeSeed, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::definition::given;
use super::limits::{
    DEFAULT_RULES_MEMORY, MAX_OPTIONS_BYTES, MAX_SITE_BYTES, Progress, memory_of, memory_to_compile,
};
use super::set::check_site;
use super::{InvalidSite, Mirror, RefusedRule, Rule, RuleSet, SiteRules, SiteSummary, unique_keys};
use crate::interner::Interner;

/// The format that this build writes and reads.
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
    /// Written by another release. Learn the rules again.
    #[error("rule file has format version {found}, this build reads version {supported}")]
    UnsupportedVersion {
        /// The version in the file.
        found: u32,
        /// The version this build reads.
        supported: u32,
    },
    /// There is a field that this version of the format does not have.
    #[error("unknown field `{field}`, expected `version`, `method`, `options` or `sites`")]
    UnknownField {
        /// Its name.
        field: Box<str>,
    },
    /// What the learner was asked for is no object, or too long.
    #[error("`options` is no object of at most {} KiB of JSON", MAX_OPTIONS_BYTES >> 10)]
    Options,
    /// A site is named twice.
    #[error("site `{site}` is there twice")]
    RepeatedSite {
        /// The site.
        site: Box<str>,
    },
    /// A site takes up too much of the file. Learned sites have some kilobytes.
    #[error("site `{site}` has more than {} MiB of JSON", MAX_SITE_BYTES >> 20)]
    SiteTooLong {
        /// The site, or empty if it is in what stands before the first one.
        site: Box<str>,
    },
    /// All rules together would take more memory than is allowed.
    #[error(
        "the rules need more than {} MB of memory, which is the limit; {sites} sites and {bytes} bytes of JSON were read",
        limit / 1_000_000
    )]
    TooMuchMemory {
        /// The limit, in bytes.
        limit: u64,
        /// The number of sites before.
        sites: u64,
        /// The number of bytes of JSON that were read.
        bytes: u64,
    },
    /// What is said of a site is not of that form.
    #[error("site `{site}` is malformed")]
    MalformedSite {
        /// The site.
        site: Box<str>,
        /// Where and what.
        source: serde_json::Error,
    },
    /// A rule is not of the form of a rule.
    #[error("{kind} {index} of site `{site}` is malformed")]
    MalformedRule {
        /// `rule`, or `refused rule`.
        kind: &'static str,
        /// The site.
        site: Box<str>,
        /// Its index in the site's list, from 0.
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

#[derive(Serialize)]
struct Saved<'a> {
    version: u32,
    method: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    options: Option<&'a RawValue>,
    sites: BTreeMap<&'a str, SavedSite<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum SavedSite<'a> {
    Rules {
        #[serde(skip_serializing_if = "is_default")]
        summary: &'a SiteSummary,
        #[serde(skip_serializing_if = "<[Box<str>]>::is_empty")]
        hosts: &'a [Box<str>],
        rules: &'a [Rule],
        #[serde(skip_serializing_if = "<[RefusedRule]>::is_empty")]
        refused: &'a [RefusedRule],
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        canonical_urls: &'a BTreeMap<Box<str>, Option<Box<str>>>,
    },
    Mirror {
        mirror: &'a Mirror,
    },
}

impl<'a> From<&'a SiteRules> for SavedSite<'a> {
    fn from(site: &'a SiteRules) -> Self {
        match site {
            SiteRules::Rules(_) => Self::Rules {
                summary: site.summary(),
                hosts: site.hosts(),
                rules: site.rules(),
                refused: site.refused(),
                canonical_urls: site.canonical_urls(),
            },
            SiteRules::Mirror(mirror) => Self::Mirror { mirror },
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_default(summary: &&SiteSummary) -> bool {
    **summary == SiteSummary::default()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LoadedSite<'a> {
    #[serde(default, deserialize_with = "given")]
    summary: Option<SiteSummary>,
    #[serde(default, deserialize_with = "given")]
    hosts: Option<Vec<Box<str>>>,
    #[serde(borrow, default, deserialize_with = "given")]
    rules: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default, deserialize_with = "given")]
    refused: Option<Vec<&'a RawValue>>,
    #[serde(default, deserialize_with = "given")]
    mirror: Option<Mirror>,
    #[serde(default, deserialize_with = "unique_keys")]
    canonical_urls: BTreeMap<Box<str>, Option<Box<str>>>,
}

impl RuleSet {
    /// Writes the rule file.
    pub fn save(&self, mut writer: impl Write) -> io::Result<()> {
        let sites = self.sites().map(|(site, rules)| (site, rules.into())).collect();
        let options = self.options().map(serde_json::from_str).transpose()?;
        let saved = Saved { version: FORMAT_VERSION, method: self.method(), options, sites };
        serde_json::to_writer_pretty(&mut writer, &saved)?;
        writer.write_all(b"\n")
    }

    /// Reads and checks a rule file. Rules that need more than [`DEFAULT_RULES_MEMORY`] are refused.
    pub fn load(reader: impl Read) -> Result<Self, LoadRulesError> {
        Self::load_within(reader, DEFAULT_RULES_MEMORY)
    }

    /// Like [`RuleSet::load`], with a limit on memory, in bytes. It is compared with an estimate that is mostly too high.
    pub fn load_within(reader: impl Read, max_memory: u64) -> Result<Self, LoadRulesError> {
        let (mut sites, mut held) = (BTreeMap::new(), 0);
        let rules = each_site(reader, max_memory, |site, rules, memory| {
            // Whoever loads rules compiles them next.
            held += memory + memory_to_compile(&site, &rules);
            sites.insert(site, rules);
            held
        })?;
        Ok(Self { sites, ..rules })
    }
}

impl LoadedSite<'_> {
    fn check(self, site: &str) -> Result<SiteRules, LoadRulesError> {
        let Self { summary, hosts, rules, refused, mirror, canonical_urls } = self;
        let refuse = |source| LoadRulesError::InvalidSite { site: site.into(), source };
        if let Some(mirror) = mirror {
            let has_rules = rules.is_some() || refused.is_some() || !canonical_urls.is_empty();
            let is_alone = summary.is_none() && hosts.is_none() && !has_rules;
            return if is_alone { Ok(mirror.into()) } else { Err(refuse(InvalidSite::NotOnlyMirror)) };
        }
        let rules = read_list("rule", site, &rules.unwrap_or_default())?;
        let refused = read_list("refused rule", site, &refused.unwrap_or_default())?;
        let rules = SiteRules::new(summary.unwrap_or_default(), rules).map_err(refuse)?;
        let rules = rules.with_refused(refused).with_hosts(hosts.unwrap_or_default());
        Ok(rules.with_canonical_urls(canonical_urls))
    }
}

/// Reads what a site has several of.
fn read_list<T: DeserializeOwned>(
    kind: &'static str,
    site: &str,
    list: &[&RawValue],
) -> Result<Vec<T>, LoadRulesError> {
    let malformed = |index, source| LoadRulesError::MalformedRule { kind, site: site.into(), index, source };
    let read = |(index, raw): (usize, &&RawValue)| {
        serde_json::from_str(raw.get()).map_err(|source| malformed(index, source))
    };
    list.iter().enumerate().map(read).collect()
}

/// Reads a rule file and hands out one site after the other, with the memory that its rules take, so that not all of them
/// have to be in memory. Returns the rules without any site. `each` says how much memory is taken in all; when the next site would take more
/// than `max_memory`, the file is refused.
pub(crate) fn each_site(
    reader: impl Read,
    max_memory: u64,
    mut each: impl FnMut(Box<str>, SiteRules, u64) -> u64,
) -> Result<RuleSet, LoadRulesError> {
    let progress = Progress::default();
    let reader = io::BufReader::with_capacity(1 << 20, progress.limit(reader));
    let mut json = serde_json::Deserializer::from_reader(reader);
    let mut stream = SiteStream {
        version: None,
        each: &mut each,
        progress: &progress,
        max_memory,
        held: 0,
        names: Interner::default(),
        site: Box::default(),
        error: None,
    };
    let rules = json.deserialize_map(&mut stream).and_then(|rules| json.end().map(|()| rules));
    let SiteStream { site, error, .. } = stream;
    match error {
        Some(error) => Err(error),
        None => rules.map_err(|error| match error.classify() {
            serde_json::error::Category::Io if progress.is_exceeded() => LoadRulesError::SiteTooLong { site },
            serde_json::error::Category::Io => LoadRulesError::Read(error.into()),
            _ => LoadRulesError::Malformed(error),
        }),
    }
}

/// Whether this JSON may say what the learner was asked for.
pub(super) fn are_options(json: &str) -> bool {
    json.starts_with('{') && json.len() <= MAX_OPTIONS_BYTES
}

fn check_version(found: u32) -> Result<(), LoadRulesError> {
    match found {
        FORMAT_VERSION => Ok(()),
        _ => Err(LoadRulesError::UnsupportedVersion { found, supported: FORMAT_VERSION }),
    }
}

struct SiteStream<'e> {
    version: Option<u32>,
    each: &'e mut dyn FnMut(Box<str>, SiteRules, u64) -> u64,
    progress: &'e Progress,
    max_memory: u64,
    /// Memory that is taken by sites so far.
    held: u64,
    /// The names of sites so far.
    names: Interner,
    /// The site that is being read.
    site: Box<str>,
    /// What [`serde`] cannot carry.
    error: Option<LoadRulesError>,
}

impl SiteStream<'_> {
    fn fail<E: de::Error>(&mut self, error: LoadRulesError) -> E {
        self.error = Some(error);
        E::custom("refused")
    }

    /// Checks the site whose JSON was read, and hands it out.
    fn add(&mut self, json: &str) -> Result<(), LoadRulesError> {
        let memory = memory_of(json);
        // They are copied to where there is twice the room when they grow.
        let names = 3 * self.names.memory() as u64;
        if self.held.saturating_add(names).saturating_add(memory) > self.max_memory {
            let (limit, sites) = (self.max_memory, self.names.len() as u64);
            return Err(LoadRulesError::TooMuchMemory { limit, sites, bytes: self.progress.bytes() });
        }
        let site = std::mem::take(&mut self.site);
        let rules = read_site(&site, json)?;
        let known = self.names.len();
        self.names.intern(site.as_bytes());
        if self.names.len() == known {
            return Err(LoadRulesError::RepeatedSite { site });
        }
        self.held = (self.each)(site, rules, memory);
        self.progress.start_site();
        Ok(())
    }
}

/// The whole file.
impl<'de> Visitor<'de> for &mut SiteStream<'_> {
    type Value = RuleSet;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a rule file")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RuleSet, A::Error> {
        let (mut method, mut options, mut has_sites) = (None, None, false);
        while let Some(key) = map.next_key::<Box<str>>()? {
            match &*key {
                "version" if self.version.is_some() => return Err(de::Error::duplicate_field("version")),
                "version" => {
                    let version = map.next_value()?;
                    check_version(version).map_err(|error| self.fail(error))?;
                    self.version = Some(version);
                }
                "method" if method.is_some() => return Err(de::Error::duplicate_field("method")),
                "method" => method = Some(map.next_value()?),
                "options" if options.is_some() => return Err(de::Error::duplicate_field("options")),
                "options" => {
                    let json: Box<RawValue> = map.next_value()?;
                    if !are_options(json.get()) {
                        return Err(self.fail(LoadRulesError::Options));
                    }
                    options = Some(json.get().into());
                }
                "sites" if has_sites => return Err(de::Error::duplicate_field("sites")),
                "sites" => {
                    map.next_value_seed(Sites(&mut *self))?;
                    has_sites = true;
                }
                _ => return Err(self.fail(LoadRulesError::UnknownField { field: key })),
            }
        }
        if !has_sites {
            return Err(de::Error::missing_field(if self.version.is_some() { "sites" } else { "version" }));
        }
        Ok(RuleSet { method: method.unwrap_or_default(), options, ..RuleSet::default() })
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
        while let Some(site) = map.next_key()? {
            self.0.site = site;
            let json: Box<RawValue> = map.next_value()?;
            self.0.add(json.get()).map_err(|error| self.0.fail(error))?;
        }
        Ok(())
    }
}

fn read_site(site: &str, json: &str) -> Result<SiteRules, LoadRulesError> {
    let malformed = |source| LoadRulesError::MalformedSite { site: site.into(), source };
    let rules = serde_json::from_str::<LoadedSite<'_>>(json).map_err(malformed)?.check(site)?;
    let checked = check_site(site, &rules);
    checked.map_err(|source| LoadRulesError::InvalidSite { site: site.into(), source })?;
    Ok(rules)
}
