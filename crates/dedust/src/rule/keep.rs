/*!
Rules that were learned again, with what people and `validate` said about the rules before.

New rules and earlier ones in, rules out in which the new edits have the earlier decisions and verdicts. Decided edits that were not
learned again are added: those that are off stay off, pinned ones are applied. Where a pinned edit and a learned one cannot stand together, the pinned
one stays and the learned one is left out. Nothing else of the earlier rules is kept.
*/

use super::{Decision, Edit, EditIndex, Evidence, InvalidEdit, InvalidSite, RuleSet, SiteRules, SiteSummary};

/// What was kept of earlier rules, and what that took.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Kept {
    /// Edits that are off.
    pub off: u64,
    /// Edits that are pinned.
    pub pinned: u64,
    /// Verdicts on edits.
    pub verdicts: u64,
    /// Edits that gave way, in the order of sites.
    pub displaced: Vec<Displaced>,
    /// Sites whose pinned edits hold on fewer hosts than before, since the new edits do.
    pub narrowed: Vec<Box<str>>,
}

/// An edit that gave way to a pinned one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Displaced {
    /// Its site.
    pub site: Box<str>,
    /// The edit. If it is pinned itself, it stays in the list and is off.
    pub edit: Edit,
    /// Why the edits could not stand together; `None` if they hold on different hosts.
    pub cause: Option<InvalidSite>,
}

impl RuleSet {
    /// Keeps what was decided about `earlier` rules, and verdicts on edits that say the same.
    pub fn keep(&mut self, earlier: &Self) -> Kept {
        let mut kept = Kept::default();
        for (name, before) in earlier.sites() {
            let is_kept = |edit: &Edit| is_decided(edit) || edit.evidence.verdict.is_some();
            if !before.edits().iter().any(is_kept) {
                continue;
            }
            let learned = self.sites.get(name).cloned();
            let is_new = learned.is_none();
            let rules = SiteKeeper { name, before, kept: &mut kept }.keep(learned.unwrap_or_default());
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
    fn keep(mut self, learned: SiteRules) -> SiteRules {
        let mut edits = learned.edits().to_vec();
        let added = self.apply_decisions(&mut edits);
        let has_pinned = added.iter().any(Edit::is_applied);
        // Of an edit without evidence it is known anyway that nothing is promised: see `SiteRules::promise`.
        let is_counted = !added.iter().any(|edit| edit.is_applied() && edit.evidence != Evidence::default());
        let is_learned = !edits.is_empty();
        edits.extend(added);
        let hosts = match (has_pinned, is_learned) {
            (false, _) => learned.hosts().to_vec(),
            (true, false) => self.before.hosts().to_vec(),
            (true, true) => self.common_hosts(learned.hosts(), &mut edits),
        };
        let mut refused = learned.refused().to_vec();
        let decided: Vec<Edit> = edits.iter().filter(|edit| is_decided(edit)).cloned().collect();
        let index = EditIndex::new(&decided);
        refused
            .retain(|refused| index.indexes_of(&decided, &refused.to_edit(Evidence::default())).is_empty());
        let promise = learned.summary().promise.filter(|_| is_counted);
        let rules = self.settle(learned, edits).with_refused(refused);
        // What an edit loses that was not learned from this crawl is not in the promise.
        let summary = SiteSummary { promise, ..rules.summary().clone() };
        let rules = rules.with_summary(summary);
        // A mirror is one on all hosts.
        let hosts = if rules.mirror().is_some() { Vec::new() } else { hosts };
        rules.with_hosts(hosts)
    }

    /// Copies decisions and verdicts to edits that say the same, and returns decided ones that were not learned again.
    fn apply_decisions(&mut self, edits: &mut [Edit]) -> Vec<Edit> {
        let index = EditIndex::new(edits);
        let mut added = Vec::new();
        for before in self.before.edits() {
            self.kept.off += u64::from(before.off.is_some());
            self.kept.pinned += u64::from(before.pinned.is_some());
            let indexes = index.indexes_of(edits, before);
            for &index in &indexes {
                let edit = &mut edits[index];
                // A list may have an edit twice. What was decided about one is decided about both.
                edit.off = before.off.clone().or(edit.off.take());
                edit.pinned = before.pinned.clone().or(edit.pinned.take());
                edit.fetchable |= before.pinned.is_some() && before.fetchable;
                if before.evidence.verdict.is_some() && edit.evidence.verdict.is_none() {
                    edit.evidence.verdict.clone_from(&before.evidence.verdict);
                    self.kept.verdicts += 1;
                }
            }
            if indexes.is_empty() && is_decided(before) {
                added.push(before.clone());
            }
        }
        added
    }

    /// The hosts on which both the learned edits and those before hold. If there are none, only pinned edits stay.
    fn common_hosts(&mut self, learned: &[Box<str>], edits: &mut Vec<Edit>) -> Vec<Box<str>> {
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
                    let (free, others) = std::mem::take(edits).into_iter().partition(is_free);
                    *edits = others;
                    self.displace(free, None);
                    return before.to_vec();
                }
                if common.len() < before.len() {
                    self.kept.narrowed.push(self.name.into());
                }
                common
            }
        }
    }

    /// Leaves out edits until the others can stand together.
    fn settle(&mut self, learned: SiteRules, mut edits: Vec<Edit>) -> SiteRules {
        loop {
            let error = match SiteRules::new(learned.summary().clone(), edits.clone()) {
                Ok(rules) => return rules,
                Err(error) => error,
            };
            let displaced = make_room(&mut edits, &error);
            if displaced.is_empty() {
                // Only edits that are off are left, of which one makes no sense: no rule set has such edits.
                return SiteRules::default();
            }
            self.displace(displaced, Some(&error));
        }
    }

    fn displace(&mut self, edits: Vec<Edit>, cause: Option<&InvalidSite>) {
        let site: &str = self.name;
        let displaced =
            edits.into_iter().map(|edit| Displaced { site: site.into(), edit, cause: cause.cloned() });
        self.kept.displaced.extend(displaced);
    }
}

/// Takes edits out of a list that is refused, rather those that nobody vouches for. A pinned one stays, and is off.
fn make_room(edits: &mut Vec<Edit>, error: &InvalidSite) -> Vec<Edit> {
    let is_free_at = |index: usize| edits.get(index).is_some_and(is_free);
    let index = match error {
        InvalidSite::Edit { index, source: InvalidEdit::NeverMade { by, .. } } => {
            Some(if !is_free_at(*index) && is_free_at(*by) { *by } else { *index })
        }
        InvalidSite::Edit { index, .. } if is_free_at(*index) => Some(*index),
        _ => None,
    };
    if let Some(index) = index.filter(|&index| is_free_at(index)) {
        return vec![edits.remove(index)];
    }
    if index.is_none() && edits.iter().any(is_free) {
        let (free, others) = std::mem::take(edits).into_iter().partition(is_free);
        *edits = others;
        return free;
    }
    let pinned = match index.filter(|&index| edits.get(index).is_some_and(Edit::is_applied)) {
        Some(index) => Some(index),
        None => edits.iter().rposition(Edit::is_applied),
    };
    pinned.and_then(|index| edits.get_mut(index)).map_or_else(Vec::new, |edit| {
        let why = "could not stand beside the other pinned edits when the rules were learned again";
        let displaced = edit.clone();
        edit.off = Some(Box::new(Decision { why: Some(why.into()), ..Decision::default() }));
        vec![displaced]
    })
}

fn is_decided(edit: &Edit) -> bool {
    edit.off.is_some() || edit.pinned.is_some()
}

/// Whether an edit is applied though nobody vouches for it.
fn is_free(edit: &Edit) -> bool {
    edit.is_applied() && edit.pinned.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(site: &str) -> RuleSet {
        RuleSet::load(format!(r#"{{"version": 2, "sites": {{"a.example": {site}}}}}"#).as_bytes()).unwrap()
    }

    fn edits(rules: &RuleSet) -> Vec<String> {
        let described = |edit: &Edit| {
            let state = match (&edit.off, &edit.pinned) {
                (Some(_), _) => "off: ",
                (_, Some(_)) => "pinned: ",
                _ => "",
            };
            format!("{state}{edit}")
        };
        rules.site("a.example").unwrap().edits().iter().map(described).collect()
    }

    #[test]
    fn decisions_are_found_again_by_what_edits_say() {
        let earlier = load(
            r#"{"edits": [{"change": [{"drop": "q.sid"}], "off": {"by": "anna"}},
                          {"change": [{"drop": "q.ref"}], "pinned": {}},
                          {"change": [{"drop": "q.old"}], "off": {}},
                          {"change": [{"drop": "q.hand"}], "pinned": {}},
                          {"change": [{"drop": "q.gone"}]}]}"#,
        );
        let mut learned = load(
            r#"{"edits": [{"change": [{"drop": "q.new"}]}, {"change": [{"drop": "q.ref"}]},
                          {"change": [{"drop": "q.sid"}]}]}"#,
        );
        let kept = learned.keep(&earlier);
        assert_eq!(
            edits(&learned),
            [
                "`new` does not matter",
                "pinned: `ref` does not matter",
                "off: `sid` does not matter",
                "off: `old` does not matter",
                "pinned: `hand` does not matter",
            ]
        );
        assert_eq!((kept.off, kept.pinned, kept.displaced.len()), (2, 2, 0));
        let by = |rules: &RuleSet| rules.site("a.example").unwrap().edits()[2].off.clone().unwrap().by;
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
        let earlier = load(&format!(r#"{{"edits": [{{"change": [{{"drop": "q.sid"}}], {verdict}}}]}}"#));
        let mut learned = load(r#"{"edits": [{"change": [{"drop": "q.sid"}]}]}"#);
        assert_eq!(learned.keep(&earlier).verdicts, 1);
        assert!(!learned.site("a.example").unwrap().edits()[0].is_applied());
    }

    #[test]
    fn a_learned_edit_gives_way_to_a_pinned_one() {
        let pinned = r#"{"when": {"q.s": {"is": "1"}}, "change": [{"drop": "q.t"}], "pinned": {}}"#;
        let earlier = load(&format!(r#"{{"edits": [{pinned}]}}"#));
        let mut learned =
            load(r#"{"edits": [{"change": [{"drop": "q.s"}]}, {"change": [{"drop": "q.u"}]}]}"#);
        let kept = learned.keep(&earlier);
        assert_eq!(edits(&learned), ["`u` does not matter", "pinned: where `s` is `1`: `t` does not matter"]);
        assert_eq!(kept.displaced[0].edit.to_string(), "`s` does not matter");
        assert!(kept.displaced[0].cause.is_some());
    }

    #[test]
    fn mirrors_give_way_too() {
        let earlier = load(r#"{"edits": [{"change": [{"drop": "q.s"}], "pinned": {}}]}"#);
        for learned in [r#"{"edits": [{"change": [{"move": "b.example"}]}]}"#] {
            let mut learned = load(learned);
            let kept = learned.keep(&earlier);
            assert_eq!(edits(&learned), ["pinned: `s` does not matter"]);
            assert_eq!(kept.displaced.len(), 1);
        }
    }

    #[test]
    fn pinned_edits_hold_on_no_more_hosts_than_before() {
        let pinned = r#""edits": [{"change": [{"drop": "q.s"}], "pinned": {}}]"#;
        let new = r#""edits": [{"change": [{"drop": "q.t"}]}]"#;
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
                "edits": [{"change": [{"drop": "q.s"}], "pinned": {}}, {"change": [{"drop": "q.t"}]}]}"#,
        );
        let mut learned = RuleSet::new("canonfd");
        learned.keep(&earlier);
        assert_eq!(edits(&learned), ["pinned: `s` does not matter"]);
        assert_eq!(learned.site("a.example").unwrap().hosts().join(" "), "a.a.example");
    }

    #[test]
    fn an_edit_that_is_off_is_no_longer_among_those_that_lack_votes() {
        let earlier = load(r#"{"edits": [{"change": [{"drop": "q.s"}], "off": {}}]}"#);
        let mut learned = load(
            r#"{"edits": [], "refused": [{"change": [{"drop": "q.s"}], "reason": "few votes", "votes": 3, "against": 0,
                                          "missing": 2}]}"#,
        );
        learned.keep(&earlier);
        assert_eq!(edits(&learned), ["off: `s` does not matter"]);
        assert!(learned.site("a.example").unwrap().refused().is_empty());
    }
}
