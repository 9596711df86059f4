/*!
Fan-out rewrite rules: pairs of duplicates in, rules that widen key by key out.

A rule has a *context* (a value or a wildcard for every key of a URL) and a *transformation* (for every key of the
result a literal, the value of a key, or a wildcard; all other keys are deleted). Rules start as specific as a pair
of URLs and are widened where they differ in one single key.

1. [`irrelevant`]: duplicates that agree on all keys but one show that the key means nothing. What comes out is
   compared again in the same way, so that two such keys are found if the pairs between them are complete.
2. [`pairs`]: every other duplicate of a page gives a rule that leads to the page's target URL.
3. [`widen`]: rules of one transformation that differ in one key become one, if that key shows `fanout` values.
4. [`prove`]: the share of false pairs, over all labelled URLs.
5. [`select`]: one rule per context, none inside another, no circles. [`write`]: numbers to rules.

After Dasgupta, Kumar and Sasturkar, KDD 2008, of which only the abstract and the description in the WWW 2010 paper
(with its Figure 3) were at hand: "fan-out style", not the authors' program. We read it as follows.

- `fanout` is the number of distinct values that a wildcard needs as evidence. A rule without any such wildcard is
  not emitted: it would be a table of single URLs. So a rule that writes constants only, too, needs `fanout` sources.
- The target of a page is the URL with the fewest keys, then the most common pairs, then the shortest.
- Irrelevant keys are found, proven and selected first. Pairs are then compared without them, and a rule into a form
  that has irrelevant keys writes `*` there. Otherwise a random value of the target would have to be a literal, and
  nothing could be widened. Such a rule comes with the rule that forgets the same keys of URLs already in that form.
- A rule whose results another rule covers is joined with it, because rules are applied once.

Two keys that are random at once leave no pair that differs in one key: nothing is found. That is the weakness which
the pattern tree was made to mend.
*/

mod context_index;
mod irrelevant;
mod pairs;
pub(crate) mod proof;
mod prove;
mod select;
mod table;
#[cfg(test)]
mod tests;
mod widen;
mod write;

use dedust_learn::Corpus;
use dedust_learn::support::Learned;

use crate::closed_rule::learned;
use prove::Prover;
use select::Candidate;
use table::{Table, Transformations};

/// How to learn fan-out rules.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FanoutOptions {
    /// Distinct values that a key must show before it becomes a wildcard. Default: 5.
    pub fanout: usize,
    /// Rules with a larger share of false pairs are dropped. Default: 0.05.
    pub max_false_pair_rate: f64,
    /// Duplicates of one page that are compared with its target, at most. Default: 50.
    pub max_sources_per_page: usize,
}

impl Default for FanoutOptions {
    fn default() -> Self {
        Self { fanout: 5, max_false_pair_rate: 0.05, max_sources_per_page: 50 }
    }
}

/// Learns fan-out rules for one site.
pub fn learn_fanout(corpus: &Corpus, options: &FanoutOptions) -> Learned {
    let table = Table::new(corpus);
    let mut transformations = Transformations::default();
    let pages = table.pages();

    let found = irrelevant::find(&table, &pages, options.fanout, &mut transformations);
    let forgetting = widen::widen(&table, found, options.fanout);
    let mut raw_rules = forgetting.len();
    let mut prover = Prover::new(&table);
    let proven =
        |prover: &mut Prover<'_, '_>, transformations: &Transformations, rules: Vec<table::WideRule>| {
            let matches = prover.matches(&rules);
            let candidates = rules.into_iter().zip(matches).map(|(rule, rows)| {
                let counts = prover.count(&rows, transformations.get(rule.transformation), rule.shape);
                Candidate { covered: rows.len(), counts, rule }
            });
            let holds = |candidate: &Candidate| {
                candidate.counts.support > 0 && candidate.counts.fpr() <= options.max_false_pair_rate
            };
            candidates.filter(holds).collect::<Vec<Candidate>>()
        };
    let forgetting = proven(&mut prover, &transformations, forgetting);
    let mut qualified_rules = forgetting.len();
    let forgetting = select::outermost(forgetting);
    prover.project(&forgetting, &transformations);

    let compared = pairs::find(&prover, &pages, options.max_sources_per_page, &mut transformations);
    let moving = widen::widen(&table, compared, options.fanout);
    raw_rules += moving.len();
    let moving = proven(&mut prover, &transformations, moving);
    qualified_rules += moving.len();

    let all = forgetting.iter().cloned().chain(moving).collect();
    let selected = select::without_circles(&table, &transformations, select::outermost(all));
    let joined = select::joined(&table, &mut transformations, selected);
    let rules = write::rules(&table, &mut prover, &transformations, joined, options.max_false_pair_rate);
    Learned { raw_rules, qualified_rules, ..learned(&rules) }
}
