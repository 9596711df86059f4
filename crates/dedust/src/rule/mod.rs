/*!
The language of rules: an [`Edit`] says what must be true of a URL and what is then changed, [`Evidence`] why to trust it, and a
[`RuleSet`] has the edits of all sites, checked.
*/

mod atom;
mod check;
mod closed;
mod cycle;
mod decide;
mod decision;
mod edit;
mod edit_index;
mod evidence;
mod file;
mod keep;
mod limits;
mod lint;
mod merge;
mod mirror;
mod never_made;
mod pattern;
mod readers;
mod refused;
mod rewrite;
mod sentence;
mod set;
mod spelling;
mod unique_keys;
pub(crate) mod value_class;
mod verdict;

pub use atom::Atom;
pub use check::InvalidEdit;
pub use closed::{OtherParams, Rule};
pub(crate) use cycle::feeds;
pub use cycle::find_cycle;
pub use decide::{DecideError, Decided, DecidedEdits, DecisionVerb};
pub use decision::{Decision, EditId};
pub use edit::{Area, Change, Closed, Count, Edit, PathPart, Replace, Source, Spelling, Spot, Test};
pub use edit_index::EditIndex;
pub use evidence::{Evidence, Example, Promise, Trust};
pub(crate) use file::each_site;
pub use file::{FORMAT_VERSION, LoadRulesError};
pub use keep::{Displaced, Kept, place_edit};
pub use limits::{DEFAULT_RULES_MEMORY, MAX_OPTIONS_BYTES};
pub(crate) use limits::{DOMAIN_MEMORY, MAX_EXCEPTION_BYTES, MIRROR_MEMORY};
pub use lint::{Problem, lint};
pub use merge::{DecidedTwice, MergeConflict, Merged, Prefer};
pub use mirror::Mirror;
pub use never_made::without_never_made;
pub use pattern::{AnyValue, Pattern, ValuePattern};
pub(crate) use readers::Readers;
pub use refused::{Fetched, RefusedEdit};
pub use rewrite::{Mapped, Op, Rewrite};
pub use set::{InvalidSite, RuleSet, SiteRules, SiteSummary};
pub(crate) use spelling::Composer;
pub(crate) use unique_keys::unique_keys;
pub use value_class::ValueClass;
pub(crate) use value_class::is_slug;
pub use verdict::{Outcome, Verdict};
