/*!
Applies learned rules to URLs: every URL of a page in, one canonical URL or key out.

1. [`ParsedUrl`] reads bytes and normalizes them safely: nothing that could change which page is meant.
2. [`tokenize`] shows a URL as pairs of a [`TokenKey`] and a [`Value`], the language of rules.
3. A [`Rule`] is a [`Pattern`] (which URLs), a [`Rewrite`] (what to make of them) and its [`Evidence`].
4. An [`Edit`] changes some parts of a URL and leaves the rest alone; a site has rules, or edits.
5. A [`RuleSet`] holds checked rules by site; it is loaded from and saved to a JSON rule file.
6. [`Normalizer`] compiles a rule set and applies it, one pass per URL.

```
use dedust::{Normalizer, RuleSet};

let rules = RuleSet::load(&br#"{"version": 1, "method": "by hand", "sites": {"example.org": {"rules": [{
    "pattern": {"scheme": {"is": "http"}, "path_0": {"is": "view"}, "q.id": {"any": {"class": "digits"}},
                "q.sid": {"any": {"class": "text", "optional": true}}},
    "rewrite": {"target": {"scheme": {"keep": "http"}, "path_0": {"keep": "view"}, "q.id": {"copy": "q.id"}}},
    "evidence": {"urls": 9, "support_pairs": 4, "false_pairs": 0, "groups": 4, "failed_groups": 0,
                 "failure_bound": 0.53, "kinds": ["digest"]}
}]}}}"#[..])?;
let normalizer = Normalizer::compile(&rules);
assert_eq!(normalizer.normalize("http://example.org/view?sid=9&id=1")?, "http://example.org/view?id=1");
assert_eq!(normalizer.normalize("http://example.org/other?sid=9")?, "http://example.org/other?sid=9");
# Ok::<(), Box<dyn std::error::Error>>(())
```

This crate starts no threads, uses no randomness and reads no crawl formats.
*/

mod compile;
mod compiled;
mod edit_program;
mod identity_key;
mod marks;
mod normalizer;
mod pattern;
mod program;
mod rule;
mod template;
mod text_buffer;
mod url;
mod url_shape;

pub use compiled::{LeftOut, LeftOutReason, is_compiled};
pub use edit_program::{EditList, UrlParts};
pub use normalizer::{CanonicalUrl, Explanation, Normalizer, Scratch, UrlKey};
pub use pattern::{AnyValue, Pattern, ValueClass, ValuePattern};
pub use rule::{
    Area, Atom, Change, Count, DEFAULT_RULES_MEMORY, Edit, Evidence, Example, FORMAT_VERSION, Fetched,
    MAX_PASSES, Mapped, Mirror, Op, OtherParams, Outcome, Part, PathPart, Promise, RefusedEdit, Rewrite,
    Rule, RuleSet, SiteRules, SiteSummary, Source, Spelling, Spot, Substitution, Test, Trust, Verdict,
    find_cycle,
};
pub use url::{
    ParamName, ParsedUrl, RawKey, RawValue, TokenKey, Value, extension, first_segment, has_subdomains,
    site_of, tokenize, visit_tokens, write_moved,
};

/// Every error of this crate.
pub mod errors {
    pub use crate::compiled::{DamagedRules, OpenRulesError};
    pub use crate::rule::{InvalidRule, InvalidSite, LoadRulesError};
    pub use crate::url::{ParseUrlError, UnknownKey};
}
