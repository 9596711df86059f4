/*!
Puts learned rules to the test: rules and URLs in; pages are fetched and compared; verdicts and rules out.

1. A [`Validator`] takes rules and [`Options`], and a list of URLs, one after the other.
2. [`Validator::run`] draws pairs of URLs that each rule brings together, and has their pages fetched by a
   [`Fetcher`](dedust_fetch::Fetcher) and compared, several sites at a time; then canonical URLs, to see whether they are alive.
3. The [`Validation`] has a [`Finding`] for each rule, and the rules with these verdicts.

```
use std::time::Duration;

use dedust::rules::Outcome;
use dedust::{ParsedUrl, RuleSet};
use dedust_fetch::Fetcher;
use dedust_test_server::{Reply, Server, document};
use dedust_validate::{KnownPairs, Options, Validator};

// A site whose pages depend on `id` alone.
let server = Server::start(|target| match target.split(['=', '&']).nth(1) {
    Some(id) => Reply::html(document(id.parse().unwrap_or_default(), 1)),
    None => Reply::status(404),
});
let rules = RuleSet::load(&br#"{"version": 1, "sites": {"127.0.0.1": {"rules": [
    {"change": [{"drop": "q.sid"}]},
    {"change": [{"drop": "q.id"}]}
]}}}"#[..])?;

let mut validator = Validator::new(&rules, Options::default())?;
for id in 0..50 {
    for sid in 0..3 {
        validator.observe(&ParsedUrl::parse(server.url(&format!("/view?id={id}&sid={sid}")))?);
    }
}
let fetcher = Fetcher::builder().allow_host("127.0.0.1".parse()?).delay(Duration::ZERO).build();
let validation = validator.run(&fetcher, &KnownPairs::default(), &())?;
let outcomes: Vec<Outcome> = validation.findings.iter().map(|finding| finding.outcome).collect();
assert_eq!(outcomes, [Outcome::Confirmed, Outcome::Refuted]);
let site = validation.rules.site("127.0.0.1").ok_or("no rules")?;
assert_eq!(site.applied().count(), 1);
# Ok::<(), Box<dyn std::error::Error>>(())
```

With [`KnownPairs`] in a file, a run that was interrupted goes on where it stopped. Prints nothing: whoever waits is told by
[`Progress`] how far it has come. How pages are fetched and compared is up to `dedust-fetch`, and what proves a rule to `dedust-learn`.

# Versions and features

Rust 1.90, semantic versions, and no features.
*/

mod canonical;
mod finding;
mod joined;
mod known_pairs;
mod pair;
mod progress;
mod sample;
mod survey;
mod trial;
mod unproven;
mod validator;
mod verdicts;
mod visits;

pub use finding::{Finding, Obstacle, Settled};
pub use known_pairs::KnownPairs;
pub use pair::{Pair, Target};
pub use progress::Progress;
pub use trial::{CanonicalTrial, Limits, Trial};
pub use validator::{Options, Validation, Validator};

/// Every error of this crate.
pub mod errors {
    pub use crate::known_pairs::StateError;
    pub use crate::validator::ValidateError;
}
