/*!
Pairs of URLs that one rule brings together, given the rules before it.

URLs in, pairs out. URLs that have one key already are taken for one, so that each pair says something new.
*/

use std::collections::{HashMap, HashSet};

use dedust::errors::InvalidSite;
use dedust::rules::{Rule, SiteRules, SiteSummary};
use dedust::{Normalizer, RuleSet, UrlKey};
use xxhash_rust::xxh3::xxh3_64;

use crate::pair::Pair;

/// Pairs of one group of URLs that may be drawn.
pub(crate) const MAX_PAIRS_OF_GROUP: usize = 16;

/// The rules of a site up to one of them, without and with it.
pub(crate) struct Joined {
    before: Normalizer,
    after: Normalizer,
}

/// What the rule does to a list of URLs.
pub(crate) struct Drawn {
    pub(crate) pairs: Vec<Pair>,
    /// URLs whose key it changes.
    pub(crate) changed: u64,
    /// How many keys fewer there are with it.
    pub(crate) merged: u64,
}

/// Pairs by how many of their group were drawn before.
#[derive(Default)]
struct Rounds {
    pairs: Vec<Vec<Pair>>,
    drawn_of_group: HashMap<Box<[u8]>, usize>,
}

impl Joined {
    /// `rule` after the rules `before`, on these hosts of a site.
    pub(crate) fn new(
        site: &str,
        hosts: &[Box<str>],
        before: &[Rule],
        rule: Rule,
    ) -> Result<Self, InvalidSite> {
        let compile = |rules: Vec<Rule>| {
            let mut alone = RuleSet::new("");
            let rules = SiteRules::new(SiteSummary::default(), rules)?;
            alone.insert(site, rules.with_hosts(hosts.to_vec()))?;
            Ok(Normalizer::compile(&alone))
        };
        let after = before.iter().cloned().chain([rule]).collect();
        Ok(Self { before: compile(before.to_vec())?, after: compile(after)? })
    }

    /// At most `max_pairs` pairs, and `max_of_group` of one group. Groups that `is_counted` says are known are left out.
    pub(crate) fn draw(
        &self,
        urls: &[&[u8]],
        max_pairs: usize,
        max_of_group: usize,
        is_counted: impl Fn(u32) -> bool,
    ) -> Drawn {
        // A URL for each key that they had before; one whose key the rule does not change comes first.
        let mut groups: Vec<(UrlKey, Vec<&[u8]>)> = Vec::new();
        let mut index_of_key: HashMap<UrlKey, usize> = HashMap::new();
        let mut keys_before: HashSet<UrlKey> = HashSet::new();
        let mut changed = 0;
        for &url in urls {
            let (Ok(old), Ok(key)) = (self.before.key(url), self.after.key(url)) else { continue };
            changed += u64::from(old != key);
            let index = *index_of_key.entry(key.clone()).or_insert(groups.len());
            if index == groups.len() {
                groups.push((key.clone(), Vec::new()));
            }
            let is_kept = old == key;
            if keys_before.insert(old) {
                let parts = &mut groups[index].1;
                parts.insert(if is_kept { 0 } else { parts.len() }, url);
                parts.truncate(1 + max_of_group);
            }
        }
        let merged = keys_before.len().saturating_sub(groups.len()) as u64;
        let mut rounds = Rounds::default();
        for (key, parts) in &groups {
            let Some((first, others)) = parts.split_first() else { continue };
            if others.is_empty() || is_counted(hash(key)) {
                continue;
            }
            for url in others {
                rounds.push(key.as_bytes().into(), url, first, max_pairs);
            }
        }
        Drawn { pairs: rounds.into_pairs(max_pairs), changed, merged }
    }

    /// URLs with what the rule writes of them, where that is another URL.
    pub(crate) fn written(&self, urls: &[&[u8]], max_pairs: usize) -> Vec<Pair> {
        let mut rounds = Rounds::default();
        for &url in urls {
            let (Ok(old), Ok(canonical)) = (self.before.normalize(url), self.after.normalize(url)) else {
                continue;
            };
            if old != canonical {
                rounds.push(canonical.as_bytes().into(), url, canonical.as_bytes(), max_pairs);
            }
        }
        rounds.into_pairs(max_pairs)
    }

    /// The group of a URL, by a hash.
    pub(crate) fn group_of(&self, url: &str) -> Option<u32> {
        self.after.key(url).ok().as_ref().map(hash)
    }

    /// Whether the rule leaves the key of a URL as it is.
    pub(crate) fn keeps(&self, url: &str) -> bool {
        self.before.key(url).ok() == self.after.key(url).ok()
    }
}

impl Rounds {
    /// Adds a pair of `group`, unless its round is full.
    fn push(&mut self, group: Box<[u8]>, url: &[u8], other: &[u8], max_pairs: usize) {
        let drawn = self.drawn_of_group.entry(group).or_default();
        let round = *drawn;
        let (Ok(url), Ok(other)) = (std::str::from_utf8(url), std::str::from_utf8(other)) else { return };
        if round == MAX_PAIRS_OF_GROUP {
            return;
        }
        *drawn += 1;
        if self.pairs.len() == round {
            self.pairs.push(Vec::new());
        }
        if self.pairs[round].len() < max_pairs {
            self.pairs[round].push(Pair { url: url.into(), other: other.into() });
        }
    }

    /// At most so many pairs, those of the first round first.
    fn into_pairs(self, max_pairs: usize) -> Vec<Pair> {
        let mut pairs: Vec<Pair> = self.pairs.into_iter().flatten().collect();
        pairs.truncate(max_pairs);
        pairs
    }
}

fn hash(key: &UrlKey) -> u32 {
    xxh3_64(key.as_bytes()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use dedust::rules::{Change, Spot, UrlPart};

    fn drop_param(name: &str) -> Rule {
        let change = vec![Change::Drop(Spot::Key(UrlPart::query(name)))];
        Rule { change, ..Rule::default() }
    }

    fn joined() -> Joined {
        Joined::new("a.example", &[], &[drop_param("sid")], drop_param("ref")).unwrap()
    }

    #[test]
    fn urls_that_have_one_key_already_are_one_witness() {
        let urls =
            ["/?id=1&ref=a", "/?id=1&ref=a&sid=7", "/?id=1&ref=b&sid=8", "/?id=1&sid=9", "/?id=2&sid=1"];
        let urls = urls.map(|path| format!("http://a.example{path}"));
        let bytes: Vec<&[u8]> = urls.iter().map(|url| url.as_bytes()).collect();
        let drawn = joined().draw(&bytes, 10, 10, |_| false);
        let pairs: Vec<(&str, &str)> = drawn.pairs.iter().map(|pair| (&*pair.url, &*pair.other)).collect();
        assert_eq!(pairs, [(&*urls[0], &*urls[3]), (&*urls[2], &*urls[3])]);
        assert_eq!((drawn.changed, drawn.merged), (3, 2));
        assert!(joined().keeps(&urls[3]) && !joined().keeps(&urls[0]));
    }

    #[test]
    fn no_group_has_more_than_its_share() {
        let urls: Vec<String> =
            (0..40).map(|at| format!("http://a.example/?id={}&ref={at}", at % 2)).collect();
        let bytes: Vec<&[u8]> = urls.iter().map(|url| url.as_bytes()).collect();
        let drawn = joined().draw(&bytes, 100, 4, |_| false);
        assert_eq!((drawn.pairs.len(), drawn.merged), (8, 38));
        let counted = joined().group_of(&urls[0]).unwrap();
        assert_eq!(joined().draw(&bytes, 100, 4, |group| group == counted).pairs.len(), 4);
    }
}
