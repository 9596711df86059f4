/*!
Which edits are meant: a site by its name, an edit by its id or the beginning of that.
*/

use dedust::rules::{Edit, SiteRules};

use crate::failure::Refusal;

/// Edits that are named to people who mistyped one.
const SHOWN: usize = 10;

/// The places of the edit whose id starts with `id`: one, unless the site has the same edit twice.
pub(super) fn edits_of(name: &str, site: &SiteRules, id: &str) -> Result<Vec<usize>, Refusal> {
    let id = id.to_ascii_lowercase();
    let ids: Vec<String> = site.edits().iter().map(|edit| edit.id().to_string()).collect();
    let matching: Vec<usize> =
        (0..ids.len()).filter(|&at| !id.is_empty() && ids[at].starts_with(&id)).collect();
    match &matching[..] {
        [first, others @ ..] if others.iter().all(|&other| ids[other] == ids[*first]) => Ok(matching),
        [] => Err(Refusal::new(
            format!("no edit of `{name}` has an id that starts with `{id}`"),
            format!("its edits are {}", candidates(site.edits().iter())),
        )),
        several => Err(Refusal::new(
            format!("`{id}` is the beginning of several ids of `{name}`"),
            format!("give more digits: {}", candidates(several.iter().map(|&at| &site.edits()[at]))),
        )),
    }
}

/// The first of some edits, by id and sentence.
fn candidates<'a>(edits: impl ExactSizeIterator<Item = &'a Edit>) -> String {
    let more = edits.len().saturating_sub(SHOWN);
    let mut shown: Vec<String> = edits.take(SHOWN).map(|edit| format!("{} ({edit})", edit.id())).collect();
    match (shown.is_empty(), more) {
        (true, _) => return "none".into(),
        (_, 0) => {}
        (_, more) => shown.push(format!("and {more} more")),
    }
    shown.join(", ")
}
