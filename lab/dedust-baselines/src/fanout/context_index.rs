/*!
Which rules speak of a URL, without asking them one by one.

Contexts of one shape that have their wildcards at the same keys are found by a hash of the other values, so a URL is
looked up once for every such set of wildcards, of which there are few.
*/

use foldhash::HashMap;

use super::table::{STAR, WideRule, mix};

#[derive(Default)]
pub(super) struct ContextIndex {
    /// By shape: sets of positions without a wildcard, each with the rules by the values at those positions.
    masks_by_shape: HashMap<u32, Vec<Mask>>,
}

struct Mask {
    positions: Box<[u32]>,
    rules_by_values: HashMap<u64, Vec<u32>>,
}

impl ContextIndex {
    pub(super) fn new<'r>(rules: impl Iterator<Item = &'r WideRule>) -> Self {
        let mut index = Self::default();
        for (at, rule) in (0u32..).zip(rules) {
            let positions: Box<[u32]> = (0u32..)
                .zip(&rule.context)
                .filter(|&(_, &value)| value != STAR)
                .map(|(position, _)| position)
                .collect();
            let masks = index.masks_by_shape.entry(rule.shape).or_default();
            let mask = match masks.iter().position(|mask| mask.positions == positions) {
                Some(known) => &mut masks[known],
                None => {
                    masks.push(Mask { positions, rules_by_values: HashMap::default() });
                    let last = masks.len() - 1;
                    &mut masks[last]
                }
            };
            if let Some(hash) = mask.hash(&rule.context) {
                mask.rules_by_values.entry(hash).or_default().push(at);
            }
        }
        index
    }

    /// The rules whose contexts hold every URL of `shape` with these values, of which some may be [`STAR`].
    pub(super) fn covering(&self, shape: u32, values: &[u32]) -> impl Iterator<Item = u32> {
        let masks = self.masks_by_shape.get(&shape).map_or(&[][..], |masks| masks);
        masks
            .iter()
            .filter_map(|mask| mask.rules_by_values.get(&mask.hash(values)?))
            .flat_map(|rules| rules.iter().copied())
    }
}

impl Mask {
    /// A hash of the values at the mask's positions; `None` when one of them is any.
    fn hash(&self, values: &[u32]) -> Option<u64> {
        self.positions.iter().try_fold(0u64, |sum, &position| match values[position as usize] {
            STAR => None,
            value => Some(sum.wrapping_add(mix(position, value))),
        })
    }
}
