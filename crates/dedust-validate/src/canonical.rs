/*!
Which canonical URLs put the rules of a site to the test.

URLs in, pairs of a URL and its canonical URL by all rules out, for each rule that has a part in them. What is wrong with a canonical URL is
wrong with the rule where no other has a part in it: those come first, and rules that have enough of them are tried first. Each canonical
URL comes once. Nothing is fetched here.
*/

use std::collections::HashSet;

use dedust::errors::InvalidSite;
use dedust::rules::{Rule, SiteRules};
use dedust::{Normalizer, RuleSet};

use crate::finding::Finding;
use crate::pair::{Pair, Target};
use crate::sample::Sampler;
use crate::verdicts::judged_rules;

/// The canonical URLs of all sites.
pub(crate) struct CanonicalUrls<'a> {
    pub(crate) rules: &'a RuleSet,
    pub(crate) sampler: &'a Sampler,
}

/// What a rule has a part in.
pub(crate) struct DrawnUrls {
    /// URLs, each with its canonical URL, those first in which no other rule has a part.
    pub(crate) pairs: Vec<Pair>,
    /// How many of these there are.
    pub(crate) alone: usize,
}

/// Pairs with different canonical URLs.
#[derive(Default)]
struct Distinct {
    pairs: Vec<Pair>,
    seen: HashSet<Box<[u8]>>,
}

/// Those of one site, while they are tried.
pub(crate) struct CanonicalUrlsOfSite<'a> {
    name: &'a str,
    site: &'a SiteRules,
    urls: Vec<&'a [u8]>,
    /// Its rules as they stand so far.
    rules: Vec<Rule>,
}

impl<'a> CanonicalUrls<'a> {
    /// Those of a site, after its rules were tried.
    pub(crate) fn of_site(&self, name: &'a str, findings: &[Finding]) -> Option<CanonicalUrlsOfSite<'a>> {
        let site = self.rules.site(name)?;
        let finding = |target| findings.iter().find(|finding| finding.target == target);
        let rules = judged_rules(site, finding, None);
        Some(CanonicalUrlsOfSite { name, site, urls: self.sampler.urls_of(name), rules })
    }
}

impl CanonicalUrlsOfSite<'_> {
    /// Whether canonical URLs are made by a rule.
    pub(crate) fn has(&self, target: Target) -> bool {
        match target {
            Target::Rule(index) => {
                self.rules.get(index).is_some_and(|rule| rule.fetchable && rule.is_applied())
            }
            Target::Unproven(_) => false,
        }
    }

    /// At most so many URLs whose canonical URL a rule changes, each with that.
    pub(crate) fn draw(&self, target: Target, max_pairs: usize) -> Result<DrawnUrls, InvalidSite> {
        let normalizer = self.compile(self.rules.clone())?;
        let without = self.compile(without_canonical(self.rules.clone(), target))?;
        let (mut alone, mut shared) = (Distinct::default(), Distinct::default());
        for &url in &self.urls {
            let (Ok(url), Ok(canonical)) = (std::str::from_utf8(url), normalizer.normalize(url)) else {
                continue;
            };
            let Ok(other) = without.normalize(url) else { continue };
            if canonical != other {
                let drawn = if other.as_bytes() == url.as_bytes() { &mut alone } else { &mut shared };
                drawn.push(url, canonical.as_bytes(), max_pairs);
            }
            if alone.pairs.len() == max_pairs {
                break;
            }
        }
        let others = shared.pairs.iter().filter(|pair| !alone.seen.contains(pair.other.as_bytes()));
        let pairs = alone.pairs.iter().chain(others).take(max_pairs).cloned().collect();
        Ok(DrawnUrls { pairs, alone: alone.pairs.len() })
    }

    /// From now on a rule makes no canonical URLs.
    pub(crate) fn leave_out(&mut self, target: Target) {
        self.rules = without_canonical(std::mem::take(&mut self.rules), target);
    }

    fn compile(&self, rules: Vec<Rule>) -> Result<Normalizer, InvalidSite> {
        let mut alone = RuleSet::new("");
        alone.insert(self.name, self.site.clone().with_rules(rules)?)?;
        Ok(Normalizer::compile(&alone))
    }
}

impl Distinct {
    /// Adds a URL, unless its canonical URL is there or they are enough.
    fn push(&mut self, url: &str, canonical: &[u8], max_pairs: usize) {
        let Ok(other) = std::str::from_utf8(canonical) else { return };
        if self.pairs.len() < max_pairs && self.seen.insert(canonical.into()) {
            self.pairs.push(Pair { url: url.to_owned(), other: other.to_owned() });
        }
    }
}

/// Rules of which one makes no canonical URLs.
fn without_canonical(mut rules: Vec<Rule>, target: Target) -> Vec<Rule> {
    if let Target::Rule(index) = target
        && let Some(rule) = rules.get_mut(index)
    {
        rule.fetchable = false;
    }
    rules
}
