/*!
Draws what one of many processes sends on of its observations, as a [`SamplePlan`] says: the second and third of three readings, and a fourth where there are large sites.

Observations come in, in any order; the name of a site and an observation as bytes go out, for [`SamplePlan::site`]. Those of
small sites go out at once. Of large sites a bounded number is held until the end.
*/

use std::borrow::Cow;

use dedust::errors::ParseUrlError;
use foldhash::{HashMap, HashSet};

use super::SamplePlan;
use super::plan::Drawn;
use crate::label::Clues;
use crate::observed::{Observed, Purpose};

/// What observations are drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// To find out how the URLs of large sites are grouped.
    Pilot,
    /// To learn from.
    Draw,
    /// To hold what was learned from samples against all observations.
    Check,
}

/// Draws observations.
#[derive(Debug)]
pub struct ShardSampler {
    large: HashMap<Box<[u8]>, Drawn>,
    mirrors: HashSet<Box<[u8]>>,
    /// Whether the observations of other sites go out as they come.
    passes_small_sites: bool,
    observed: Observed,
    record: Vec<u8>,
}

impl ShardSampler {
    /// Draws as the plan says, of the rows that a [`Census`](super::Census) for the same purpose has counted.
    pub fn new(plan: &SamplePlan, stage: Stage, purpose: Purpose) -> Self {
        let large: HashMap<Box<[u8]>, Drawn> =
            plan.draws(stage).map(|(name, drawn)| (name.as_bytes().into(), drawn)).collect();
        Self {
            large,
            mirrors: plan.mirrors.iter().map(|name| name.as_bytes().into()).collect(),
            passes_small_sites: stage == Stage::Draw && !plan.only_large,
            observed: Observed::new(purpose),
            record: Vec::new(),
        }
    }

    /// Adds one URL with what is known of it. `send` is given the name of its site and the observation, if it goes out at once.
    ///
    /// What is no URL is an error, unless it is of no use anyway.
    pub fn observe(
        &mut self,
        url: &[u8],
        clues: &Clues<'_>,
        time: Option<&[u8]>,
        send: impl FnOnce(&str, &[u8]),
    ) -> Result<(), ParseUrlError> {
        if !self.observed.read(url, clues)? {
            return Ok(());
        }
        let name = self.observed.site();
        // Records of one site are compared with each other, so that all processes give it the same number.
        let record = || self.observed.record(0, url, clues, time);
        match self.large.get_mut(name) {
            Some(Drawn::Pilot(pilot)) => pilot.offer(&record()),
            Some(Drawn::Draw(draw)) => draw.offer_parsed(record, &self.observed.url),
            Some(_) => {}
            None if self.passes_small_sites && !self.mirrors.contains(name) => {
                self.record.clear();
                record().write(&mut self.record);
                send(&text(name), &self.record);
            }
            None => {}
        }
        Ok(())
    }

    /// Sends what was drawn of large sites.
    pub fn finish(self, mut send: impl FnMut(&str, &[u8])) {
        for (name, drawn) in self.large {
            let name = text(&name);
            match drawn {
                Drawn::Pilot(pilot) => pilot.finish().for_each(|record| send(&name, &record)),
                Drawn::Draw(draw) => draw.finish().for_each(|record| send(&name, &record)),
                Drawn::Whole(_) | Drawn::NoGroups => {}
            }
        }
    }
}

fn text(name: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(name)
}
