/*!
A host's URLs in, split into patterns whose URLs bring as much new text as each other out.

Each node is split by the test that explains best how much new text its URLs bring, as long as the split is worth its description
(minimum description length): the test must be named, among the parts of URLs and the values of its part, and so must the mean of the
new pattern. What counts is the square root of the number of new lines, whose chance variation does not depend on how many they are: so
one huge page does not decide. Reads no text.
*/

use foldhash::{HashMap, HashMapExt as _};

/// A test and whether it is passed.
pub(crate) type Step = (u32, bool);

/// A pattern: what its URLs have in common.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    pub(crate) path: Vec<Step>,
    pub(crate) rows: Vec<u32>,
    /// Directories and parameters that all its rows have, beyond what the path says: what lacks one of them is another kind of URL.
    pub(crate) common: Vec<u32>,
}

impl Leaf {
    /// Whether a row that leads here has what all others have.
    pub(crate) fn contains(&self, tests: &[u32]) -> bool {
        self.common.iter().all(|test| tests.binary_search(test).is_ok())
    }

    /// Finds what all rows have in common, of tests for which `is_place` holds. The pattern of a whole host needs nothing more.
    fn find_common(&mut self, tests: &[Box<[u32]>], is_place: &[bool]) {
        let Some((first, others)) = self.rows.split_first().filter(|_| !self.path.is_empty()) else { return };
        let mut common: Vec<u32> = tests[*first as usize].to_vec();
        common.retain(|test| is_place[*test as usize] && !self.path.contains(&(*test, true)));
        for row in others {
            common.retain(|test| tests[*row as usize].binary_search(test).is_ok());
        }
        self.common = common;
    }

    /// Whether its URLs have more in common than that they are none of others: what was seen of some of them then says something of the
    /// next.
    pub(crate) fn is_alike(&self) -> bool {
        self.path.is_empty() || !self.common.is_empty() || self.path.iter().any(|(_, is_passed)| *is_passed)
    }
}

/// Tests that a pattern has at most: also a bound for the time that hostile URLs can take.
const MAX_STEPS: usize = 48;

/// The variance of the square root of a count whose events are independent of each other (Poisson), whatever its mean.
const COUNT_VARIANCE: f64 = 0.25;

/// The patterns of a host.
pub(crate) struct Tree {
    nodes: Vec<Node>,
    pub(crate) leaves: Vec<Leaf>,
}

enum Node {
    Leaf(u32),
    Split { test: u32, with: u32, without: u32 },
}

impl Tree {
    /// The leaf of a row, which need not be one of those that were split.
    pub(crate) fn leaf_of(&self, tests: &[u32]) -> usize {
        let mut at = 0;
        loop {
            match self.nodes[at] {
                Node::Leaf(leaf) => return leaf as usize,
                Node::Split { test, with, without } => {
                    let is_passed = tests.binary_search(&test).is_ok();
                    at = if is_passed { with } else { without } as usize;
                }
            }
        }
    }
}

/// Splits rows, of which `amounts` says how much new text they bring and `tests` which tests they pass, by index. `part_of` has the part
/// of each test, and `is_place` whether that is a directory or a parameter.
pub(crate) fn grow(
    chosen: Vec<u32>,
    tests: &[Box<[u32]>],
    amounts: &[f64],
    part_of: &[u32],
    is_place: &[bool],
    min_rows: usize,
) -> Tree {
    let mut tree = Tree { nodes: vec![Node::Leaf(0)], leaves: Vec::new() };
    let mut open = vec![(0, Leaf { path: Vec::new(), rows: chosen, common: Vec::new() })];
    let mut sums = vec![Sums::default(); part_of.len()];
    while let Some((node, mut leaf)) = open.pop() {
        let split = match leaf.path.len() < MAX_STEPS && leaf.rows.len() >= 2 * min_rows {
            true => best_test(tests, amounts, part_of, &leaf.rows, min_rows, &mut sums),
            false => None,
        };
        let split = split.or_else(|| {
            leaf.find_common(tests, is_place);
            let is_mixed = leaf.path.len() < MAX_STEPS && !leaf.is_alike();
            is_mixed.then(|| most_common_place(tests, is_place, &leaf.rows, min_rows)).flatten()
        });
        let Some(test) = split else {
            tree.nodes[node] = Node::Leaf(tree.leaves.len() as u32);
            tree.leaves.push(leaf);
            continue;
        };
        let passes = |row: &u32| tests[*row as usize].binary_search(&test).is_ok();
        let (with, without): (Vec<u32>, Vec<u32>) = leaf.rows.iter().partition(|row| passes(row));
        let next = tree.nodes.len();
        tree.nodes[node] = Node::Split { test, with: next as u32, without: next as u32 + 1 };
        for (at, is_passed, rows) in [(next, true, with), (next + 1, false, without)] {
            tree.nodes.push(Node::Leaf(0));
            let mut path = leaf.path.clone();
            path.push((test, is_passed));
            open.push((at, Leaf { path, rows, common: Vec::new() }));
        }
    }
    tree
}

/// The directory or parameter that most rows have, of those that have nothing in common.
fn most_common_place(
    tests: &[Box<[u32]>],
    is_place: &[bool],
    of_node: &[u32],
    min_rows: usize,
) -> Option<u32> {
    let mut counts: HashMap<u32, usize> = HashMap::new();
    for test in of_node.iter().flat_map(|row| &tests[*row as usize]).filter(|test| is_place[**test as usize])
    {
        *counts.entry(*test).or_default() += 1;
    }
    let enough = counts.into_iter().filter(|(_, count)| *count >= min_rows && *count < of_node.len());
    enough.max_by_key(|(test, count)| (*count, std::cmp::Reverse(*test))).map(|(test, _)| test)
}

#[derive(Clone, Copy, Default)]
struct Sums {
    count: u32,
    sum: f64,
    squares: f64,
}

impl Sums {
    fn add(&mut self, amount: f64) {
        self.count += 1;
        self.sum += amount;
        self.squares += amount * amount;
    }

    fn without(&self, other: &Sums) -> Sums {
        Sums {
            count: self.count - other.count,
            sum: self.sum - other.sum,
            squares: self.squares - other.squares,
        }
    }

    /// The length of a description of the amounts by a normal distribution, up to a constant for each row.
    fn length(&self) -> f64 {
        let count = f64::from(self.count);
        let variance = (self.squares / count - (self.sum / count).powi(2)).max(0.0);
        0.5 * count * (variance + COUNT_VARIANCE).ln()
    }
}

fn best_test(
    tests: &[Box<[u32]>],
    amounts: &[f64],
    part_of: &[u32],
    of_node: &[u32],
    min_rows: usize,
    sums: &mut [Sums],
) -> Option<u32> {
    let mut all = Sums::default();
    let mut met = Vec::new();
    for &row in of_node {
        let amount = amounts[row as usize];
        all.add(amount);
        for &test in &tests[row as usize] {
            let sums = &mut sums[test as usize];
            if sums.count == 0 {
                met.push(test);
            }
            sums.add(amount);
        }
    }
    let is_candidate = |sums: &Sums| {
        let count = sums.count as usize;
        count >= min_rows && count + min_rows <= of_node.len()
    };
    let mut values_of_part: HashMap<u32, u32> = HashMap::new();
    for &test in met.iter().filter(|test| is_candidate(&sums[**test as usize])) {
        *values_of_part.entry(part_of[test as usize]).or_default() += 1;
    }
    let naming = (values_of_part.len().max(1) as f64).ln() + (of_node.len() as f64).ln();
    let length = all.length();
    let mut best: Option<(f64, u32)> = None;
    met.sort_unstable();
    for &test in &met {
        let with = sums[test as usize];
        sums[test as usize] = Sums::default();
        if !is_candidate(&with) {
            continue;
        }
        let values = values_of_part.get(&part_of[test as usize]).map_or(1.0, |values| f64::from(*values));
        let gain = length - with.length() - all.without(&with).length() - naming - values.ln();
        if gain > best.map_or(0.0, |(best, _)| best) {
            best = Some((gain, test));
        }
    }
    best.map(|(_, test)| test)
}
