/*!
What a node of a pattern tree is about, for whoever shows it to people.
*/

use foldhash::HashSet;

use super::{NodeId, PatternTree};
use crate::closed_rule::{Pattern, ValuePattern};

/// What a node is about, however it is drawn.
#[derive(Clone, Debug)]
pub struct NodeFacts {
    /// The key that leads from the parent to the node, with its value unless it is absent. `None` for the root.
    pub step: Option<(String, Option<String>)>,
    /// URLs covered.
    pub urls: usize,
    /// Those whose page is known.
    pub labelled: usize,
    /// Distinct pages among these.
    pub pages: usize,
    /// What URLs must look like to be covered.
    pub pattern: Pattern,
}

impl PatternTree<'_> {
    /// What a node is about. Exceptions of a wildcard are spelled out if they are no more than `shown_exceptions`: they are the values of the
    /// node's siblings.
    pub fn facts(&self, node: NodeId, shown_exceptions: usize) -> NodeFacts {
        let members = self.members(node);
        let labels = members.iter().filter_map(|&row| self.corpus().label(row));
        let pattern = self.pattern(node);
        let key = self.nodes()[node].parent().and_then(|parent| self.split_key(parent));
        let value = |key| pattern.get(key).map(|value| brief(value, shown_exceptions));
        NodeFacts {
            step: key.map(|key| (key.to_string(), value(key))),
            urls: members.len(),
            labelled: labels.clone().count(),
            pages: labels.collect::<HashSet<_>>().len(),
            pattern,
        }
    }
}

fn brief(pattern: &ValuePattern, shown_exceptions: usize) -> String {
    match pattern {
        ValuePattern::Any(any) if any.except.len() > shown_exceptions => {
            let optional = if any.optional { "?" } else { "" };
            format!("<{}{optional} except {} values>", any.class, any.except.len())
        }
        _ => pattern.to_string(),
    }
}
