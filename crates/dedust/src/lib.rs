/*!
Applies learned rules to URLs: every URL of a page in, one canonical URL or key out.

A crawler needs what is at the root of this crate:

- [`Normalizer`] compiles rules and applies them, one pass per URL, in the buffers of a [`Scratch`]. It gives a
  [`CanonicalUrl`], to fetch, or a [`UrlKey`], to compare, and says by an [`Explanation`] which rule did what. [`ExplainedUrl`]
  adds what the rule file says of these rules.
- [`RuleSet`] holds checked rules by site; it is loaded from and saved to a JSON rule file. [`is_compiled`] tells such a file
  from one of compiled rules, and [`LeftOut`] names a site whose rules are too large to be compiled.
- [`ParsedUrl`] reads bytes and normalizes them safely: nothing that could change which page is meant. [`site_of`] is the
  registrable domain of a host, within which rules hold.
- [`errors`] has every error.

What rules are made of is in [`rules`]; crawlers that load rule files do not need it.

```
use dedust::{Normalizer, RuleSet};

let rules = RuleSet::load(&br#"{"version": 1, "sites": {"example.org": {"rules": [
    {"when": {"path_0": {"is": "view"}}, "change": [{"drop": "q.sid"}], "fetchable": true}
]}}}"#[..])?;
let normalizer = Normalizer::compile(&rules);
assert_eq!(normalizer.normalize("http://example.org/view?sid=9&id=1")?, "http://example.org/view?id=1");
assert_eq!(normalizer.normalize("http://example.org/other?sid=9")?, "http://example.org/other?sid=9");
# Ok::<(), Box<dyn std::error::Error>>(())
```

This crate starts no threads, uses no randomness and reads no crawl formats.

# Versions and features

Needs Rust 1.90. Versions are semantic: of 0.1, no release breaks a caller, or refuses a rule file that an earlier one wrote. What needs a newer
Rust is 0.2, as is another format of compiled rules, which are made again from the rule file. The hidden module `support` is excluded: it is for the
learners of this project, and any release may change it. So crates that use it ask for one version, `=0.1.0`.

There are no features.
*/

mod compiled;
mod delimiters;
mod encoding;
mod explained_url;
mod identity_key;
mod interner;
mod normalizer;
mod program;
mod rule;
mod text_buffer;
mod url;
mod with_causes;

pub use compiled::{LeftOut, LeftOutReason, holds_compiled, is_compiled};
pub use explained_url::ExplainedUrl;
pub use normalizer::{Both, CanonicalUrl, Explanation, Normalizer, Scratch, UrlKey};
pub use rule::RuleSet;
pub use url::{ParsedUrl, site_of};

/// The language of rules: what a rule file says, as types.
///
/// - [`tokenize`](rules::tokenize) shows a URL as pairs of a [`UrlPart`](rules::UrlPart) and a [`Value`](rules::Value),
///   of which rules speak.
/// - A [`Rule`](rules::Rule) makes a [`Change`](rules::Change) to some parts of a URL where its [`Test`](rules::Test)s hold,
///   and leaves the rest alone. Its [`Evidence`](rules::Evidence) says why it is trusted.
/// - [`SiteRules`](rules::SiteRules) has the rules of one site, or says that it is a [`Mirror`](rules::Mirror); a [`RuleSet`] has all
///   sites.
///
/// The enums of which rules are made may get variants as the language grows; the parts of a URL ([`UrlPart`](rules::UrlPart),
/// [`Spot`](rules::Spot), [`Value`](rules::Value)) are complete.
///
/// ```
/// use dedust::ParsedUrl;
/// use dedust::rules::{UrlPart, Value, tokenize};
///
/// let url = ParsedUrl::parse("http://example.org/view?id=1")?;
/// let tokens = tokenize(&url, "example.org").ok_or("rules cannot speak of it")?;
/// let key: UrlPart = "q.id".parse()?;
/// assert_eq!(tokens.last(), Some(&(key, Value::Text("1".into()))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub mod rules {
    pub use crate::rule::{
        AnyValue, Area, Atom, CanonicalCounts, CanonicalVerdict, Change, Closed, Count, DEFAULT_RULES_MEMORY,
        Decided, DecidedRules, DecidedTwice, Decision, DecisionVerb, Displaced, Evidence, Example,
        FORMAT_VERSION, Fetched, Kept, MAX_OPTIONS_BYTES, Mapped, MergeConflict, Merged, Mirror,
        OrderedRules, Outcome, PathPart, Prefer, Problem, Promise, RefusedRule, Replace, Rule, RuleId,
        SiteEntry, SiteRules, SiteSummary, Source, Spelling, Spot, Standing, Test, Trust, ValueClass,
        Verdict, lint,
    };
    pub use crate::url::{ParamName, UrlPart, Value, tokenize};
}

/// What learners need of this crate: the parts of URLs without copies, and rules made one by one.
///
/// Not stable: any release may change it.
#[doc(hidden)]
pub mod support {
    pub use crate::interner::Interner;
    pub use crate::program::rules::{RuleList, UrlParts};
    pub use crate::rule::{
        Facts, Failure, Loss, NewValues, Put, RuleIndex, Taken, WaitsFor, Written, without_never_made,
    };
    pub use crate::url::{
        Outline, Query, RawKey, RawValue, Segments, Separators, Span, Spans, extension, first_segment,
        has_subdomains, visit_tokens, write_moved,
    };
}

/// The code of the README, kept true.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Every error of this crate.
pub mod errors {
    pub use crate::compiled::{DamagedRules, OpenRulesError};
    pub use crate::rule::{DecideError, InvalidRule, InvalidSite, LoadRulesError};
    pub use crate::url::{ParseUrlError, UnknownKey};
    pub use crate::with_causes::with_causes;
}
