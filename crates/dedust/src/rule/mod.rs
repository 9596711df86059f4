/*!
The language of rules: a [`Rule`] says what must be true of a URL and what is then changed, [`Evidence`] why to trust it, and a
[`RuleSet`] has the rules of all sites, checked.
*/

mod any_value;
mod atom;
mod check;
mod decide;
mod decision;
mod definition;
mod evidence;
mod facts;
mod file;
mod keep;
mod limits;
mod lint;
mod merge;
mod mirror;
mod never_made;
mod refused;
mod rule_index;
mod sentence;
mod set;
mod site_entry;
mod spelling;
mod unique_keys;
pub(crate) mod value_class;
mod verdict;

pub use any_value::AnyValue;
pub use atom::Atom;
pub use check::InvalidRule;
pub use decide::{DecideError, Decided, DecidedRules, DecisionVerb};
pub use decision::{Decision, RuleId};
pub use definition::{
    Area, Change, Closed, Count, Mapped, PathPart, Replace, Rule, Source, Spelling, Spot, Test,
};
pub use evidence::{CanonicalCounts, Evidence, Example, Promise, Trust};
pub use facts::{Facts, Failure, Loss, NewValues, Put, Taken, WaitsFor, Written};
pub(crate) use file::each_site;
pub use file::{FORMAT_VERSION, LoadRulesError};
pub use keep::{Displaced, Kept};
pub use limits::{DEFAULT_RULES_MEMORY, MAX_OPTIONS_BYTES};
pub(crate) use limits::{DOMAIN_MEMORY, MAX_EXCEPTION_BYTES, MIRROR_MEMORY};
pub use lint::{Problem, lint};
pub use merge::{DecidedTwice, MergeConflict, Merged, Prefer};
pub use mirror::Mirror;
pub use never_made::without_never_made;
pub use refused::{Fetched, RefusedRule};
pub use rule_index::RuleIndex;
pub use set::{InvalidSite, OrderedRules, RuleSet, SiteRules, SiteSummary};
pub use site_entry::{SiteEntry, Standing};
pub(crate) use spelling::Composer;
pub(crate) use unique_keys::unique_keys;
pub use value_class::ValueClass;
pub use verdict::{CanonicalVerdict, Outcome, Verdict};
