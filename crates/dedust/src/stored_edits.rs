/*!
Edits in compiled rules: stored as JSON, and read once for each site that is met.

Unlike rules, edits are not run where they lie. [`EditCache`] keeps those of sites that were met, for one thread.
*/

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::compiled::encoding::{Cursor, Encode as _, TooLarge};
use crate::program::Program;
use crate::rule::{Change, Edit, Evidence, Spot, Test};

/// An edit, and its place in the site's list.
pub(crate) type PlacedEdit = (usize, Edit);

/// Sites whose edits are kept, at most.
const MAX_SITES: usize = 20_000;

/// The edits of sites that were met.
#[derive(Clone, Debug, Default)]
pub(crate) struct EditCache {
    edits_by_program: FxHashMap<(u64, u32), Arc<[PlacedEdit]>>,
}

impl EditCache {
    /// The edits of a site; none if they cannot be read.
    pub(crate) fn of(&mut self, program: &Program<'_>) -> Arc<[PlacedEdit]> {
        let key = (program.image, program.place);
        if let Some(edits) = self.edits_by_program.get(&key) {
            return Arc::clone(edits);
        }
        if self.edits_by_program.len() >= MAX_SITES {
            self.edits_by_program.clear();
        }
        let edits: Arc<[PlacedEdit]> = read(program.bytes, program.edits()).unwrap_or_default().into();
        self.edits_by_program.insert(key, Arc::clone(&edits));
        edits
    }
}

/// All of an edit but why it is trusted.
#[derive(Serialize, Deserialize)]
struct Stored {
    place: usize,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    when: BTreeMap<Spot, Test>,
    change: Vec<Change>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    fetchable: bool,
}

/// Appends edits to compiled rules.
pub(crate) fn encode(edits: &[(usize, &Edit)], out: &mut Vec<u8>) -> Result<(), TooLarge> {
    let stored: Vec<Stored> = edits
        .iter()
        .map(|(place, edit)| Stored {
            place: *place,
            when: edit.when.clone(),
            change: edit.change.clone(),
            fetchable: edit.fetchable,
        })
        .collect();
    out.put_block(&serde_json::to_vec(&stored).map_err(|_| TooLarge)?)
}

fn read(bytes: &[u8], at: u32) -> Option<Vec<PlacedEdit>> {
    let stored: Vec<Stored> = serde_json::from_slice(Cursor::new(bytes, at as usize).block()?).ok()?;
    let edit = |Stored { place, when, change, fetchable }| {
        (place, Edit { when, change, fetchable, evidence: Evidence::default() })
    };
    Some(stored.into_iter().map(edit).collect())
}
