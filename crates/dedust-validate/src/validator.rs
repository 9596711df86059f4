/*!
Rules and URLs in, verdicts and rules out.
*/

use dedust::errors::InvalidSite;
use dedust::rules::SiteRules;
use dedust::{ParsedUrl, RuleSet};
use dedust_fetch::Fetcher;

use crate::canonical::CanonicalUrls;
use crate::finding::Finding;
use crate::known_pairs::{KnownPairs, StateError};
use crate::progress::Progress;
use crate::sample::Sampler;
use crate::survey::Survey;
use crate::trial::Limits;
use crate::unproven::Unproven;
use crate::verdicts::judge;

/// Settings of a [`Validator`]. By default neither unproven rules nor mirrors are tried.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How many pairs are compared for each rule, and how many of them may be different.
    pub limits: Limits,
    /// What the choice of pairs depends on.
    pub seed: u64,
    /// Whether rules that the learner could not prove are tried too. Those that hold become rules of their sites.
    pub unproven: bool,
    /// Whether mirrors are tried: rules that move URLs to another site, whose pages are then fetched too.
    pub mirrors: bool,
    /// The day to note in the verdicts.
    pub date: Option<String>,
}

/// Draws pairs of URLs that put rules to the test, and has them compared.
pub struct Validator<'r> {
    rules: &'r RuleSet,
    options: Options,
    sampler: Sampler,
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Validation {
    /// What was found of each rule: the sites in the order of their names, and of each its rules before its unproven ones.
    pub findings: Vec<Finding>,
    /// The rules with these verdicts. Rules that are refuted stay, and are no longer applied unless they are pinned. Those whose canonical
    /// URLs are refuted are no longer fetchable, unless they are pinned.
    pub rules: RuleSet,
}

/// Why a run ended before it was done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ValidateError {
    /// A pair cannot be noted.
    #[error(transparent)]
    State(#[from] StateError),
    /// The rules of a site cannot stand together any more.
    #[error(transparent)]
    Invalid(#[from] InvalidSite),
}

impl<'r> Validator<'r> {
    /// A validator of these rules, without URLs.
    pub fn new(rules: &'r RuleSet, options: Options) -> Result<Self, InvalidSite> {
        let sampler = Sampler::new(rules, options.seed, options.limits.max_pairs())?;
        Ok(Self { rules, options, sampler })
    }

    /// Adds a URL that pairs may be drawn from. URLs of sites without rules, or with credentials, are not kept.
    pub fn observe(&mut self, url: &ParsedUrl) {
        self.sampler.observe(url);
    }

    /// Has pairs compared until each rule is decided or no pairs are left. Pairs that are known are not fetched again, and those
    /// that are fetched are noted at once.
    pub fn run(
        &self,
        fetcher: &Fetcher,
        known: &KnownPairs,
        progress: &dyn Progress,
    ) -> Result<Validation, ValidateError> {
        let Self { rules, sampler, options: Options { limits, mirrors, .. } } = self;
        let (limits, date) = (*limits, self.options.date.as_deref());
        let sites = rules.sites().filter(|(_, site)| *mirrors || !is_mirror(site));
        let sites = sites.map(|(name, _)| Ok((name, sampler.draw(name)?)));
        let sites = sites.collect::<Result<Vec<_>, InvalidSite>>()?;
        let unproven = Unproven { rules, sampler, limits, date };
        let unproven = self.options.unproven.then_some(&unproven);
        let canonical = CanonicalUrls { rules, sampler };
        let survey = Survey { fetcher, known, limits, canonical: &canonical, unproven, progress };
        let findings = survey.run(&sites)?;
        let rules = judge(rules, &findings, date)?;
        Ok(Validation { findings, rules })
    }
}

/// Whether a site is a mirror, also one that an earlier run refuted.
fn is_mirror(site: &SiteRules) -> bool {
    matches!(site, SiteRules::Mirror(_))
}
