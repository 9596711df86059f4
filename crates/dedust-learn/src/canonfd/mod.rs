/*!
CanonFD: our own learner.

A set of keys is irrelevant when the page is determined by what remains. That is tested on all data at once: an edit
(forget a key, take a value for another, forget keys where a parameter has some value) joins groups of URLs, and the
joined groups vote, one vote each, whether their pages are the same. Edits are believed when the votes leave little
doubt, and less is asked of edits that are right on most sites (see [`families`]).
*/

mod accept;
mod families;
mod search;
mod state;
mod write;

use crate::corpus::Corpus;
use crate::method::Learned;

/// Learns rules for one site.
pub fn learn_canonfd(corpus: &Corpus) -> Learned {
    let mut search = search::Search::new(corpus);
    search.run();
    Learned {
        raw_rules: search.tried,
        qualified_rules: search.accepted.len(),
        rules: write::write(corpus, &search),
        substitutions: Vec::new(),
    }
}
