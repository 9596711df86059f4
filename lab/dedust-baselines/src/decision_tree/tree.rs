/*!
A decision tree over URLs: where does a transformation lead to the same page?
*/

use std::cmp::Ordering;

use dedust_learn::support::InternedRows as _;
use foldhash::HashMap;

use super::DecisionTreeOptions;
use super::pairwise::ExampleUrl;
use super::site::{Entry, Site, SpotNumber};

/// Information that the answers to a question must give about all URLs together, in bits: less is chance.
const MIN_BITS: f64 = 5.0;

/// A question about a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Test {
    /// Whether it has a value at this spot.
    Has(SpotNumber),
    /// Whether it has this value at this spot.
    Is(SpotNumber, u32),
}

/// The questions on the way to a leaf, with their answers.
pub(super) type Path = Vec<(Test, bool)>;

/// The paths to the leaves where most answers are yes. A question must apply to `min_support` URLs.
pub(super) fn positive_leaves(
    site: &Site<'_>,
    examples: &[ExampleUrl],
    min_support: usize,
    options: &DecisionTreeOptions,
) -> Vec<Path> {
    let mut leaves = Vec::new();
    let mut open: Vec<(Path, Vec<ExampleUrl>)> = vec![(Path::new(), examples.to_vec())];
    while let Some((path, examples)) = open.pop() {
        let positives = examples.iter().filter(|(_, answer)| *answer).count();
        let purity = positives as f64 / examples.len().max(1) as f64;
        let is_leaf = positives == 0
            || purity >= 1.0 - options.max_false_pair_rate
            || examples.len() < options.min_urls
            || path.len() >= options.max_depth;
        match best_test(site, &examples, positives, min_support).filter(|_| !is_leaf) {
            Some(test) => {
                let (yes, no): (Vec<ExampleUrl>, Vec<ExampleUrl>) =
                    examples.into_iter().partition(|&(row, _)| test.holds(site, row));
                for (side, answer) in [(no, false), (yes, true)] {
                    let mut path = path.clone();
                    path.push((test, answer));
                    open.push((path, side));
                }
            }
            None if purity > 0.5 => leaves.push(path),
            None => {}
        }
    }
    leaves
}

impl Test {
    pub(super) fn holds(self, site: &Site<'_>, row: u32) -> bool {
        let corpus = site.corpus;
        let (spot, wanted) = match self {
            Self::Has(spot) => (spot, None),
            Self::Is(spot, value) => (spot, Some(value)),
        };
        let pairs = corpus.pairs(row);
        let key_at = |pair: u32| match spot {
            SpotNumber::Key(_) => Some(SpotNumber::Key(corpus.pair_key(pair))),
            SpotNumber::FromEnd(_) => {
                let is_segment = |&&pair: &&u32| site.segment(corpus.pair_key(pair)).is_some();
                let depth = pairs.iter().filter(is_segment).count() as u16;
                site.segment(corpus.pair_key(pair)).map(|index| SpotNumber::FromEnd(depth - 1 - index))
            }
        };
        pairs.iter().any(|&pair| {
            key_at(pair) == Some(spot) && wanted.is_none_or(|value| value == corpus.pair_value(pair))
        })
    }
}

/// The question with the largest information gain, if any tells something. Of equals, that to which the answer of most
/// positive URLs is yes: a rule should say where it holds, not where it does not.
fn best_test(site: &Site<'_>, examples: &[ExampleUrl], positives: usize, min_support: usize) -> Option<Test> {
    let mut counts: HashMap<Test, (usize, usize)> = HashMap::default();
    let mut view: Vec<Entry> = Vec::new();
    for &(row, answer) in examples {
        site.view(row, true, &mut view);
        for entry in &view {
            let mut count = |test| {
                let (yes, all) = counts.entry(test).or_default();
                *yes += usize::from(answer);
                *all += 1;
            };
            for spot in [SpotNumber::Key(entry.key), entry.spot] {
                count(Test::Has(spot));
                count(Test::Is(spot, entry.value));
                if spot == entry.spot && spot == SpotNumber::Key(entry.key) {
                    break;
                }
            }
        }
    }
    let whole = entropy(positives, examples.len());
    let gain = |yes: usize, all: usize| {
        let (rest_yes, rest) = (positives - yes, examples.len() - all);
        let share = all as f64 / examples.len() as f64;
        whole - share * entropy(yes, all) - (1.0 - share) * entropy(rest_yes, rest)
    };
    counts
        .into_iter()
        .filter(|&(_, (_, all))| all >= min_support && all < examples.len())
        .map(|(test, (yes, all))| (gain(yes, all), yes as f64 / all as f64, test))
        .filter(|(gain, ..)| gain * examples.len() as f64 >= MIN_BITS)
        .max_by(|a, b| {
            let is_equal = (a.0 - b.0).abs() < 1e-9;
            let by_gain = if is_equal { Ordering::Equal } else { a.0.total_cmp(&b.0) };
            by_gain.then(a.1.total_cmp(&b.1)).then(b.2.cmp(&a.2))
        })
        .map(|(.., test)| test)
}

/// H = -p log2 p - (1 - p) log2 (1 - p), p = share of yes.
fn entropy(yes: usize, all: usize) -> f64 {
    if yes == 0 || yes == all {
        return 0.0;
    }
    let p = yes as f64 / all as f64;
    -p * p.log2() - (1.0 - p) * (1.0 - p).log2()
}
