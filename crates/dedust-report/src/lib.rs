/*!
What rules make of a crawl, for people to look at: rules and observations in, data and one web page out.

1. A [`ReportBuilder`] takes the observations of a crawl and becomes [`ReportData`]: totals, what each rule saves and risks,
   which duplicates are left and why, the tree of each site if its maker is given, and which parameters matter where.
   [`ReportData::of_rules`] does without a crawl.
2. [`page::static_page`] makes a file of it that opens from disk; [`page::live_assets`] are the same page for a server, which
   answers `/v1/report` with the data as JSON.

What commands that look at groups of URLs share is here too: [`UrlStore`] finds the groups of a crawl, [`JoiningRules`] says which
rules bring URLs together, and [`rule_state`] tells the state of a rule in a word.

Reads no files and prints nothing.

# Versions and features

Rust 1.90, the [promise of `dedust`](dedust#versions-and-features), and no features. The page and its data are made for each other: both may change in any release.
*/

mod collect;
mod curve;
mod data;
mod joining;
mod learning;
pub mod page;
mod params;
mod remaining;
mod rows;
pub mod rule_state;
mod site;
mod site_facts;
mod url_store;
mod url_table;

pub use collect::{ReportBuilder, ReportSettings};
pub use data::{
    CrawlFigures, CurvePoint, EvidenceReport, Figures, GroupReport, LearningPoint, ParamCell, ParamMap,
    RefusedReport, Remaining, RemainingReason, ReportData, RuleCounts, RuleReport, SiteDetail, SiteRow,
    TreeNode, TreeOf, UrlTable, VisitPoint,
};
pub use joining::{JoiningRules, RuleRef};
pub use url_store::{Group, GroupCanonical, Groups, NotKept, Totals, UrlStore};
