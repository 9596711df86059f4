/*!
Says how the sites of a crawl are sampled that is spread over many processes, and puts the samples of a site together.

Sites of which all observations are learned from need no plan, so that it names large sites and mirrors alone, however many
sites there are. A [`SiteSample`] takes what [`ShardSampler`](super::ShardSampler)s of all processes have drawn of a site, and makes the
[`Corpus`] that one process would have made of all observations.
*/

use std::collections::{BTreeMap, BTreeSet};

use dedust::ParsedUrl;
use serde::{Deserialize, Serialize};

use super::draw::{Draw, Groups, Pilot};
use super::record::Records;
use super::sampler::Stage;
use super::{SampleSize, SiteSize, StoredSite};
use crate::corpus::Corpus;
use crate::crawl::Crawl;
use crate::evidence::EvidenceKinds;
use crate::label::Clues;
use crate::recount::Unchecked;
use crate::thresholds::sample::{DRAWN_FOR_WANTED, WIDER};

/// How the large sites of a crawl are sampled, and which sites are left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SamplePlan {
    sample: SampleSize,
    pub(super) large: BTreeMap<Box<str>, LargeSite>,
    /// Sites whose pages are those of another.
    pub(super) mirrors: BTreeSet<Box<str>>,
    /// Whether no other sites than the large ones are drawn.
    pub(super) only_large: bool,
}

/// A site of which not all observations are learned from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct LargeSite {
    size: SiteSize,
    /// The hashes of keys that do not tell groups apart, once they are known.
    varying_keys: Option<Vec<u64>>,
    /// Groups with larger hashes are not drawn.
    last_group: u64,
    /// Its rules, once they are learned, as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unchecked: Option<String>,
}

/// A sample that cannot be learned from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SampleError {
    /// What was drawn is not as it was written.
    #[error("observation {number} of the sample is not as it was written")]
    Damaged {
        /// Which one, from 1.
        number: u64,
    },
    /// Too few observations were drawn: the site has to be drawn again, by [`SamplePlan::wider`].
    #[error("too few observations were drawn")]
    TooFew,
    /// Of the site, groups have to be found first.
    #[error("how the URLs of the site are grouped is not known yet")]
    NoGroups,
}

impl SamplePlan {
    /// A plan for sites of which nothing is known.
    pub fn new(sample: SampleSize) -> Self {
        Self { sample, large: BTreeMap::new(), mirrors: BTreeSet::new(), only_large: false }
    }

    /// Whether a site has to be named: it is too large to be learned from whole.
    pub fn is_large(&self, site: &StoredSite) -> bool {
        self.sample.leaves_out(site.size)
    }

    /// Names a site: one whose pages are those of another is left out, a large one is sampled.
    pub fn add(&mut self, site: &StoredSite) {
        let StoredSite { name, size, mirror } = site;
        if mirror.is_some() {
            self.mirrors.insert(name.clone());
        } else if self.is_large(site) {
            let large = LargeSite { size: *size, varying_keys: None, last_group: u64::MAX, unchecked: None };
            self.large.insert(name.clone(), large);
        }
    }

    /// Whether there are large sites.
    pub fn has_large_sites(&self) -> bool {
        !self.large.is_empty()
    }

    /// Says how the URLs of large sites are grouped, as samples of [`Stage::Pilot`] told. Sites of which nothing was drawn for that are
    /// not named, and have no keys that vary.
    pub fn set_groups<N: AsRef<str>>(&mut self, found: impl IntoIterator<Item = (N, Groups)>) {
        let sample = self.sample;
        for large in self.large.values_mut() {
            large.varying_keys = Some(Vec::new());
            large.last_group = large.first_limit(sample);
        }
        for (site, groups) in found {
            if let Some(large) = self.large.get_mut(site.as_ref()) {
                large.varying_keys = Some(groups.varying_keys());
            }
        }
    }

    /// The plan to hold rules against all observations of their sites. No other site is drawn.
    #[must_use]
    pub fn to_check(&self, learned: impl IntoIterator<Item = Unchecked>) -> Self {
        let with_rules = |unchecked: Unchecked| {
            let (name, large) = self.large.get_key_value(unchecked.site())?;
            let last_group = large.first_limit(self.sample);
            Some((
                name.clone(),
                LargeSite { last_group, unchecked: Some(unchecked.to_json()), ..large.clone() },
            ))
        };
        let large = learned.into_iter().filter_map(with_rules).collect();
        Self { sample: self.sample, large, mirrors: BTreeSet::new(), only_large: true }
    }

    /// The plan for sites of which [too few](SampleError::TooFew) observations were drawn. No other site is drawn again.
    #[must_use]
    pub fn wider<'s>(&self, sites: impl IntoIterator<Item = &'s str>) -> Self {
        let large =
            sites.into_iter().filter_map(|name| self.large.get_key_value(name)).map(|(name, large)| {
                let last_group = large.last_group.saturating_mul(WIDER);
                (name.clone(), LargeSite { last_group, ..large.clone() })
            });
        Self { sample: self.sample, large: large.collect(), mirrors: BTreeSet::new(), only_large: true }
    }

    /// The sample of a site, without observations.
    pub fn site(&self, name: &str, kinds: EvidenceKinds, stage: Stage) -> SiteSample {
        let large = self.large.get(name);
        let is_whole = large.is_none_or(|large| large.last_group == u64::MAX);
        let drawn = match (large, stage) {
            (None, _) => Drawn::Whole(Vec::new()),
            (Some(large), Stage::Pilot) => Drawn::Pilot(large.pilot()),
            (Some(large), Stage::Draw | Stage::Check) => match large.draw(name, self.sample, stage) {
                Some(draw) => Drawn::Draw(Box::new(draw)),
                None => Drawn::NoGroups,
            },
        };
        let unchecked = large.filter(|_| stage == Stage::Check).and_then(LargeSite::unchecked);
        let scale = large.map(|large| large.size.rows as f64 / self.sample.of(large.size).max(1) as f64);
        let size = large.map(|large| large.size).unwrap_or_default();
        let url = ParsedUrl::default();
        SiteSample { kinds, name: name.into(), size, taken: 0, is_whole, drawn, scale, unchecked, url }
    }

    /// What this process draws of each large site.
    pub(super) fn draws(&self, stage: Stage) -> impl Iterator<Item = (&str, Drawn)> {
        self.large.iter().map(move |(name, large)| {
            let drawn = match stage {
                Stage::Pilot => Drawn::Pilot(large.pilot()),
                Stage::Draw | Stage::Check => match large.draw(name, self.sample, stage) {
                    Some(draw) => Drawn::Draw(Box::new(draw)),
                    None => Drawn::NoGroups,
                },
            };
            (&**name, drawn)
        })
    }
}

impl LargeSite {
    fn pilot(&self) -> Pilot {
        Pilot::new(self.size)
    }

    fn unchecked(&self) -> Option<Unchecked> {
        Unchecked::from_json(self.unchecked.as_deref()?)
    }

    /// The largest hash of a group that each process looks at first.
    fn first_limit(&self, sample: SampleSize) -> u64 {
        let share = DRAWN_FOR_WANTED * sample.of(self.size) as f64 / self.size.rows as f64;
        if share < 1.0 { (share * u64::MAX as f64) as u64 } else { u64::MAX }
    }

    fn draw(&self, name: &str, sample: SampleSize, stage: Stage) -> Option<Draw> {
        if stage == Stage::Check {
            let wanted = sample.of(self.size) as usize;
            return Some(Draw::of_keys(self.unchecked()?.normalizer(), self.size, wanted, self.last_group));
        }
        let groups = Groups::of_varying_keys(self.varying_keys.as_ref()?.iter().copied());
        let wanted = sample.of(self.size) as usize;
        Some(Draw::within(groups, name.len(), self.size, wanted, self.last_group))
    }
}

/// What is drawn of a site.
#[derive(Debug)]
pub(super) enum Drawn {
    /// All observations, as records.
    Whole(Vec<u8>),
    Pilot(Pilot),
    Draw(Box<Draw>),
    NoGroups,
}

/// The sample of one site, put together of those of several processes.
#[derive(Debug)]
pub struct SiteSample {
    kinds: EvidenceKinds,
    name: Box<str>,
    /// All that is to be observed of the site; of one that is learned from whole, what was taken.
    size: SiteSize,
    taken: u64,
    /// Whether each process has drawn as much as was wanted of all.
    is_whole: bool,
    drawn: Drawn,
    /// For each observation that is learned from, so many of the site, if not all are.
    scale: Option<f64>,
    /// The rules that are held against it.
    unchecked: Option<Unchecked>,
    url: ParsedUrl,
}

impl SiteSample {
    /// Takes an observation that was drawn, in any order.
    pub fn take(&mut self, record: &[u8]) -> Result<(), SampleError> {
        self.taken += 1;
        let read = Records::only(record).ok_or(SampleError::Damaged { number: self.taken })?;
        match &mut self.drawn {
            Drawn::Whole(records) => {
                records.extend_from_slice(record);
                // It was parsed before it was drawn.
                let _ = self.url.parse_from(read.url);
                self.size += SiteSize::of_row(read.url, &self.url, read.page);
            }
            Drawn::Pilot(pilot) => pilot.offer(&read),
            Drawn::Draw(draw) => draw.offer(&read, &mut self.url),
            Drawn::NoGroups => return Err(SampleError::NoGroups),
        }
        Ok(())
    }

    /// The observations of the site, learned from or not.
    pub fn observations(&self) -> u64 {
        self.size.rows
    }

    /// For each observation that is learned from, so many of the site; `None` where all are.
    pub(crate) fn scale(&self) -> Option<f64> {
        self.scale
    }

    /// By a sample of [`Stage::Check`]: the rules, the keys that they are held against, and the share of all keys that these are.
    pub(crate) fn into_check(mut self) -> Result<Option<(Unchecked, Corpus, f64)>, SampleError> {
        let (Some(unchecked), Drawn::Draw(draw)) = (self.unchecked.take(), &mut self.drawn) else {
            return Err(SampleError::NoGroups);
        };
        let share = draw.share();
        Ok(self.into_corpus()?.map(|corpus| (unchecked, corpus, share)))
    }

    /// How the URLs of the site are grouped, by a sample of [`Stage::Pilot`]; not at all by any other.
    pub fn find_groups(self) -> Result<Groups, SampleError> {
        match self.drawn {
            Drawn::Pilot(pilot) => pilot
                .find_groups(self.kinds, &self.name)
                .map_err(|_| SampleError::Damaged { number: self.taken }),
            _ => Ok(Groups::default()),
        }
    }

    /// What is learned from, by a sample of [`Stage::Draw`]; `None` where there is nothing.
    pub fn into_corpus(self) -> Result<Option<Corpus>, SampleError> {
        let mut crawl = Crawl::new(self.kinds).hashing([(&*self.name, self.size.text_hash())]);
        self.each(|url, clues, time| {
            // It was parsed before it was drawn.
            let _ = crawl.observe_at(url, clues, time);
        })?;
        Ok(crawl.into_corpora_in_turn().next())
    }

    /// Hands out every observation that is learned from, by a sample of [`Stage::Draw`]: its URL, what is known of it, and its
    /// time.
    pub fn each(self, mut take: impl FnMut(&[u8], &Clues<'_>, Option<&[u8]>)) -> Result<(), SampleError> {
        let damaged = SampleError::Damaged { number: self.taken };
        let mut take = |records: &[u8]| {
            let mut records = Records::new(records);
            while let Some(record) = records.read() {
                take(record.url, &record.clues, record.time);
            }
            if records.is_at_end() { Ok(()) } else { Err(damaged.clone()) }
        };
        match self.drawn {
            Drawn::Whole(records) => take(&records),
            Drawn::Draw(mut draw) => {
                if !self.is_whole && !draw.is_full() {
                    return Err(SampleError::TooFew);
                }
                draw.finish().try_for_each(|record| take(&record))
            }
            Drawn::Pilot(_) | Drawn::NoGroups => Err(SampleError::NoGroups),
        }
    }
}
