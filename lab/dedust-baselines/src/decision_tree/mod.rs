/*!
Decision-tree rules: frequent transformations of URLs, each with a context learned by a decision tree.

A transformation is a set of rules: a key is deleted, or set to a literal, to the value of another key, or to text put
together from parts of values; all other keys stay. Because it names only what changes, it can hold on a whole site,
and what is left to learn is where it holds.

1. [`deep_tokens`]: which delimiters divide the values of each key.
2. [`transformation`]: what leads from one URL to another, with path segments counted from either end.
3. [`pairwise`]: the target of each page, and the transformations that many pages share.
4. [`tree`]: for each of them, a decision tree over the URLs it works on: where does it lead to the same page?
5. [`leaf_rules`]: leaves to rules, proven on all labelled URLs. [`select`]: one rule per pattern, none inside another,
   no circles.

After Koppula et al., WSDM 2010 (and its short form, Agarwal et al., CIKM 2009), of which abstracts and patents were at
hand: "decision-tree style", not the authors' program. We read it as follows.

- A delimiter is accepted when 70 % of the distinct values of a key have it and 90 % of those split into equally many
  pieces. Counting values and not URLs keeps a form with one busy value (`showthread.php`) from hiding the others.
  Instead of splitting pieces again, a value may be addressed by several delimiters at once.
- Of the two ways to align path segments, from the start and from the end, the one with fewer rules is taken.
- The target of a page is a URL without a query before one with a query, then the shortest, then the one with the most
  common pairs. Redirects and in-links, which the patents name as well, are not part of a [`Corpus`].
- A transformation is frequent with 10 pages; on small sites with a hundredth of the pages that have duplicates, at
  least 3. As many URLs must speak for a rule, and for a test in the tree: without that, leaves name single pages.
- URLs count against a transformation when its result belongs to another page, or collides with that of another page;
  and a sample of the URLs that are a target or led to theirs by another transformation, half as many as speak for
  it. Tests that could be chance are not made, and a rule must bring a tenth of its URLs together with another.
*/

mod deep_tokens;
mod leaf_rules;
mod pairwise;
mod select;
mod site;
#[cfg(test)]
mod tests;
mod transformation;
mod tree;

use dedust_learn::Corpus;
use dedust_learn::support::{Learned, PairCounter};

use crate::closed_rule::learned;
use site::Site;

/// Share of the URLs of a rule that must meet another URL. A rule whose results are hardly ever seen leads nowhere.
const MIN_JOINED: f64 = 0.1;

/// How to learn decision-tree rules.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DecisionTreeOptions {
    /// Rules with a larger share of false pairs are dropped, and leaves as pure as this leaves are not divided
    /// further. Default: 0.1.
    pub max_false_pair_rate: f64,
    /// Duplicates of one page that are compared with its target, at most. Default: 20.
    pub max_sources_per_page: usize,
    /// Tests on the way to a leaf, at most. Default: 6.
    pub max_depth: usize,
    /// A node with fewer URLs is a leaf. Default: 10.
    pub min_urls: usize,
}

impl Default for DecisionTreeOptions {
    fn default() -> Self {
        Self { max_false_pair_rate: 0.1, max_sources_per_page: 20, max_depth: 6, min_urls: 10 }
    }
}

/// Learns decision-tree rules for one site.
pub fn learn_decision_tree(corpus: &Corpus, options: &DecisionTreeOptions) -> Learned {
    let site = Site::new(corpus);
    let pairwise = pairwise::compare(&site, options.max_sources_per_page);
    let mut counter = PairCounter::default();
    let mut raw_rules = 0;
    let mut qualified = Vec::new();
    for frequent in &pairwise.frequent {
        let examples = pairwise.examples(&site, frequent);
        for path in tree::positive_leaves(&site, &examples, pairwise.min_pages, options) {
            for leaf_rule in leaf_rules::of_leaf(&site, frequent, &path, pairwise.min_pages) {
                raw_rules += 1;
                let merges = leaf_rule.merges(&site);
                let counts = merges.counts(corpus, &mut counter);
                let is_known = merges.joined() as f64 >= MIN_JOINED * merges.sources.len() as f64;
                if is_known && counts.support > 0 && counts.fpr() <= options.max_false_pair_rate {
                    qualified.push(leaf_rule.write(&site, merges.evidence(corpus, &counts)));
                }
            }
        }
    }
    let qualified_rules = qualified.len();
    Learned { raw_rules, qualified_rules, ..learned(&select::select(qualified)) }
}
