/*!
What the page shows, as data. Texts of crawls stand in it as they are: whoever shows them must take them for text.
*/

use dedust::Normalizer;
use dedust::rules::{CanonicalCounts, Decision, Promise, Verdict};
use dedust_learn::Corpus;
use serde::Serialize;

/// All that the page shows. Serialized as the JSON that the page reads.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReportData {
    /// The version of dedust that made it.
    pub version: &'static str,
    /// Who made the rules.
    pub method: Box<str>,
    /// Whether mirrors are applied.
    pub trusts_mirrors: bool,
    /// All sites.
    pub total: Figures,
    /// Sites, the worst first: most duplicates left, then most pages at risk.
    pub sites: Vec<SiteRow>,
    /// Sites that are not listed.
    pub more_sites: u64,
    /// Sites that are shown in full, in the same order.
    pub details: Vec<SiteDetail>,
    /// The rules of these sites without evidence, as a rule file: what the normalizer in the page is made of. Empty if they are
    /// compiled.
    pub rules: String,
    /// Compiled rules in base 64, where there is no rule file; `None` if they are too large for a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compiled: Option<String>,
    /// The URLs of these sites; `None` without a crawl, or if there are too many for a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub urls: Option<UrlTable>,
}

/// Figures of a site, or of all.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// URLs that the rules were learned from, by safe form.
    pub learned_urls: u64,
    /// Those of them whose page was known.
    pub learned_labelled: u64,
    /// Their pages.
    pub learned_pages: u64,
    /// Pages that may be merged wrongly at most, with 95 % confidence, if the learner says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promise: Option<Promise>,
    /// What the crawl that was learned from knows of canonical URLs, if the rules say so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub canonical: Option<CanonicalCounts>,
    /// Rules by their state.
    pub rules: RuleCounts,
    /// What the rules make of the crawl, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crawl: Option<CrawlFigures>,
}

/// Rules by their state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RuleCounts {
    /// In the rule file.
    pub all: u64,
    /// Those that change URLs.
    pub applied: u64,
    /// Turned off by people.
    pub off: u64,
    /// Refuted by fetching, and not applied.
    pub refuted: u64,
    /// Not applied for lack of votes.
    pub unproven: u64,
    /// Not applied, since they were seen to fail.
    pub refused: u64,
}

/// What rules make of a crawl.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CrawlFigures {
    /// Distinct URLs, as met.
    pub urls: u64,
    /// Distinct keys.
    pub keys: u64,
    /// Keys of several URLs.
    pub groups: u64,
    /// URLs that safe normalization alone makes the same as one before them.
    pub safe_duplicates: u64,
    /// URLs whose size is known.
    pub sized: u64,
    /// Their sizes.
    pub bytes: u64,
    /// Sizes of the URLs that need not be fetched: all of a key but the first that was met.
    pub saved_bytes: u64,
    /// URLs whose page is known.
    pub labelled: u64,
    /// Their pages.
    pub pages: u64,
    /// Their distinct keys.
    pub labelled_keys: u64,
    /// Pages that are met by fetching the first URL of each key.
    pub covered: u64,
    /// Pages that are not, and that are known to show something else than what is fetched instead.
    pub lost: u64,
}

/// A row of the table of sites.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SiteRow {
    /// The registrable domain, or a host.
    pub site: Box<str>,
    /// The site whose pages it shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mirror_of: Option<Box<str>>,
    /// Its figures.
    pub figures: Figures,
}

/// A site in full.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SiteDetail {
    /// The registrable domain, or a host.
    pub site: Box<str>,
    /// The hosts on which its rules hold; empty for all.
    pub hosts: Vec<Box<str>>,
    /// Its rules, in the order of the file.
    pub rules: Vec<RuleReport>,
    /// Rules that were considered and not believed.
    pub refused: Vec<RefusedReport>,
    /// What is saved by the best rules, one more at each point.
    pub curve: Vec<CurvePoint>,
    /// What a crawler meets and fetches on its way.
    pub visits: Vec<VisitPoint>,
    /// What is learned from growing shares of the crawl; empty if that is too large.
    pub learning: Vec<LearningPoint>,
    /// Duplicates that are left, by what tells them apart; most first.
    pub remaining: Vec<Remaining>,
    /// The largest duplicate groups.
    pub groups: Vec<GroupReport>,
    /// The pattern tree, parents before children; the root is the site.
    pub tree: Vec<TreeNode>,
    /// Which parameters matter where.
    pub params: ParamMap,
}

/// A rule, with what it does to the crawl.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RuleReport {
    /// Its index in the site's list, from 0.
    pub index: usize,
    /// What `dedust rules` calls it.
    pub id: String,
    /// What it does, in words.
    pub sentence: String,
    /// Whether it changes URLs.
    pub applied: bool,
    /// `applied`, `pinned`, `off`, `refuted`, or several of these.
    pub state: String,
    /// Why it is trusted: `proven`, `likely`, `fetched`, `learned` or `by hand`.
    pub trust: &'static str,
    /// Whether what it writes can be fetched.
    pub fetchable: bool,
    /// Who turned it off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub off: Option<Decision>,
    /// Who vouches for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pinned: Option<Decision>,
    /// What training saw of it; `None` if it was written by hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<EvidenceReport>,
    /// What fetching pages said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Pairs of URLs that it brings together.
    pub examples: Vec<[Box<str>; 2]>,
    /// URLs of the crawl that it changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<u64>,
    /// URLs that would be fetched as well, were it alone off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saves: Option<i64>,
    /// Their bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saves_bytes: Option<i64>,
    /// Pages of the crawl that would be met as well, were it alone off: it hides them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hides: Option<i64>,
}

/// Why a rule is trusted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EvidenceReport {
    /// Training URLs that it changes.
    pub urls: u64,
    /// Groups that voted on it.
    pub groups: u64,
    /// Those of them that hold more than one page.
    pub failed_groups: u64,
    /// The share of failing groups is at most this, with 95 % confidence.
    pub bound: f64,
    /// How duplicates were known.
    pub kinds: Vec<Box<str>>,
    /// The latest time of an observation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Box<str>>,
}

/// A rule that was considered and not believed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RefusedReport {
    /// What it would do, in words.
    pub sentence: String,
    /// Why it is not made.
    pub reason: Box<str>,
    /// Votes on it.
    pub votes: u64,
    /// Those of them against it.
    pub against: u64,
    /// Votes for it that are missing, if votes would help: it is unproven, not refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<u64>,
    /// How many fewer forms the training URLs would have with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged: Option<u64>,
    /// What fetching pages said about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}

/// What the best rules save together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CurvePoint {
    /// The rule that is added here; `None` for safe normalization alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<usize>,
    /// How many rules there are at this point.
    pub rules: usize,
    /// URLs that need not be fetched.
    pub saved: u64,
}

/// How far a crawler has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct VisitPoint {
    /// URLs that it has met.
    pub met: u64,
    /// Those that it fetches with the rules.
    pub fetched: u64,
    /// Pages among those whose page is known, and URLs whose page is not.
    pub pages: u64,
}

/// Duplicates that are left.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Remaining {
    /// The parts of URLs in which they differ.
    pub parts: Vec<String>,
    /// Why they are left.
    pub reason: RemainingReason,
    /// The rule that would join them, in words, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// How many.
    pub duplicates: u64,
    /// Two URLs of one page with different keys.
    pub example: [String; 2],
}

/// What was learned from a share of a site's URLs, and what that makes of all of them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LearningPoint {
    /// The share, up to 1.
    pub share: f64,
    /// URLs that were learned from.
    pub urls: u64,
    /// Rules that were learned.
    pub rules: u64,
    /// Duplicates of the whole crawl.
    pub duplicates: u64,
    /// Those of them that are removed.
    pub removed: u64,
    /// Pages of the whole crawl.
    pub pages: u64,
    /// Pages that are lost: only URLs with the key of another page show them, and they are known to show something else.
    pub lost: u64,
    /// What the learner promised, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promise: Option<Promise>,
}

/// Why duplicates are left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RemainingReason {
    /// A rule that lacks votes would join them.
    Unproven,
    /// A rule that was seen to fail would join them.
    Refused,
    /// A rule that people turned off would join them.
    Off,
    /// A rule that fetching refuted would join them.
    Refuted,
    /// No rule is known that would.
    NoRule,
}

/// URLs of one key.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupReport {
    /// The canonical URL of most of them.
    pub canonical: String,
    /// The title of a page that they show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Box<str>>,
    /// How many.
    pub size: u64,
    /// Sizes of all but the first that was met.
    pub saved_bytes: u64,
    /// Known pages among them: more than one if they are merged wrongly.
    pub pages: u64,
    /// The first of them.
    pub urls: Vec<String>,
    /// The rules that join them.
    pub rules: Vec<usize>,
}

/// Makes the tree of a site from its URLs and rules: at most so many nodes, parents before children.
pub type TreeOf = fn(&Corpus, &Normalizer, usize) -> Vec<TreeNode>;

/// A node of the pattern tree.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TreeNode {
    /// Its parent's index in the list; `None` for the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<usize>,
    /// The part of the URL in which it differs from its siblings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What it holds there; `None` where the part is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// URLs, by safe form.
    pub urls: u64,
    /// Those whose page is known.
    pub labelled: u64,
    /// Their pages.
    pub pages: u64,
    /// Distinct keys of all its URLs.
    pub keys: u64,
    /// One of the URLs.
    pub example: String,
    /// Nodes below it that are not in the list.
    #[serde(skip_serializing_if = "is_zero")]
    pub more: u64,
}

/// Which parameters matter in which sections of a site.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ParamMap {
    /// First path segments, those of most URLs first; the last stands for all others if `has_others`.
    pub sections: Vec<String>,
    /// Whether the last section stands for all others.
    pub has_others: bool,
    /// Parameters, those of most URLs first.
    pub params: Vec<String>,
    /// Where URLs have a parameter.
    pub cells: Vec<ParamCell>,
    /// Parameters that are not in the list.
    pub more_params: u64,
}

/// A parameter in a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ParamCell {
    /// Its index among the parameters.
    pub param: u32,
    /// The section's index.
    pub section: u32,
    /// URLs that have it.
    pub urls: u64,
    /// Those of them whose key is the same without it.
    pub ignored: u64,
    /// Pairs of URLs that differ in it alone and show the same page.
    pub same: u64,
    /// Those that show different pages.
    pub different: u64,
}

/// The URLs of a crawl in the order in which they were met, for the normalizer in the page.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UrlTable {
    /// How many.
    pub count: u64,
    /// URLs that are not in it, since no rule changes them and no other URL has their key.
    pub left_out: u64,
    /// Whether sizes are in it.
    pub has_sizes: bool,
    /// Columns of bytes, deflated, in base 64. See `url_table.rs`.
    pub bytes: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
