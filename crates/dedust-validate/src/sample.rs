/*!
Which pairs of URLs put a rule to the test.

A pair is a URL that the rule changes and what it becomes: the URL that it writes, where it writes or replaces whole URLs, or
another URL of the list with the same key. Pairs come in an order that depends on the URLs and the seed alone, and no group of
URLs has a second pair before all others had their first.

Each rule is tested as it is made: after those before it. One that replaces text is tested by itself. Earlier verdicts do not
count. [`crate::joined`] finds what a rule brings together.
*/

use std::collections::{HashMap, HashSet};

use dedust::errors::InvalidSite;
use dedust::rules::{Mirror, Rule, SiteRules};
use dedust::support::{Written, first_segment, write_moved};
use dedust::{ParsedUrl, RuleSet};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::joined::{Joined, MAX_PAIRS_OF_GROUP};
use crate::pair::{Pair, Target};

/// The pairs for one rule, in the order in which they are to be fetched.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) target: Target,
    pub(crate) pairs: Vec<Pair>,
}

/// Draws pairs from a list of URLs.
pub(crate) struct Sampler {
    /// The rules of all sites, whatever was said about them before.
    rules: RuleSet,
    seed: u64,
    max_pairs: usize,
    urls_by_site: HashMap<Box<str>, HashSet<Box<[u8]>>>,
}

impl Sampler {
    /// A sampler of at most `max_pairs` pairs for each rule.
    pub(crate) fn new(rules: &RuleSet, seed: u64, max_pairs: usize) -> Result<Self, InvalidSite> {
        let rules = without_verdicts(rules)?;
        Ok(Self { rules, seed, max_pairs, urls_by_site: HashMap::new() })
    }

    /// Adds a URL of the list; of interest are those of sites with rules, without credentials.
    pub(crate) fn observe(&mut self, url: &ParsedUrl) {
        if !is_web(url) {
            return;
        }
        let Some(site) = self.site_of(url.host()) else { return };
        let site = site.into();
        self.urls_by_site.entry(site).or_default().insert(url.as_bytes().into());
    }

    /// The longest domain with rules that `host` is or ends with.
    fn site_of<'a>(&self, host: &'a [u8]) -> Option<&'a str> {
        let mut suffix = std::str::from_utf8(host).ok()?;
        loop {
            if self.rules.site(suffix).is_some() {
                return Some(suffix);
            }
            suffix = suffix.split_once('.')?.1;
        }
    }

    /// The URLs of a site, in the order in which pairs are drawn from them.
    pub(crate) fn urls_of(&self, site: &str) -> Vec<&[u8]> {
        let mut urls: Vec<&[u8]> =
            self.urls_by_site.get(site).into_iter().flatten().map(|url| &**url).collect();
        urls.sort_unstable_by_key(|url| (xxh3_64_with_seed(url, self.seed), *url));
        urls
    }

    /// The samples for the rules of a site, in their order.
    pub(crate) fn draw(&self, site: &str) -> Result<Vec<Sample>, InvalidSite> {
        let Some(rules) = self.rules.site(site) else { return Ok(Vec::new()) };
        let urls = self.urls_of(site);
        if let Some(mirror) = rules.mirror() {
            return Ok(vec![self.draw_for_mirror(&urls, site, mirror)]);
        }
        // Nobody asks about a rule that was turned off.
        let asked = (0..rules.len()).filter(|&index| rules.rules()[index].off.is_none());
        asked.map(|index| self.draw_for_rule(&urls, site, rules, index)).collect()
    }

    fn draw_for_rule(
        &self,
        urls: &[&[u8]],
        site: &str,
        rules: &SiteRules,
        index: usize,
    ) -> Result<Sample, InvalidSite> {
        let rule = &rules.rules()[index];
        let is_written = writes(rule);
        let before: Vec<Rule> = rules.rules()[..index].to_vec();
        let joined = Joined::new(site, rules.hosts(), &before, rule.clone())?;
        let mut pairs = if is_written { joined.written(urls, self.max_pairs) } else { Vec::new() };
        if pairs.is_empty() {
            pairs = joined.draw(urls, self.max_pairs, MAX_PAIRS_OF_GROUP, |_| false).pairs;
        }
        Ok(Sample { target: Target::Rule(index), pairs })
    }

    /// URLs of a mirror, except those of pages of its own, each with the same at the original.
    fn draw_for_mirror(&self, urls: &[&[u8]], site: &str, mirror: &Mirror) -> Sample {
        let text = |url: &[u8]| String::from_utf8_lossy(url).into_owned();
        let pair = |url: &&[u8]| {
            let parsed = ParsedUrl::parse(url).ok()?;
            if mirror.except.iter().any(|segment| segment.as_bytes() == first_segment(&parsed)) {
                return None;
            }
            let mut other = Vec::new();
            write_moved(&parsed, site.len(), mirror.of.as_bytes(), &mut other);
            Some(Pair { url: text(url), other: text(&other) })
        };
        Sample { target: Target::Rule(0), pairs: urls.iter().filter_map(pair).take(self.max_pairs).collect() }
    }
}

/// Whether the URLs that a rule writes are looked at, not those that it brings together: it ends the list, or replaces text.
fn writes(rule: &Rule) -> bool {
    rule.last || rule.change.iter().any(|change| matches!(change.facts().writes, Written::Url))
}

/// A copy of `rules` that nothing was said about before. Of a site whose rules can stand together only because some of them were refuted,
/// these keep their verdicts.
fn without_verdicts(rules: &RuleSet) -> Result<RuleSet, InvalidSite> {
    let mut copy = rules.without_sites();
    for (name, site) in rules.sites() {
        let without = site.clone().with_standings(|_, standing| standing.evidence.verdict = None);
        copy.insert(name, without.unwrap_or_else(|_| site.clone()))?;
    }
    Ok(copy)
}

fn is_web(url: &ParsedUrl) -> bool {
    matches!(url.scheme(), b"http" | b"https") && url.userinfo().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = r#"{"version": 1, "sites": {"a.example": {"rules": [
        {"change": [{"replace": [{"from": "index.html", "to": "", "at_end": true}]}], "fetchable": true},
        {"when": {"path_0": {"is": "old"}, "q.id": {"any": "digits"}},
         "change": [{"path": [{"text": "new"}, {"value": {"from": {"of": "q.id"}}}]}, {"drop": "q.id"}],
         "last": true, "fetchable": true,
         "evidence": {"urls": 0, "support_pairs": 0, "false_pairs": 0, "groups": 0, "failed_groups": 0,
                      "failure_bound": 1.0, "kinds": [], "verdict":
                      {"outcome": "refuted", "same": 0, "different": 9, "failed": 0}}},
        {"when": {"path_0": {"is": "view"}}, "change": [{"forget": "q.sid"}]}
    ]}}}"#;

    fn samples(urls: &[String], seed: u64, max_pairs: usize) -> Vec<Sample> {
        let rules = RuleSet::load(RULES.as_bytes()).unwrap();
        let mut sampler = Sampler::new(&rules, seed, max_pairs).unwrap();
        for url in urls {
            sampler.observe(&ParsedUrl::parse(url).unwrap());
        }
        sampler.draw("a.example").unwrap()
    }

    fn pairs(samples: &[Sample], at: usize) -> Vec<(&str, &str)> {
        samples[at].pairs.iter().map(|pair| (&*pair.url, &*pair.other)).collect()
    }

    #[test]
    fn a_rule_is_paired_with_what_it_writes() {
        let urls = ["http://a.example/old?id=7", "http://a.example/new/7", "http://b.example/old?id=7"];
        let samples = samples(&urls.map(Into::into), 0, 10);
        assert_eq!(
            samples.iter().map(|sample| sample.target).collect::<Vec<_>>(),
            [Target::Rule(0), Target::Rule(1), Target::Rule(2)]
        );
        assert_eq!(pairs(&samples, 1), [("http://a.example/old?id=7", "http://a.example/new/7")]);
        assert!(samples[0].pairs.is_empty() && samples[2].pairs.is_empty());
    }

    #[test]
    fn a_rule_that_forgets_is_paired_with_another_url_of_the_list() {
        let mut urls = vec!["http://a.example/view?id=9&sid=00".to_owned()];
        for id in 0..4 {
            urls.extend((0..3).map(|sid| format!("http://a.example/view?id={id}&sid=0{sid}")));
        }
        let samples = samples(&urls, 0, 10);
        let pairs = pairs(&samples, 2);
        assert_eq!(pairs.len(), 8);
        let id = |url: &str| url.split(['=', '&']).nth(1).map(str::to_owned);
        assert!(pairs.iter().all(|(url, other)| url != other && id(url) == id(other)));
        let first: HashSet<_> = pairs[..4].iter().map(|(url, _)| id(url)).collect();
        assert_eq!(first.len(), 4);
    }

    #[test]
    fn replaced_text_is_tested_by_itself() {
        let urls = [
            "http://a.example/p/index.html",
            "http://www.a.example/p/index.html?x",
            "ftp://a.example/index.html",
        ];
        let samples = samples(&urls.map(Into::into), 0, 10);
        assert_eq!(pairs(&samples, 0), [("http://a.example/p/index.html", "http://a.example/p/")]);
    }

    #[test]
    fn a_mirror_is_paired_with_its_original_where_it_shows_that() {
        let rules = r#"{"version": 1, "sites": {"b.example": {"mirror": {"of": "a.example", "except": ["contact"],
            "fetchable": false, "evidence": {"urls": 0, "support_pairs": 0, "false_pairs": 0, "groups": 0,
            "failed_groups": 0, "failure_bound": 1.0, "kinds": []}}}}}"#;
        let mut sampler = Sampler::new(&RuleSet::load(rules.as_bytes()).unwrap(), 0, 10).unwrap();
        for url in ["http://www.b.example/x?y=1", "http://b.example/contact/1", "http://a.example/z"] {
            sampler.observe(&ParsedUrl::parse(url).unwrap());
        }
        let samples = sampler.draw("b.example").unwrap();
        assert_eq!((samples.len(), samples[0].target), (1, Target::Rule(0)));
        assert_eq!(pairs(&samples, 0), [("http://www.b.example/x?y=1", "http://www.a.example/x?y=1")]);
    }

    #[test]
    fn the_order_depends_on_urls_and_seed_alone() {
        let mut urls: Vec<String> = (0..50).map(|id| format!("http://a.example/old?id={id}")).collect();
        let drawn = samples(&urls, 1, 20);
        urls.reverse();
        urls.extend(urls.clone());
        assert_eq!(samples(&urls, 1, 20)[1].pairs, drawn[1].pairs);
        assert_ne!(samples(&urls, 2, 20)[1].pairs, drawn[1].pairs);
        assert_eq!(drawn[1].pairs.len(), 20);
    }
}
