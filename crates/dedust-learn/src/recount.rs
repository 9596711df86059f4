/*!
Holds the rules of a site of which only a sample was learned from against all of its observations.

The sample may not be like the rest of the site, by chance or because somebody saw to it. So once there are rules, all
observations are gone through once more, and drawn by what the rules make of them: whole keys, as many as there is room for, in
an order that nobody can choose. For each rule the groups of URLs that it brings together are counted there and in the sample,
in the same way. A rule that fails more often than the sample had shown, and more often than any rule may, is taken back. What
the rules that are left may lose is said of the whole site.
*/

use std::cell::OnceCell;

use dedust::errors::InvalidSite;
use dedust::rules::{Promise, RefusedRule, Rule, SiteRules, SiteSummary};
use dedust::support::Interner;
use dedust::{Normalizer, RuleSet, Scratch};
use foldhash::HashSet;
use serde::{Deserialize, Serialize};

use crate::canonfd::Refusal;
use crate::confidence::{failure_bound, failure_floor};
use crate::corpus::Corpus;
use crate::label::Relation;
use crate::site_report::SiteReport;
use crate::thresholds;

/// Groups of URLs that something brings together, of those that say anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Groups {
    all: u64,
    /// Those of them that hold more than one page.
    failing: u64,
}

impl Groups {
    fn count(&mut self, has_failed: bool) {
        self.all += 1;
        self.failing += u64::from(has_failed);
    }
}

/// Rules of a site that were learned from a sample, until they were held against all of its observations.
#[derive(Clone, Debug)]
pub struct Unchecked {
    pub(crate) report: SiteReport,
    rules: SiteRules,
    /// What the sample says of each rule.
    groups: Vec<Groups>,
    /// For each observation of the sample, so many of the site.
    scale: f64,
}

/// The same as it is written.
#[derive(Serialize, Deserialize)]
struct Written {
    report: SiteReport,
    /// A rule file.
    rules: String,
    groups: Vec<Groups>,
    scale: f64,
}

/// What URLs say of the rules of their site.
#[derive(Debug)]
struct Recount {
    /// Of each rule.
    by_rule: Vec<Groups>,
    /// Of all together.
    groups: Groups,
    /// Pages that share a key with another.
    lost: u64,
}

impl Unchecked {
    /// Rules that were learned from a sample, with one of `scale` observations of the site.
    pub(crate) fn new(corpus: &Corpus, report: SiteReport, rules: SiteRules, scale: f64) -> Self {
        let groups = Recount::of(corpus, &rules).by_rule;
        Self { report, rules, groups, scale }
    }

    /// The name of the site.
    pub fn site(&self) -> &str {
        &self.report.site
    }

    /// The rules, compiled.
    pub(crate) fn normalizer(&self) -> Normalizer {
        compiled(self.site(), &self.rules)
    }

    /// The rules that hold in a share of the keys of the site, and whether these are all of them.
    pub(crate) fn held_against(self, drawn: &Corpus, share: f64) -> Result<(SiteRules, bool), InvalidSite> {
        let Self { mut rules, mut groups, scale, .. } = self;
        let learned = rules.len();
        let mut recount = Recount::of(drawn, &rules);
        // One after the other: what one rule does no other is to blame for.
        while let Some(index) = worst(&groups, &recount.by_rule) {
            let counted = recount.by_rule[index];
            groups.remove(index);
            rules = without(rules, index, counted)?;
            recount = Recount::of(drawn, &rules);
        }
        let promise = rules.summary().promise.map(|promise| recount.promise(promise, scale, share));
        let are_all = rules.len() == learned;
        let canonical = rules.summary().canonical.filter(|_| are_all);
        let summary = SiteSummary { promise, canonical, ..rules.summary().clone() };
        Ok((rules.with_summary(summary), are_all))
    }

    /// As JSON, for another process.
    pub fn to_json(&self) -> String {
        let mut rules = Vec::new();
        let is_saved = alone(self.site(), &self.rules).save(&mut rules).is_ok();
        debug_assert!(is_saved, "memory takes all that is written to it");
        let rules = String::from_utf8(rules).unwrap_or_default();
        let Self { report, groups, scale, .. } = self.clone();
        serde_json::to_string(&Written { report, rules, groups, scale }).unwrap_or_default()
    }

    /// What [`Unchecked::to_json`] made; `None` if it was something else.
    pub fn from_json(json: &str) -> Option<Self> {
        let Written { report, rules, groups, scale } = serde_json::from_str(json).ok()?;
        let rules = RuleSet::load(rules.as_bytes()).ok()?.site(&report.site)?.clone();
        (groups.len() == rules.len()).then_some(Self { report, rules, groups, scale })
    }
}

impl Recount {
    fn of(corpus: &Corpus, rules: &SiteRules) -> Self {
        let normalizer = compiled(corpus.site(), rules);
        let without: Vec<OnceCell<Option<Normalizer>>> = vec![OnceCell::new(); rules.len()];
        let without = |rule: usize| {
            without.get(rule)?.get_or_init(|| compiled_without(corpus.site(), rules, rule)).as_ref()
        };
        let mut scratch = Scratch::default();
        let mut keys = Interner::default();
        let mut rows: Vec<(u32, u32)> = (0..corpus.len() as u32)
            .map(|row| {
                let url = corpus.url(row);
                (keys.intern(normalizer.key_with(url, &mut scratch).unwrap_or(url)), row)
            })
            .collect();
        drop(keys);
        rows.sort_unstable();
        let mut counted =
            Self { by_rule: vec![Groups::default(); rules.len()], groups: Groups::default(), lost: 0 };
        let mut verdicts: Vec<Option<bool>> = vec![None; rules.len()];
        for of_key in rows.chunk_by(|a, b| a.0 == b.0).filter(|rows| rows.len() > 1) {
            let step = of_key.len().div_ceil(thresholds::sample::MAX_OF_KEY);
            let members: Vec<u32> = of_key.iter().step_by(step).map(|&(_, row)| row).collect();
            let Some(leader) = leader(corpus, &members) else { continue };
            let made = |row: u32| normalizer.explain(corpus.url(row)).map(|explained| explained.rules);
            let made_of_leader = made(leader).unwrap_or_default();
            let (mut says_anything, mut lost) = (false, HashSet::default());
            for &row in members.iter().filter(|&&row| row != leader) {
                let Some(are_one) = are_one_page(corpus, leader, row) else { continue };
                says_anything = true;
                if !are_one {
                    lost.insert(corpus.label(row));
                }
                let mut made = made(row).unwrap_or_default();
                made.extend(&made_of_leader);
                made.sort_unstable();
                made.dedup();
                for rule in made {
                    let Some(normalizer) = without(rule) else { continue };
                    let [one, other] = [leader, row]
                        .map(|row| normalizer.key(corpus.url(row)).map(|key| key.as_bytes().to_vec()));
                    if one != other {
                        *verdicts[rule].get_or_insert(false) |= !are_one;
                    }
                }
            }
            if says_anything {
                counted.groups.count(!lost.is_empty());
                counted.lost += lost.len() as u64;
            }
            for (groups, verdict) in counted.by_rule.iter_mut().zip(&mut verdicts) {
                if let Some(has_failed) = verdict.take() {
                    groups.count(has_failed);
                }
            }
        }
        counted
    }

    /// What may be lost of the site: what the sample lets expect, and no less than what these keys, a share of all, do.
    fn promise(&self, of_sample: Promise, scale: f64, share: f64) -> Promise {
        let pages = of_sample.pages as f64 * scale;
        let lost_of_failing = self.lost.max(1) as f64 / self.groups.failing.max(1) as f64;
        let failing = failure_bound(self.groups.failing, self.groups.all) * self.groups.all as f64;
        let lost = (of_sample.lost as f64 * scale).max(failing * lost_of_failing / share);
        Promise { lost: lost.min(pages).ceil() as u64, pages: pages.round() as u64 }
    }
}

/// The rule that fails most among those that fail for sure more often than their sample had shown, and than any may.
fn worst(of_sample: &[Groups], of_site: &[Groups]) -> Option<usize> {
    let floor = |groups: Groups| failure_floor(groups.failing, groups.all);
    let is_refuted = |(sample, site): (&Groups, &Groups)| {
        floor(*site) > failure_bound(sample.failing, sample.all).max(thresholds::proof::TRUSTED_LIMIT)
    };
    let refuted = (0..of_site.len()).filter(|&rule| is_refuted((&of_sample[rule], &of_site[rule])));
    refuted.max_by(|&a, &b| floor(of_site[a]).total_cmp(&floor(of_site[b])))
}

/// The row whose page most of these rows show.
fn leader(corpus: &Corpus, rows: &[u32]) -> Option<u32> {
    let count = |row: u32| rows.iter().filter(|&&other| corpus.label(other) == corpus.label(row)).count();
    let labelled = rows.iter().copied().filter(|&row| corpus.label(row).is_some());
    labelled.min_by_key(|&row| (std::cmp::Reverse(count(row)), row))
}

/// Whether two rows show one page, if they say anything of each other.
fn are_one_page(corpus: &Corpus, one: u32, other: u32) -> Option<bool> {
    if corpus.label(one) == corpus.label(other) {
        return Some(true);
    }
    match corpus.relation(one, other) {
        Relation::Same => Some(true),
        Relation::Different => Some(false),
        Relation::Slight | Relation::Unknown => None,
    }
}

fn alone(site: &str, rules: &SiteRules) -> RuleSet {
    let mut alone = RuleSet::new("");
    let is_valid = alone.insert(site, rules.clone()).is_ok();
    debug_assert!(is_valid, "rules of a site are checked where they are made");
    alone
}

fn compiled(site: &str, rules: &SiteRules) -> Normalizer {
    Normalizer::compile(&alone(site, rules))
}

/// The same without one rule, if the others can stand without it.
fn compiled_without(site: &str, site_rules: &SiteRules, index: usize) -> Option<Normalizer> {
    let mut rules: Vec<Rule> = site_rules.rules().to_vec();
    rules.remove(index);
    Some(compiled(site, &site_rules.clone().with_rules(rules).ok()?))
}

/// The same without a rule that failed in so many groups.
fn without(site_rules: SiteRules, index: usize, groups: Groups) -> Result<SiteRules, InvalidSite> {
    let mut rules: Vec<Rule> = site_rules.rules().to_vec();
    let Rule { when, change, .. } = rules.remove(index);
    let refused = RefusedRule {
        when,
        change,
        reason: Refusal::Fails.reason().into(),
        votes: groups.all,
        against: groups.failing,
        missing: None,
        merged: None,
        fetched: None,
    };
    let refused = std::iter::once(refused).chain(site_rules.refused().iter().cloned()).collect();
    Ok(site_rules.with_rules(rules)?.with_refused(refused))
}

#[cfg(test)]
mod tests {
    use dedust::rules::{Change, Spot, UrlPart};

    use super::*;
    use crate::{Clues, Crawl, EvidenceKinds, Trainer};

    /// The URLs of `a.example`, each with what it shows.
    fn corpus(rows: impl Iterator<Item = (String, String)>) -> Corpus {
        let mut crawl = Crawl::new(EvidenceKinds::AUTO);
        for (path, page) in rows {
            let clues = Clues { digest: Some(page.as_bytes()), ..Clues::default() };
            crawl.observe(format!("http://a.example/{path}").as_bytes(), &clues).expect("a URL");
        }
        crawl.into_corpora().remove(0)
    }

    /// Pages that ignore `box`, and have a session.
    fn articles() -> impl Iterator<Item = (String, String)> {
        let row = |row: u32| {
            let page = row / 4;
            // Of two fetches in turn one has another session, or another `box`.
            let random = |row: u32| row.wrapping_mul(0x9e37_79b1);
            let (value, sid) = (random(4 * page + row % 4 / 2), !random(4 * page + row % 4 % 2));
            (format!("article-{page}?box={value}&sid={sid:x}"), format!("article {page}"))
        };
        (0..800).map(row)
    }

    fn learned_from_articles() -> Unchecked {
        let sample = corpus(articles());
        let trained =
            Trainer::builder().build().map(|trainer| trainer.train(std::slice::from_ref(&sample), &()));
        let training = trained.expect("settings are those by default").expect("rules are valid");
        let rules = training.rules.site("a.example").expect("it was learned").clone();
        Unchecked::new(&sample, training.sites[0].clone(), rules, 10.0)
    }

    fn drops(rules: &SiteRules, name: &str) -> bool {
        let is_it = |change: &Change| matches!(change, Change::Drop(Spot::Key(UrlPart::QueryParam(param))) if &*param.name == name);
        rules.rules().iter().any(|rule| rule.change.iter().any(is_it))
    }

    #[test]
    fn a_rule_that_fails_where_the_sample_has_not_been_is_taken_back() {
        let unchecked = learned_from_articles();
        assert!(drops(&unchecked.rules, "box") && drops(&unchecked.rules, "sid"), "{:?}", unchecked.rules);
        let view = |row: u32| (format!("view-{}?box={row}&sid={row:x}", row % 40), format!("page {row}"));
        let again = |row: u32| (format!("view-{}?box={row}&sid={:x}", row % 40, !row), format!("page {row}"));
        let others = (0..400).flat_map(|row| [view(row), again(row)]);
        let (rules, are_all) =
            unchecked.held_against(&corpus(articles().take(80).chain(others)), 0.5).expect("valid rules");
        assert!(!are_all && !drops(&rules, "box") && drops(&rules, "sid"), "{rules:?}");
        assert_eq!(&*rules.refused()[0].reason, Refusal::Fails.reason());
    }

    #[test]
    fn what_holds_everywhere_stays_and_is_promised_of_the_whole_site() {
        let unchecked = learned_from_articles();
        let before = unchecked.rules.clone();
        let (rules, are_all) = unchecked.held_against(&corpus(articles()), 0.1).expect("valid rules");
        assert!(are_all);
        assert_eq!(rules.rules(), before.rules());
        let (of_sample, of_site) = (before.summary().promise, rules.summary().promise);
        let (of_sample, of_site) = (of_sample.expect("a promise"), of_site.expect("a promise"));
        assert_eq!(10 * of_sample.pages, of_site.pages);
        assert!(of_site.lost >= 10 * of_sample.lost, "{of_site:?}");
    }

    #[test]
    fn what_another_process_wrote_is_read_back_and_other_texts_are_not() {
        let unchecked = learned_from_articles();
        let json = unchecked.to_json();
        let read = Unchecked::from_json(&json).expect("it was written");
        assert_eq!((read.to_json(), read.groups), (json.clone(), unchecked.groups));
        assert!(Unchecked::from_json(&json[1..]).is_none() && Unchecked::from_json("").is_none());
    }
}
