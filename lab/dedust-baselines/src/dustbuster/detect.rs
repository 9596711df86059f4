/*!
Phase 1: finds pairs of strings that look interchangeable, from a list of URLs alone.

Takes the tokens of the URLs and their [`Likeness`], gives [`LikelyRule`]s. The naive version:

```text
for every URL and every part of it of up to S tokens: put the part into the bucket of what is before and after it
for every bucket of 2 to T parts, for every two of them whose URLs look alike: count the pair of parts
give the pairs counted at least MS times
```

What is added to it:

- A part is its URL and two numbers; what is around it is one hash. Every URL is in a bucket at most once, since what
  is before and after a part says where it lies: buckets of distinct parts are runs of equal hashes, once sorted.
- There are several hundred parts per URL, so they are made and sorted a share of all hashes at a time.
- Most pairs are seen once or twice. A first sweep counts them in two bits by hash, a second keeps only those
  that may reach MS. Both numbers hold for any input: memory is bounded.
- Around empty and self-overlapping strings, two URLs can be cut in more than one way into the same pair, as
  `/a/a` and `/a/a/a`. Only the leftmost way counts.
*/

use foldhash::HashMap;

use super::Options;
use super::likeness::Likeness;
use super::tokens::{Piece, TokenList};

/// Parts that are sorted at a time, 16 bytes each.
const MAX_PARTS_AT_A_TIME: usize = 8 << 20;
/// Most counters of the first sweep, four to a byte.
const MAX_COUNTERS: usize = 1 << 29;
const MIN_COUNTERS: usize = 1 << 16;

/// Two strings that may be interchangeable. `from` is the longer one, or the later one in the alphabet.
#[derive(Clone, Debug)]
pub(super) struct LikelyRule {
    pub(super) from: Piece,
    pub(super) to: Piece,
    /// Instances in buckets small enough for detection.
    pub(super) support: u32,
    /// Instances in buckets small enough for elimination.
    pub(super) wide_support: u32,
}

/// A part of a URL, known by what is around it.
#[derive(Clone, Copy, Debug)]
struct Part {
    envelope: u64,
    row: u32,
    start: u16,
    len: u16,
}

/// Two parts that fill the same envelope.
#[derive(Clone, Copy)]
struct Instance {
    rule: u64,
    left: Piece,
    right: Piece,
    is_narrow: bool,
}

/// All pairs of strings with at least `options.min_support` instances, in no particular order.
pub(super) fn detect(tokens: &TokenList, likeness: Likeness<'_>, options: &Options) -> Vec<LikelyRule> {
    let mut sweep = Sweep::new(tokens, likeness, options);
    let mut seen = Counters::new(sweep.part_count);
    sweep.run(|instance| {
        if instance.is_narrow {
            seen.count(instance.rule);
        }
    });
    let mut rules: HashMap<u64, LikelyRule> = HashMap::default();
    sweep.run(|Instance { rule, left, right, is_narrow }| {
        if seen.get(rule) >= options.min_support.min(Counters::MAX) {
            let counted = rules.entry(rule).or_insert(LikelyRule {
                from: left,
                to: right,
                support: 0,
                wide_support: 0,
            });
            counted.wide_support += 1;
            counted.support += u32::from(is_narrow);
        }
    });
    let mut rules: Vec<LikelyRule> =
        rules.into_values().filter(|rule| rule.support >= options.min_support).collect();
    rules.iter_mut().for_each(|rule| rule.orient(tokens));
    rules
}

impl LikelyRule {
    fn orient(&mut self, tokens: &TokenList) {
        let text = |piece| {
            let mut text = Vec::new();
            tokens.write(tokens.piece(piece), &mut text);
            (text.len(), text)
        };
        if text(self.from) < text(self.to) {
            std::mem::swap(&mut self.from, &mut self.to);
        }
    }
}

/// Walks over all instances, as often as needed.
struct Sweep<'a> {
    tokens: &'a TokenList,
    likeness: Likeness<'a>,
    options: &'a Options,
    part_count: usize,
    /// Binary logarithm of the number of shares.
    share_bits: u32,
    /// The parts of one share, those of a bucket side by side.
    parts: Vec<Part>,
    /// Whether `parts` are those of the only share.
    is_ready: bool,
}

impl<'a> Sweep<'a> {
    fn new(tokens: &'a TokenList, likeness: Likeness<'a>, options: &'a Options) -> Self {
        let parts_of = |row| {
            let len = tokens.row(row).len();
            let longest = len.min(options.max_substring_tokens);
            // One empty part at each of len + 1 positions, len parts of one token, and so on.
            (longest + 1) * (len + 1) - longest * (longest + 1) / 2
        };
        let part_count = (0..tokens.row_count() as u32).map(parts_of).sum();
        let share_bits =
            usize::div_ceil(part_count, MAX_PARTS_AT_A_TIME).next_power_of_two().trailing_zeros();
        Self { tokens, likeness, options, part_count, share_bits, parts: Vec::new(), is_ready: false }
    }

    fn run(&mut self, mut found: impl FnMut(Instance)) {
        for share in 0..1u64 << self.share_bits {
            if !self.is_ready {
                self.fill(share);
                self.is_ready = self.share_bits == 0;
            }
            for bucket in self.parts.chunk_by(|left, right| left.envelope == right.envelope) {
                self.visit_bucket(bucket, &mut found);
            }
        }
    }

    /// Makes the parts of one share that are in buckets of the right size.
    fn fill(&mut self, share: u64) {
        let Self { tokens, options, share_bits, ref mut parts, .. } = *self;
        parts.clear();
        parts.reserve((self.part_count >> share_bits) + (self.part_count >> share_bits >> 6));
        for row in 0..tokens.row_count() as u32 {
            let hashes = tokens.hashes(row);
            let len = tokens.row(row).len();
            for end in 0..=len {
                let suffix = hashes.suffix(end);
                for start in end.saturating_sub(options.max_substring_tokens)..=end {
                    let envelope = mix(hashes.prefix(start), suffix);
                    if share_bits == 0 || envelope >> (64 - share_bits) == share {
                        let (start, len) = (start as u16, (end - start) as u16);
                        parts.push(Part { envelope, row, start, len });
                    }
                }
            }
        }
        parts.sort_unstable_by_key(|part| part.envelope);
        let mut kept = 0;
        let mut at = 0;
        while at < parts.len() {
            let envelope = parts[at].envelope;
            let size = parts[at..].iter().take_while(|part| part.envelope == envelope).count();
            if (2..=options.max_wide_bucket).contains(&size) {
                parts.copy_within(at..at + size, kept);
                kept += size;
            }
            at += size;
        }
        parts.truncate(kept);
    }

    fn visit_bucket(&self, bucket: &[Part], found: &mut impl FnMut(Instance)) {
        let is_narrow = bucket.len() <= self.options.max_bucket;
        for (index, &left) in bucket.iter().enumerate() {
            for &right in &bucket[index + 1..] {
                if self.likeness.alike(left.row, right.row) == Some(true) && self.is_leftmost(left, right) {
                    let (left_hash, right_hash) = (self.hash(left), self.hash(right));
                    let rule = mix(left_hash.min(right_hash), left_hash.max(right_hash));
                    found(Instance { rule, left: left.piece(), right: right.piece(), is_narrow });
                }
            }
        }
    }

    fn hash(&self, part: Part) -> u64 {
        let start = usize::from(part.start);
        self.tokens.hashes(part.row).part(start, start + usize::from(part.len))
    }

    /// Whether the two URLs cannot be cut further left into the same two strings.
    ///
    /// If they can, then also by some shift of at most the longer string, by the theory of words that commute.
    fn is_leftmost(&self, left: Part, right: Part) -> bool {
        let (left_row, right_row) = (self.tokens.row(left.row), self.tokens.row(right.row));
        let start = usize::from(left.start);
        let (left_end, right_end) = (start + usize::from(left.len), start + usize::from(right.len));
        // What is behind the cut would have to grow by the same token on both sides.
        if start == 0 || left_row[left_end - 1] != right_row[right_end - 1] {
            return true;
        }
        let (left_hashes, right_hashes) = (self.tokens.hashes(left.row), self.tokens.hashes(right.row));
        let stays = |shift: usize| {
            left_hashes.part(start - shift, left_end - shift) == left_hashes.part(start, left_end)
                && right_hashes.part(start - shift, right_end - shift) == right_hashes.part(start, right_end)
                && left_hashes.part(left_end - shift, left_end)
                    == right_hashes.part(right_end - shift, right_end)
        };
        let longest = usize::from(left.len.max(right.len));
        !(1..=longest.min(start)).any(stays)
    }
}

impl Part {
    fn piece(self) -> Piece {
        Piece { row: self.row, start: self.start, len: self.len }
    }
}

/// Counts to three by hash; different things may share a counter.
struct Counters {
    bytes: Vec<u8>,
    mask: u64,
}

impl Counters {
    const MAX: u32 = 3;

    fn new(expected: usize) -> Self {
        let counters = (2 * expected).clamp(MIN_COUNTERS, MAX_COUNTERS).next_power_of_two();
        Self { bytes: vec![0; counters / 4], mask: counters as u64 - 1 }
    }

    fn counter_of(&self, hash: u64) -> (usize, u32) {
        let counter = hash & self.mask;
        ((counter / 4) as usize, (counter % 4) as u32 * 2)
    }

    fn get(&self, hash: u64) -> u32 {
        let (byte, shift) = self.counter_of(hash);
        u32::from(self.bytes[byte] >> shift) & Self::MAX
    }

    fn count(&mut self, hash: u64) {
        if self.get(hash) < Self::MAX {
            let (byte, shift) = self.counter_of(hash);
            self.bytes[byte] += 1 << shift;
        }
    }
}

/// One hash of two.
fn mix(a: u64, b: u64) -> u64 {
    let product =
        u128::from(a ^ 0x9e37_79b9_7f4a_7c15) * u128::from(b.rotate_left(32) ^ 0xd6e8_feb8_6659_fd93);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::dustbuster::tests::{corpus, repetitive};
    use crate::dustbuster::tokens::Alphabet;

    /// Two strings, and the support of the rule between them in small and in larger buckets.
    type Supports = BTreeMap<(Vec<u32>, Vec<u32>), (u32, u32)>;

    fn ordered(left: &[u32], right: &[u32]) -> (Vec<u32>, Vec<u32>) {
        (left.min(right).to_vec(), left.max(right).to_vec())
    }

    /// The definition, word by word.
    fn supports(tokens: &TokenList, likeness: Likeness<'_>, options: &Options) -> Supports {
        let rows = tokens.row_count() as u32;
        let cuts = |url: &[u32]| {
            let len = url.len();
            (0..=len).flat_map(move |start| (start..=len).map(move |end| (start, end))).collect::<Vec<_>>()
        };
        let bucket_size = |before: &[u32], after: &[u32]| {
            let fits = |&row: &u32| {
                let url = tokens.row(row);
                let room = url.len().checked_sub(before.len() + after.len());
                room.is_some_and(|room| room <= options.max_substring_tokens)
                    && url.starts_with(before)
                    && url.ends_with(after)
            };
            (0..rows).filter(fits).count()
        };
        let mut supports = Supports::new();
        for (left, right) in (0..rows).flat_map(|left| (left + 1..rows).map(move |right| (left, right))) {
            if likeness.alike(left, right) != Some(true) {
                continue;
            }
            let (left, right) = (tokens.row(left), tokens.row(right));
            let mut met = BTreeMap::new();
            for (start, end) in cuts(left) {
                let (before, after) = (&left[..start], &left[end..]);
                if let Some(right_end) = right.len().checked_sub(after.len()).filter(|&end| end >= start)
                    && right.starts_with(before)
                    && right.ends_with(after)
                    && (end - start).max(right_end - start) <= options.max_substring_tokens
                {
                    let pair = ordered(&left[start..end], &right[start..right_end]);
                    met.entry(pair).or_insert(bucket_size(before, after));
                }
            }
            for (pair, size) in met.into_iter().filter(|&(_, size)| size <= options.max_wide_bucket) {
                let support = supports.entry(pair).or_default();
                support.0 += u32::from(size <= options.max_bucket);
                support.1 += 1;
            }
        }
        supports.retain(|_, support| support.0 >= options.min_support);
        supports
    }

    #[test]
    fn detection_agrees_with_the_definition() {
        let mut total = 0;
        for seed in 1..=6 {
            let corpus = corpus(&repetitive(seed));
            let tokens = TokenList::new(&corpus, Alphabet::Tokens);
            let likeness = Likeness::new(&corpus);
            for max_substring_tokens in [3, 35] {
                let options = Options { max_substring_tokens, min_support: 2, ..Options::default() };
                let found: Supports = detect(&tokens, likeness, &options)
                    .iter()
                    .map(|rule| {
                        let pair = ordered(tokens.piece(rule.from), tokens.piece(rule.to));
                        (pair, (rule.support, rule.wide_support))
                    })
                    .collect();
                total += found.len();
                assert_eq!(found, supports(&tokens, likeness, &options));
            }
        }
        assert!(total > 200, "{total}");
    }

    #[test]
    fn shares_add_up() {
        let corpus = corpus(&repetitive(7));
        let tokens = TokenList::new(&corpus, Alphabet::Tokens);
        let options = Options::default();
        let instances = |share_bits| {
            let mut sweep = Sweep { share_bits, ..Sweep::new(&tokens, Likeness::new(&corpus), &options) };
            let mut rules = Vec::new();
            sweep.run(|instance| rules.push(instance.rule));
            let first = rules.len();
            sweep.run(|instance| rules.push(instance.rule));
            assert_eq!(rules.len(), 2 * first);
            rules.sort_unstable();
            rules
        };
        assert!(instances(0) == instances(3));
    }
}
