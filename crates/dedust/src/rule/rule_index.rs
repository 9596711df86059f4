/*!
Finds rules of a list by what they say, however long the list is.
*/

use foldhash::HashMap;

use super::{Rule, RuleId};

/// The indexes of rules, by their ids. The list itself is handed in, so that its decisions may change meanwhile.
#[derive(Clone, Debug, Default)]
pub struct RuleIndex {
    indexes: HashMap<RuleId, Vec<usize>>,
}

impl RuleIndex {
    /// The index of a list.
    pub fn new(rules: &[Rule]) -> Self {
        let mut indexes: HashMap<RuleId, Vec<usize>> = HashMap::default();
        for (index, rule) in rules.iter().enumerate() {
            indexes.entry(rule.id()).or_default().push(index);
        }
        Self { indexes }
    }

    /// The indexes of rules that say the same as `rule`, in a list whose rules say what they said when the index was made.
    pub fn indexes_of(&self, rules: &[Rule], rule: &Rule) -> Vec<usize> {
        let known = self.indexes.get(&rule.id()).map_or(&[][..], Vec::as_slice);
        let says_same = |index: &&usize| rules.get(**index).is_some_and(|other| other.says_same(rule));
        known.iter().filter(says_same).copied().collect()
    }
}
