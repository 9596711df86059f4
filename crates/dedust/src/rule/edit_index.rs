/*!
Finds edits of a list by what they say, however long the list is.
*/

use foldhash::HashMap;

use super::{Edit, EditId};

/// The places of edits, by their ids. The list itself is handed in, so that its decisions may change meanwhile.
#[derive(Clone, Debug, Default)]
pub struct EditIndex {
    places: HashMap<EditId, Vec<usize>>,
}

impl EditIndex {
    /// The index of a list.
    pub fn new(edits: &[Edit]) -> Self {
        let mut places: HashMap<EditId, Vec<usize>> = HashMap::default();
        for (place, edit) in edits.iter().enumerate() {
            places.entry(edit.id()).or_default().push(place);
        }
        Self { places }
    }

    /// The places of edits that say the same as `edit`, in a list whose edits say what they said when the index was made.
    pub fn places_of(&self, edits: &[Edit], edit: &Edit) -> Vec<usize> {
        let known = self.places.get(&edit.id()).map_or(&[][..], Vec::as_slice);
        let says_same = |place: &&usize| edits.get(**place).is_some_and(|other| other.says_same(edit));
        known.iter().filter(says_same).copied().collect()
    }
}
