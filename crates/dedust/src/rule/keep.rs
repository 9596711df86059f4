/*!
Rules that were learned again, with what people and `validate` said about the rules before.

New rules and earlier ones in, rules out in which the new rules have the earlier decisions and verdicts. Decided rules that were not
learned again are added: those that are off stay off, pinned ones are applied. Where a pinned rule and a learned one cannot stand together, the pinned
one stays and the learned one is left out. Where nothing was learned of a site, canonical URLs that were observed stay with its decided
rules. Nothing else of the earlier rules is kept.

That a site is a mirror is decided about as a rule is. A site that is a mirror in one of the sets and has rules in the other stays what it was if
something applied is pinned there; else it is what was learned, and what was off is forgotten.
*/

use super::{
    Decision, Evidence, InvalidRule, InvalidSite, Mirror, Outcome, Rule, RuleId, RuleIndex, RuleSet,
    SiteEntry, SiteRules, SiteSummary, Standing,
};

/// What was kept of earlier rules, and what that took.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Kept {
    /// Rules that are off.
    pub off: u64,
    /// Rules that are pinned.
    pub pinned: u64,
    /// Verdicts on rules.
    pub verdicts: u64,
    /// Rules that gave way, in the order of sites.
    pub displaced: Vec<Displaced>,
    /// Sites whose pinned rules hold on fewer hosts than before, since the new rules do.
    pub narrowed: Vec<Box<str>>,
}

/// A rule that gave way to a pinned one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Displaced {
    /// Its site.
    pub site: Box<str>,
    /// What it is called.
    pub id: RuleId,
    /// What it does, in words.
    pub rule: Box<str>,
    /// Whether it is pinned itself: then it stays in the list and is off.
    pub is_pinned: bool,
    /// Why the rules could not stand together; `None` if they hold on different hosts.
    pub cause: Option<InvalidSite>,
}

impl RuleSet {
    /// Keeps what was decided about `earlier` rules, and verdicts on rules that say the same.
    pub fn keep(&mut self, earlier: &Self) -> Kept {
        let mut kept = Kept::default();
        for (name, before) in earlier.sites() {
            let is_kept = |entry: SiteEntry<'_>| entry.is_decided() || entry.evidence().verdict.is_some();
            if !before.entries().any(is_kept) {
                continue;
            }
            let learned = self.sites.get(name).cloned();
            let is_new = learned.is_none();
            let mut keeper = SiteKeeper { name, before, kept: &mut kept };
            let rules = match (before, learned.unwrap_or_default()) {
                (SiteRules::Mirror(mirror), learned) => keeper.keep_mirror(mirror, learned),
                (SiteRules::Rules(_), learned @ SiteRules::Rules(_)) => keeper.keep_rules(learned),
                (SiteRules::Rules(_), SiteRules::Mirror(mirror)) => keeper.keep_rules_of_mirror(*mirror),
            };
            if !(is_new && rules.is_empty()) {
                self.sites.insert(name.into(), rules);
            }
        }
        kept
    }
}

struct SiteKeeper<'a> {
    name: &'a str,
    before: &'a SiteRules,
    kept: &'a mut Kept,
}

impl SiteKeeper<'_> {
    /// What was learned of a site that was a mirror.
    fn keep_mirror(&mut self, before: &Mirror, learned: SiteRules) -> SiteRules {
        match learned {
            SiteRules::Mirror(mut mirror) if mirror.says_same(before) => {
                self.count(before.into());
                self.kept.verdicts += u64::from(keep_standing(before.into(), &mut *mirror));
                SiteRules::Mirror(mirror)
            }
            learned if learned.is_empty() || is_vouched_for(before.into()) => {
                self.count(before.into());
                let free = learned.entries().filter(|entry| is_free(*entry));
                self.displace(free, Some(&InvalidSite::NotOnlyMirror));
                before.clone().into()
            }
            learned => learned,
        }
    }

    /// What was learned of a site that had rules and is a mirror.
    fn keep_rules_of_mirror(&mut self, learned: Mirror) -> SiteRules {
        if !self.before.entries().any(is_vouched_for) {
            return learned.into();
        }
        self.displace([SiteEntry::from(&learned)], Some(&InvalidSite::NotOnlyMirror));
        self.keep_rules(SiteRules::default())
    }

    fn count(&mut self, before: SiteEntry<'_>) {
        self.kept.off += u64::from(before.off().is_some());
        self.kept.pinned += u64::from(before.pinned().is_some());
    }

    fn keep_rules(&mut self, learned: SiteRules) -> SiteRules {
        let mut rules = learned.rules().to_vec();
        let added = self.apply_decisions(&mut rules);
        let has_pinned = added.iter().any(Rule::is_applied);
        // Of a rule without evidence it is known anyway that nothing is promised: see `SiteRules::promise`.
        let is_counted = !added.iter().any(|rule| rule.is_applied() && rule.evidence != Evidence::default());
        let writes_others = added.iter().any(|rule| rule.is_applied() && rule.evidence.canonical.is_some());
        let is_learned = !rules.is_empty();
        rules.extend(added);
        let hosts = match (has_pinned, is_learned) {
            (false, _) => learned.hosts().to_vec(),
            (true, false) => self.before.hosts().to_vec(),
            (true, true) => self.common_hosts(learned.hosts(), &mut rules),
        };
        let canonical_urls = if is_learned { &learned } else { self.before }.canonical_urls().clone();
        let mut refused = learned.refused().to_vec();
        let decided: Vec<Rule> =
            rules.iter().filter(|&rule| SiteEntry::from(rule).is_decided()).cloned().collect();
        let index = RuleIndex::new(&decided);
        refused
            .retain(|refused| index.indexes_of(&decided, &refused.to_rule(Evidence::default())).is_empty());
        let promise = learned.summary().promise.filter(|_| is_counted);
        let canonical = learned.summary().canonical.filter(|_| !writes_others);
        let rules = self.settle(learned, rules).with_refused(refused);
        // What a rule loses that was not learned from this crawl is not in the promise.
        let summary = SiteSummary { promise, canonical, ..rules.summary().clone() };
        rules.with_summary(summary).with_hosts(hosts).with_canonical_urls(canonical_urls)
    }

    /// Copies decisions and verdicts to rules that say the same, and returns decided ones that were not learned again.
    fn apply_decisions(&mut self, rules: &mut [Rule]) -> Vec<Rule> {
        let index = RuleIndex::new(rules);
        let mut added = Vec::new();
        for before in self.before.rules() {
            self.count(before.into());
            let indexes = index.indexes_of(rules, before);
            for &index in &indexes {
                // A list may have a rule twice. What was decided about one is decided about both.
                self.kept.verdicts += u64::from(keep_standing(before.into(), &mut rules[index]));
            }
            if indexes.is_empty() && SiteEntry::from(before).is_decided() {
                added.push(before.clone());
            }
        }
        added
    }

    /// The hosts on which both the learned rules and those before hold. If there are none, only pinned rules stay.
    fn common_hosts(&mut self, learned: &[Box<str>], rules: &mut Vec<Rule>) -> Vec<Box<str>> {
        let before = self.before.hosts();
        match (learned, before) {
            (hosts, []) | ([], hosts) => {
                if before.is_empty() && !hosts.is_empty() {
                    self.kept.narrowed.push(self.name.into());
                }
                hosts.to_vec()
            }
            _ => {
                let common: Vec<Box<str>> =
                    learned.iter().filter(|host| before.contains(host)).cloned().collect();
                if common.is_empty() {
                    let (free, others): (Vec<Rule>, _) =
                        std::mem::take(rules).into_iter().partition(|rule| is_free(rule.into()));
                    *rules = others;
                    self.displace(&free, None);
                    return before.to_vec();
                }
                if common.len() < before.len() {
                    self.kept.narrowed.push(self.name.into());
                }
                common
            }
        }
    }

    /// Leaves out rules until the others can stand together.
    fn settle(&mut self, learned: SiteRules, mut rules: Vec<Rule>) -> SiteRules {
        loop {
            let error = match SiteRules::new(learned.summary().clone(), rules.clone()) {
                Ok(rules) => return rules,
                Err(error) => error,
            };
            let displaced = make_room(&mut rules, &error);
            if displaced.is_empty() {
                // Only rules that are off are left, of which one makes no sense: no rule set has such rules.
                return SiteRules::default();
            }
            self.displace(&displaced, Some(&error));
        }
    }

    fn displace<'e>(
        &mut self,
        entries: impl IntoIterator<Item = impl Into<SiteEntry<'e>>>,
        cause: Option<&InvalidSite>,
    ) {
        let site = self.name;
        let displaced = entries.into_iter().map(Into::into).map(|entry: SiteEntry<'_>| Displaced {
            site: site.into(),
            id: entry.id(),
            rule: entry.to_string().into(),
            is_pinned: entry.pinned().is_some(),
            cause: cause.cloned(),
        });
        self.kept.displaced.extend(displaced);
    }
}

/// Gives an entry the decisions and the verdict of one that said the same. `true` if it has got a verdict.
fn keep_standing<'a>(before: SiteEntry<'_>, now: impl Into<Standing<'a>>) -> bool {
    let Standing { fetchable, evidence, off, pinned } = now.into();
    let kept = |decision: Option<&Decision>| decision.cloned().map(Box::new);
    *off = kept(before.off()).or(off.take());
    *pinned = kept(before.pinned()).or(pinned.take());
    *fetchable |= before.pinned().is_some() && before.fetchable();
    let is_new = before.evidence().verdict.is_some() && evidence.verdict.is_none();
    if is_new {
        evidence.verdict.clone_from(&before.evidence().verdict);
        let canonical = evidence.verdict.as_ref().and_then(|verdict| verdict.canonical);
        let is_dead = canonical.is_some_and(|canonical| canonical.outcome == Outcome::Refuted);
        *fetchable &= !is_dead || before.fetchable();
    }
    is_new
}

/// Takes rules out of a list that is refused, rather those that nobody vouches for. A pinned one stays, and is off.
fn make_room(rules: &mut Vec<Rule>, error: &InvalidSite) -> Vec<Rule> {
    let is_free_at = |index: usize| rules.get(index).is_some_and(|rule| is_free(rule.into()));
    let index = match error {
        InvalidSite::Rule { index, source: InvalidRule::NeverMade { by, .. } } => {
            Some(if !is_free_at(*index) && is_free_at(*by) { *by } else { *index })
        }
        InvalidSite::Rule { index, .. } if is_free_at(*index) => Some(*index),
        _ => None,
    };
    if let Some(index) = index.filter(|&index| is_free_at(index)) {
        return vec![rules.remove(index)];
    }
    if index.is_none() && rules.iter().any(|rule| is_free(rule.into())) {
        let (free, others): (Vec<Rule>, _) =
            std::mem::take(rules).into_iter().partition(|rule| is_free(rule.into()));
        *rules = others;
        return free;
    }
    let pinned = match index.filter(|&index| rules.get(index).is_some_and(Rule::is_applied)) {
        Some(index) => Some(index),
        None => rules.iter().rposition(Rule::is_applied),
    };
    pinned.and_then(|index| rules.get_mut(index)).map_or_else(Vec::new, |rule| {
        let why = "could not stand beside the other pinned rules when the rules were learned again";
        let displaced = rule.clone();
        rule.off = Some(Box::new(Decision { why: Some(why.into()), ..Decision::default() }));
        vec![displaced]
    })
}

/// Whether an entry is applied though nobody vouches for it.
fn is_free(entry: SiteEntry<'_>) -> bool {
    entry.is_applied() && entry.pinned().is_none()
}

/// Whether an entry is applied and somebody vouches for it.
fn is_vouched_for(entry: SiteEntry<'_>) -> bool {
    entry.is_applied() && entry.pinned().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(site: &str) -> RuleSet {
        RuleSet::load(format!(r#"{{"version": 1, "sites": {{"a.example": {site}}}}}"#).as_bytes()).unwrap()
    }

    fn rules(rules: &RuleSet) -> Vec<String> {
        let described = |rule: &Rule| {
            let state = match (&rule.off, &rule.pinned) {
                (Some(_), _) => "off: ",
                (_, Some(_)) => "pinned: ",
                _ => "",
            };
            format!("{state}{rule}")
        };
        rules.site("a.example").unwrap().rules().iter().map(described).collect()
    }

    #[test]
    fn decisions_are_found_again_by_what_rules_say() {
        let earlier = load(
            r#"{"rules": [{"change": [{"drop": "q.sid"}], "off": {"by": "anna"}},
                          {"change": [{"drop": "q.ref"}], "pinned": {}},
                          {"change": [{"drop": "q.old"}], "off": {}},
                          {"change": [{"drop": "q.hand"}], "pinned": {}},
                          {"change": [{"drop": "q.gone"}]}]}"#,
        );
        let mut learned = load(
            r#"{"rules": [{"change": [{"drop": "q.new"}]}, {"change": [{"drop": "q.ref"}]},
                          {"change": [{"drop": "q.sid"}]}]}"#,
        );
        let kept = learned.keep(&earlier);
        assert_eq!(
            rules(&learned),
            [
                "`new` does not matter",
                "pinned: `ref` does not matter",
                "off: `sid` does not matter",
                "off: `old` does not matter",
                "pinned: `hand` does not matter",
            ]
        );
        assert_eq!((kept.off, kept.pinned, kept.displaced.len()), (2, 2, 0));
        let by = |rules: &RuleSet| rules.site("a.example").unwrap().rules()[2].off.clone().unwrap().by;
        assert_eq!(by(&learned).as_deref(), Some("anna"));
        let once = learned.clone();
        learned.keep(&once);
        assert_eq!(learned, once, "keeping twice changes nothing");
    }

    #[test]
    fn verdicts_are_kept() {
        let verdict = r#""evidence": {"urls": 9, "support_pairs": 4, "false_pairs": 0, "groups": 4, "failed_groups": 0,
            "failure_bound": 0.5, "kinds": [],
            "verdict": {"outcome": "refuted", "same": 0, "different": 9, "failed": 0}}"#;
        let earlier = load(&format!(r#"{{"rules": [{{"change": [{{"drop": "q.sid"}}], {verdict}}}]}}"#));
        let mut learned = load(r#"{"rules": [{"change": [{"drop": "q.sid"}]}]}"#);
        assert_eq!(learned.keep(&earlier).verdicts, 1);
        assert!(!learned.site("a.example").unwrap().rules()[0].is_applied());
    }

    #[test]
    fn a_rule_whose_canonical_urls_were_refuted_stays_without_them() {
        for (outcome, is_fetchable) in [("refuted", false), ("unknown", true)] {
            let evidence = format!(
                r#""evidence": {{"urls": 9, "support_pairs": 4, "false_pairs": 0, "groups": 4, "failed_groups": 0,
                "failure_bound": 0.5, "kinds": [],
                "verdict": {{"outcome": "confirmed", "same": 20, "different": 0, "failed": 0, "canonical": {{"outcome":
                "{outcome}", "alive": 0, "redirected": 9, "missing": 0, "different": 0, "failed": 0}}}}}}"#
            );
            let earlier = load(&format!(r#"{{"rules": [{{"change": [{{"drop": "q.sid"}}], {evidence}}}]}}"#));
            let mut learned = load(r#"{"rules": [{"change": [{"drop": "q.sid"}], "fetchable": true}]}"#);
            assert_eq!(learned.keep(&earlier).verdicts, 1);
            let rule = &learned.site("a.example").unwrap().rules()[0];
            assert_eq!((rule.fetchable, rule.is_applied()), (is_fetchable, true), "{outcome}");
        }
    }

    #[test]
    fn a_learned_rule_gives_way_to_a_pinned_one() {
        let pinned = r#"{"when": {"q.s": {"is": "1"}}, "change": [{"drop": "q.t"}], "pinned": {}}"#;
        let earlier = load(&format!(r#"{{"rules": [{pinned}]}}"#));
        let mut learned =
            load(r#"{"rules": [{"change": [{"drop": "q.s"}]}, {"change": [{"drop": "q.u"}]}]}"#);
        let kept = learned.keep(&earlier);
        assert_eq!(rules(&learned), ["`u` does not matter", "pinned: where `s` is `1`: `t` does not matter"]);
        assert_eq!(&*kept.displaced[0].rule, "`s` does not matter");
        assert!(kept.displaced[0].cause.is_some());
    }

    #[test]
    fn mirrors_give_way_too() {
        let earlier = load(r#"{"rules": [{"change": [{"drop": "q.s"}], "pinned": {}}]}"#);
        let mut learned = load(r#"{"mirror": {"of": "b.example"}}"#);
        let kept = learned.keep(&earlier);
        assert_eq!(rules(&learned), ["pinned: `s` does not matter"]);
        assert_eq!(kept.displaced.len(), 1);
        assert_eq!(&*kept.displaced[0].rule, "shows the pages of b.example");
    }

    #[test]
    fn decisions_about_a_mirror_are_kept() {
        let mirror = |decision: &str| load(&format!(r#"{{"mirror": {{"of": "b.example"{decision}}}}}"#));
        let rules = || load(r#"{"rules": [{"change": [{"drop": "q.s"}]}]}"#);
        let (plain, off, pinned) = (mirror(""), mirror(r#", "off": {}"#), mirror(r#", "pinned": {}"#));
        for (earlier, learned, expected, displaced) in [
            (&off, plain.clone(), &off, 0),
            (&off, RuleSet::new(""), &off, 0),
            (&off, rules(), &rules(), 0),
            (&pinned, rules(), &pinned, 1),
            (&pinned, mirror(r#", "except": ["x"]"#), &pinned, 1),
        ] {
            let mut kept = learned;
            assert_eq!(kept.keep(earlier).displaced.len(), displaced);
            assert_eq!(kept.sites, expected.sites);
        }
    }

    #[test]
    fn pinned_rules_hold_on_no_more_hosts_than_before() {
        let pinned = r#""rules": [{"change": [{"drop": "q.s"}], "pinned": {}}]"#;
        let new = r#""rules": [{"change": [{"drop": "q.t"}]}]"#;
        let hosts = |before: &str, after: &str| {
            let earlier = load(&format!(r#"{{"hosts": [{before}], {pinned}}}"#));
            let mut learned = load(&format!(r#"{{"hosts": [{after}], {new}}}"#));
            let kept = learned.keep(&earlier);
            let site = learned.site("a.example").unwrap();
            (site.hosts().join(" "), site.len(), kept.narrowed.len())
        };
        let (a, b) = (r#""a.a.example""#, r#""a.a.example", "b.a.example""#);
        assert_eq!(hosts(a, a), ("a.a.example".into(), 2, 0));
        assert_eq!(hosts(a, ""), ("a.a.example".into(), 2, 0));
        assert_eq!(hosts("", a), ("a.a.example".into(), 2, 1));
        assert_eq!(hosts(b, a), ("a.a.example".into(), 2, 1));
        assert_eq!(hosts(a, r#""c.a.example""#), ("a.a.example".into(), 1, 0));
    }

    #[test]
    fn a_site_that_was_not_crawled_again_keeps_what_was_decided() {
        let earlier = load(
            r#"{"hosts": ["a.a.example"],
                "rules": [{"change": [{"drop": "q.s"}], "pinned": {}}, {"change": [{"drop": "q.t"}]}]}"#,
        );
        let mut learned = RuleSet::new("canonfd");
        learned.keep(&earlier);
        assert_eq!(rules(&learned), ["pinned: `s` does not matter"]);
        assert_eq!(learned.site("a.example").unwrap().hosts().join(" "), "a.a.example");
    }

    #[test]
    fn a_rule_that_is_off_is_no_longer_among_those_that_lack_votes() {
        let earlier = load(r#"{"rules": [{"change": [{"drop": "q.s"}], "off": {}}]}"#);
        let mut learned = load(
            r#"{"rules": [], "refused": [{"change": [{"drop": "q.s"}], "reason": "few votes", "votes": 3, "against": 0,
                                          "missing": 2}]}"#,
        );
        learned.keep(&earlier);
        assert_eq!(rules(&learned), ["off: `s` does not matter"]);
        assert!(learned.site("a.example").unwrap().refused().is_empty());
    }
}
