/*!
Which rules bring URLs of one key together?

A rule joins URLs if they would have several keys without it. Where any one of several rules is enough, none is missed when it
is left out; then all rules that changed one of the URLs are named. Compiled rules cannot be taken apart, so there it is always all
of them.
*/

use std::collections::BTreeSet;

use dedust::rules::{SiteEntry, SiteRules, SiteSummary};
use dedust::{Explanation, Normalizer, RuleSet, Scratch};
use foldhash::HashMap;

/// Rule sets without one rule that are kept for the next URLs.
const KEPT: usize = 1024;

/// A rule of a rule file, or a mirror, which is number 0 of its site.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleRef {
    /// The site that it belongs to.
    pub site: Box<str>,
    /// Its index in the site's list, from 0.
    pub index: usize,
}

/// Finds the rules that join URLs.
#[derive(Debug)]
pub struct JoiningRules<'r> {
    normalizer: &'r Normalizer,
    /// `None` if the rules are compiled.
    rules: Option<&'r RuleSet>,
    /// Rules of the site of a rule without that rule; `None` if the others cannot stand alone.
    without: HashMap<RuleRef, Option<Normalizer>>,
    no_rules: Normalizer,
    scratch: Scratch,
}

impl<'r> JoiningRules<'r> {
    /// For URLs that `normalizer`, made of `rules`, gives one key.
    pub fn new(normalizer: &'r Normalizer, rules: Option<&'r RuleSet>) -> Self {
        Self {
            normalizer,
            rules,
            without: HashMap::default(),
            no_rules: Normalizer::default(),
            scratch: Scratch::default(),
        }
    }

    /// What a rule does, in words; `None` if the rules are compiled.
    pub fn sentence(&self, rule_ref: &RuleRef) -> Option<String> {
        Some(self.rule(rule_ref)?.to_string())
    }

    /// Whether a rule writes canonical URLs; `None` if the rules are compiled.
    pub fn is_fetchable(&self, rule_ref: &RuleRef) -> Option<bool> {
        Some(self.rule(rule_ref)?.fetchable())
    }

    /// What `dedust rules` calls a rule; `None` if the rules are compiled.
    pub fn id(&self, rule_ref: &RuleRef) -> Option<String> {
        Some(self.rule(rule_ref)?.id().to_string())
    }

    /// A rule by its site, index and id: `rule 3 of a.example, 1bcc19fb: what it does`.
    pub fn name(&self, rule_ref: &RuleRef) -> String {
        let RuleRef { site, index } = rule_ref;
        match self.rule(rule_ref) {
            Some(rule) => format!("rule {index} of {site}, {}: {rule}", rule.id()),
            None => format!("rule {index} of {site}"),
        }
    }

    fn rule(&self, rule_ref: &RuleRef) -> Option<SiteEntry<'r>> {
        self.rules?.site(&rule_ref.site)?.entry(rule_ref.index)
    }

    /// The rules that join `urls`, by site and index. None if safe normalization is enough.
    pub fn of(&mut self, urls: &[&[u8]]) -> Vec<RuleRef> {
        let explanations: Vec<Explanation> =
            self.distinct(urls).into_iter().filter_map(|url| self.normalizer.explain(url).ok()).collect();
        if explanations.len() < 2 {
            return Vec::new();
        }
        let moves: BTreeSet<Option<&str>> = explanations.iter().map(|one| one.mirror.as_deref()).collect();
        let mut joining: Vec<RuleRef> = Vec::new();
        if moves.len() > 1 {
            joining.extend(moves.iter().flatten().map(|site| RuleRef { site: (*site).into(), index: 0 }));
        }
        let made: BTreeSet<RuleRef> = explanations.iter().flat_map(made_by).collect();
        if made.len() > 1 && self.rules.is_some() {
            joining.extend(made.iter().filter(|rule_ref| self.is_missed(rule_ref, &explanations)).cloned());
        }
        if joining.is_empty() {
            joining.extend(made);
        }
        joining.sort();
        joining
    }

    /// The last of the rules that join `urls`, in the order in which they are made. None if safe normalization is enough.
    pub fn last_of(&mut self, urls: &[&[u8]]) -> Option<RuleRef> {
        let joining = self.of(urls);
        // URLs are moved to another site before anything else is done to them.
        let moves =
            |rule_ref: &RuleRef| self.rules.and_then(|rules| rules.site(&rule_ref.site)?.mirror()).is_some();
        joining.into_iter().max_by_key(|rule_ref| (!moves(rule_ref), rule_ref.index))
    }

    /// Those of `urls` that differ after safe normalization.
    fn distinct<'u>(&mut self, urls: &[&'u [u8]]) -> Vec<&'u [u8]> {
        let mut keys: BTreeSet<Vec<u8>> = BTreeSet::new();
        let is_new = |url: &&[u8]| {
            let key = self.no_rules.key_with(url, &mut self.scratch);
            keys.insert(key.map_or_else(|_| url.to_vec(), <[u8]>::to_vec))
        };
        urls.iter().copied().filter(is_new).collect()
    }

    /// Whether the URLs have several keys without this rule.
    fn is_missed(&mut self, rule_ref: &RuleRef, explanations: &[Explanation]) -> bool {
        if self.without.len() >= KEPT {
            self.without.clear();
        }
        let moved: BTreeSet<&str> = explanations.iter().filter_map(|one| one.mirror.as_deref()).collect();
        let with_mirrors;
        let normalizer = if moved.is_empty() {
            if !self.without.contains_key(rule_ref) {
                let normalizer = self.leave_out(rule_ref, &moved);
                self.without.insert(rule_ref.clone(), normalizer);
            }
            self.without.get(rule_ref).and_then(Option::as_ref)
        } else {
            with_mirrors = self.leave_out(rule_ref, &moved);
            with_mirrors.as_ref()
        };
        let Some(normalizer) = normalizer else { return false };
        let mut first: Option<Vec<u8>> = None;
        explanations.iter().any(|one| {
            let Ok(key) = normalizer.key_with(one.safe.as_bytes(), &mut self.scratch) else { return false };
            match &first {
                Some(first) => first != key,
                None => {
                    first = Some(key.to_vec());
                    false
                }
            }
        })
    }

    /// The rules of the rule's site without it, and with mirrors that lead there.
    fn leave_out(&self, rule_ref: &RuleRef, mirrors: &BTreeSet<&str>) -> Option<Normalizer> {
        let all = self.rules?;
        let site = all.site(&rule_ref.site)?;
        let mut rules = site.rules().to_vec();
        rules.remove(rule_ref.index);
        let others = SiteRules::new(SiteSummary::default(), rules).ok()?.with_hosts(site.hosts().to_vec());
        let mut set = RuleSet::new("");
        set.insert(&rule_ref.site, others).ok()?;
        for name in mirrors {
            let mut next: Box<str> = (*name).into();
            while let Some(mirror) = all.site(&next).filter(|_| set.site(&next).is_none()) {
                set.insert(&next, mirror.clone()).ok()?;
                match mirror.mirror() {
                    Some(mirror) => next = mirror.of.clone(),
                    None => break,
                }
            }
        }
        Some(Normalizer::compile(&set))
    }
}

/// The rules that changed a URL.
fn made_by(explanation: &Explanation) -> impl Iterator<Item = RuleRef> + '_ {
    let site = explanation.site.as_deref();
    let rules = explanation.rules.iter();
    rules.filter_map(move |&index| Some(RuleRef { site: site?.into(), index }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> RuleSet {
        let drop = |name: &str| format!(r#"{{"change": [{{"drop": "q.{name}"}}], "fetchable": true}}"#);
        let scheme =
            r#"{"change": [{"map": {"of": "scheme", "values": [{"is": "http", "becomes": "https"}]}}]}"#;
        let rules = [drop("sid"), drop("ref"), scheme.to_owned()].join(",");
        let json = format!(
            r#"{{"version": 1, "sites": {{"a.example": {{"rules": [{rules}]}},
                "b.example": {{"mirror": {{"of": "a.example", "fetchable": true}}}}}}}}"#
        );
        RuleSet::load(json.as_bytes()).unwrap()
    }

    fn joining(urls: &[&str]) -> Vec<(String, usize)> {
        let rules = rules();
        let normalizer = Normalizer::compile(&rules);
        let keys: BTreeSet<String> =
            urls.iter().map(|url| normalizer.key(url).unwrap().to_string()).collect();
        assert_eq!(keys.len(), 1, "{keys:?}");
        let urls: Vec<&[u8]> = urls.iter().map(|url| url.as_bytes()).collect();
        let found = JoiningRules::new(&normalizer, Some(&rules)).of(&urls);
        found.into_iter().map(|rule_ref| (rule_ref.site.into(), rule_ref.index)).collect()
    }

    #[test]
    fn a_rule_joins_what_would_differ_without_it() {
        let found = joining(&["http://a.example/p?sid=1", "http://a.example/p?sid=2"]);
        assert_eq!(found, [("a.example".to_owned(), 0)], "the scheme is changed in both alike");
        let found = joining(&["http://a.example/p?sid=1", "https://a.example/p?ref=2"]);
        assert_eq!(found.iter().map(|(_, index)| *index).collect::<Vec<_>>(), [0, 1, 2]);
    }

    #[test]
    fn what_safe_normalization_joins_no_rule_does() {
        assert_eq!(joining(&["http://a.example/p?sid=1", "HTTP://A.example:80/p?sid=1"]), []);
    }

    #[test]
    fn a_mirror_joins_urls_of_two_domains() {
        let found = joining(&["https://b.example/p?sid=1", "https://a.example/p?sid=1"]);
        assert_eq!(found, [("b.example".to_owned(), 0)]);
        let found = joining(&["https://b.example/p?sid=1", "https://b.example/p?sid=2"]);
        assert_eq!(found, [("a.example".to_owned(), 0)]);
    }
}
