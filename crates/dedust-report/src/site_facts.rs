/*!
What is known of a site that is to be shown.
*/

use dedust::rules::{Rule, SiteRules, SiteSummary};
use dedust::{Normalizer, RuleSet};
use dedust_learn::Corpus;
use foldhash::HashMap;

use crate::data::TreeOf;
use crate::rows::SiteUrls;

/// What is known of a site.
pub(crate) struct SiteFacts<'a> {
    pub(crate) site: &'a str,
    pub(crate) rules: Option<&'a SiteRules>,
    pub(crate) normalizer: &'a Normalizer,
    pub(crate) urls: Option<&'a SiteUrls<'a>>,
    pub(crate) corpus: Option<&'a Corpus>,
    pub(crate) titles: &'a HashMap<u32, Box<str>>,
    /// Sites that show the pages of others, if these are applied.
    pub(crate) mirrors: &'a [(&'a str, &'a SiteRules)],
    pub(crate) limits: Limits,
    pub(crate) tree: Option<TreeOf>,
}

/// How much is shown of a site. The more sites there are, the less, so that a page stays small.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) examples: usize,
    pub(crate) refused: usize,
    pub(crate) groups: usize,
    pub(crate) nodes: usize,
}

impl Limits {
    /// For a page of so many sites, and rules of all of them.
    pub(crate) fn of(sites: usize, rules: usize) -> Self {
        let share = |all: usize, least: usize, most: usize| (all / sites.max(1)).clamp(least, most);
        Self {
            examples: (600 / rules.max(1)).clamp(1, 5),
            refused: share(240, 8, 60),
            groups: share(240, 6, 60),
            nodes: share(1600, 40, 600),
        }
    }
}

/// The rules of a site with some of its rules; `None` if these cannot stand alone.
pub(crate) fn with_rules(
    facts: &SiteFacts<'_>,
    site_rules: &SiteRules,
    is_kept: impl Fn(usize) -> bool,
) -> Option<Normalizer> {
    let rules =
        site_rules.rules().iter().enumerate().filter(|(at, _)| is_kept(*at)).map(|(_, rule)| rule.clone());
    compiled(facts, site_rules, rules.collect())
}

/// Other rules in place of those of a site.
pub(crate) fn compiled(
    facts: &SiteFacts<'_>,
    site_rules: &SiteRules,
    rules: Vec<Rule>,
) -> Option<Normalizer> {
    let rules = SiteRules::new(SiteSummary::default(), rules).ok()?.with_hosts(site_rules.hosts().to_vec());
    let mut set = RuleSet::new("");
    set.insert(facts.site, rules).ok()?;
    for (name, mirror) in facts.mirrors {
        set.insert(name, (*mirror).clone()).ok()?;
    }
    Some(Normalizer::compile(&set))
}
