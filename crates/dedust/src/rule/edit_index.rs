/*!
Finds edits of a list by what they say, however long the list is.
*/

use foldhash::HashMap;

use super::{Edit, EditId};

/// The indexes of edits, by their ids. The list itself is handed in, so that its decisions may change meanwhile.
#[derive(Clone, Debug, Default)]
pub struct EditIndex {
    indexes: HashMap<EditId, Vec<usize>>,
}

impl EditIndex {
    /// The index of a list.
    pub fn new(edits: &[Edit]) -> Self {
        let mut indexes: HashMap<EditId, Vec<usize>> = HashMap::default();
        for (index, edit) in edits.iter().enumerate() {
            indexes.entry(edit.id()).or_default().push(index);
        }
        Self { indexes }
    }

    /// The indexes of edits that say the same as `edit`, in a list whose edits say what they said when the index was made.
    pub fn indexes_of(&self, edits: &[Edit], edit: &Edit) -> Vec<usize> {
        let known = self.indexes.get(&edit.id()).map_or(&[][..], Vec::as_slice);
        let says_same = |index: &&usize| edits.get(**index).is_some_and(|other| other.says_same(edit));
        known.iter().filter(says_same).copied().collect()
    }
}
