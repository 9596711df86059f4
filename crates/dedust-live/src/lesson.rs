/*!
Learning from a site that is being crawled: its records in, rules and the keys of its URLs out.

Takes long, and needs nothing but what it was given: a lesson can be learned on another thread while the crawl goes on.
*/

use std::sync::Arc;

use dedust::{Normalizer, ParsedUrl, RuleSet, Scratch};
use dedust_learn::Trainer;
use dedust_learn::support::{LabelBuilder, Labels, LinkTargets};
use dedust_seen::KeyHasher;

use crate::audit::{Audit, Finding};
use crate::error::LiveError;
use crate::knowledge::{Knowledge, Withdrawn};
use crate::log::Snapshot;
use crate::record::{Record, Records, Row};
use crate::steady::{Shown, keep_steady};
use crate::withdraw::{Allowed, Pair, withdraw};

/// What is to be learned of a site.
#[derive(Debug)]
pub struct Lesson {
    pub(crate) site: Arc<str>,
    pub(crate) snapshot: Snapshot,
    pub(crate) trainer: Trainer,
    /// Rules that serve where the site has none.
    pub(crate) rules: Arc<Normalizer>,
    pub(crate) knowledge: Knowledge,
    pub(crate) audits: Vec<Audit>,
    pub(crate) hasher: KeyHasher,
    /// Whether rules are learned, and not only held against audits.
    pub(crate) learns: bool,
}

/// What was learned of a site.
#[derive(Debug)]
pub struct Learned {
    pub(crate) site: Arc<str>,
    pub(crate) knowledge: Knowledge,
    pub(crate) audits: Vec<Audit>,
    /// The key of each entry.
    pub(crate) keys: Vec<u64>,
    /// The key of the URL that an entry leads to.
    pub(crate) led: Vec<(u32, u64)>,
}

/// What a site has shown.
struct Seen<'a> {
    urls: Vec<&'a [u8]>,
    rows: Vec<(u32, Row<'a>)>,
}

impl<'a> Seen<'a> {
    fn new(records: &'a [u8]) -> Self {
        let mut seen = Self { urls: Vec::new(), rows: Vec::new() };
        for record in Records(records) {
            match record {
                Record::Met { url, .. } => seen.urls.push(url),
                Record::Row { entry, row } if (entry as usize) < seen.urls.len() => {
                    seen.rows.push((entry, row));
                }
                _ => {}
            }
        }
        seen
    }

    /// Calls back with each row, its URL parsed and its links resolved.
    fn each_row(&self, mut take: impl FnMut(u32, &Row<'a>, &ParsedUrl, &LinkTargets)) {
        let (mut url, mut links) = (ParsedUrl::default(), LinkTargets::default());
        for (entry, row) in &self.rows {
            if url.parse_from(self.urls[*entry as usize]).is_ok() {
                links.resolve(&url, &row.clues);
                take(*entry, row, &url, &links);
            }
        }
    }

    /// Whether each URL was fetched.
    fn is_seen(&self) -> Vec<bool> {
        let mut is_seen = vec![false; self.urls.len()];
        self.rows.iter().for_each(|(entry, _)| is_seen[*entry as usize] = true);
        is_seen
    }

    /// Which URLs showed the same page.
    fn labels(&self, trainer: &Trainer) -> Labels {
        let mut builder = LabelBuilder::new(trainer.options().evidence);
        self.each_row(|entry, row, url, links| {
            builder.observe(entry, url.as_bytes(), &links.within(&row.clues));
        });
        builder.finish(self.urls.len())
    }

    /// Learns rules from rows of entries from this one on.
    fn learn(&self, trainer: &Trainer, since: u32) -> Result<RuleSet, LiveError> {
        let mut store = trainer.store();
        for (entry, row) in self.rows.iter().filter(|(entry, _)| *entry >= since) {
            // A URL that was admitted is one.
            let _ = store.observe(self.urls[*entry as usize], &row.clues, row.time);
        }
        let crawl = store.finish().map_err(LiveError::io("keep", "observations in memory"))?;
        Ok(trainer.train_stored(&crawl, &()).map(|training| training.rules)?)
    }
}

impl Lesson {
    /// The site.
    pub fn site(&self) -> &str {
        &self.site
    }

    /// Learns. Other sites and answers need not wait for it.
    pub fn learn(self) -> Result<Learned, LiveError> {
        let Self { site, snapshot, trainer, rules: others, mut knowledge, mut audits, hasher, learns } = self;
        let records = snapshot.read()?;
        let seen = Seen::new(&records.bytes);
        let mut rules = (*knowledge.rules).clone();
        let labels = seen.labels(&trainer);
        if learns {
            knowledge.rows = seen.rows.len() as u64;
            rules = seen.learn(&trainer, knowledge.since)?;
            let is_seen = seen.is_seen();
            keep_steady(
                &mut rules,
                &knowledge.rules,
                &site,
                &seen.urls,
                |entry| is_seen[entry as usize],
                |one, two| shown(&labels, one, two),
            );
            for before in keep(&mut knowledge.withdrawn, knowledge.rows) {
                take_from(&mut rules, &site, before);
            }
        }
        if !audits.is_empty() {
            judge(&mut audits, &labels, &seen);
            let allowed = Allowed {
                lost: trainer.options().max_loss * labels.cluster_count() as f64,
                rows: seen.rows.len() as u64,
            };
            let found = withdraw(&mut rules, &site, &pairs(&audits, &seen), allowed);
            knowledge.withdrawn.extend(found);
        }
        let knowledge = knowledge.with_rules(rules);
        let normalizer = knowledge.normalizer.as_ref().unwrap_or(&others);
        let mut scratch = Scratch::default();
        let mut key_of =
            |url: &[u8]| hasher.hash(normalizer.key_with(url, &mut scratch).unwrap_or(url)).to_hash() as u64;
        let keys: Vec<u64> = seen.urls.iter().map(|url| key_of(url)).collect();
        let mut led = Vec::new();
        seen.each_row(|entry, _, _, links| {
            if let Some(target) = links.within(&dedust_learn::Clues::default()).redirect {
                led.push((entry, key_of(target)));
            }
        });
        for audit in &mut audits {
            let key = |entry: u32| keys.get(entry as usize);
            audit.is_joined = key(audit.entry) == key(audit.holder);
        }
        Ok(Learned { site, knowledge, audits, keys, led })
    }
}

/// Rules that were withdrawn and stay so: until there are twice as many rows as there were then.
fn keep(withdrawn: &mut Vec<Withdrawn>, rows: u64) -> &[Withdrawn] {
    withdrawn.retain(|withdrawn| rows < 2 * withdrawn.rows);
    withdrawn
}

fn take_from(rules: &mut RuleSet, site: &str, withdrawn: &Withdrawn) {
    if let Some(changed) = rules.site(site).map(|rules| withdrawn.take_from(rules))
        && rules.insert(site, changed).is_err()
    {
        let _ = rules.insert(site, dedust::rules::SiteRules::default());
    }
}

/// Says of each audit what it showed.
fn judge(audits: &mut [Audit], labels: &Labels, seen: &Seen<'_>) {
    let is_seen = seen.is_seen();
    let is_seen = |entry: u32| is_seen.get(entry as usize) == Some(&true);
    for audit in audits {
        let (one, two) = (audit.entry, audit.holder);
        audit.finding = match shown(labels, one, two) {
            _ if !is_seen(one) || !is_seen(two) => Finding::Open,
            Shown::Same => Finding::Same,
            Shown::Different => Finding::Different,
            Shown::Unknown => Finding::Unclear,
        };
    }
}

/// What two URLs showed that were both fetched.
fn shown(labels: &Labels, one: u32, two: u32) -> Shown {
    if labels.label_of(one).is_some() && labels.label_of(one) == labels.label_of(two) {
        Shown::Same
    } else if labels.are_different(one, two) {
        Shown::Different
    } else {
        Shown::Unknown
    }
}

/// The audits that say something.
fn pairs<'a>(audits: &[Audit], seen: &Seen<'a>) -> Vec<Pair<'a>> {
    let pair = |audit: &Audit| {
        let is_different = match audit.finding {
            Finding::Same => false,
            Finding::Different => true,
            Finding::Open | Finding::Unclear => return None,
        };
        Some(Pair {
            url: seen.urls.get(audit.entry as usize)?,
            holder: seen.urls.get(audit.holder as usize)?,
            chance: audit.chance.into(),
            is_different,
        })
    };
    audits.iter().filter_map(pair).collect()
}
