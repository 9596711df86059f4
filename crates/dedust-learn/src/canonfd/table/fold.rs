/*!
What becomes of pairs in another spelling.
*/

use std::sync::{Arc, Mutex, PoisonError};

use dedust::rules::{Area, Spelling, UrlPart};
use dedust::support::RawKey;
use foldhash::HashMap;

use super::Table;
use crate::pair_number::{raw_key, raw_pair_number};

/// The pairs that change in a spelling, with the numbers of the pairs that they become.
pub(super) type Folded = Arc<HashMap<u32, u64>>;

/// What was found out about spellings of the whole path or all parameters. It stays true: pairs are added, not changed.
#[derive(Default)]
pub(super) struct Folds {
    known: Mutex<HashMap<(Area, Spelling), Folded>>,
}

impl Table<'_> {
    /// What becomes of the pairs of an area in another spelling; `None` where only forms can tell.
    pub(super) fn folded(&self, of: &Area, to: Spelling) -> Option<Folded> {
        match of {
            Area::Path | Area::Params => {}
            Area::Key(UrlPart::PathSegment(_) | UrlPart::QueryParam(_)) => {
                return Some(Arc::new(self.fold_from(of, to, 0).collect()));
            }
            _ => return None,
        }
        let fold = (of.clone(), to);
        let lock = || self.folds.known.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().get(&fold).cloned();
        Some(known.unwrap_or_else(|| {
            let folded: Folded = Arc::new(self.fold_from(of, to, 0).collect());
            lock().insert(fold, Arc::clone(&folded));
            folded
        }))
    }

    /// Finds out about pairs from `first` on, which a rule has made.
    pub(super) fn fold_made(&mut self, first: u32) {
        let mut folds = std::mem::take(&mut self.folds);
        let known = folds.known.get_mut().unwrap_or_else(PoisonError::into_inner);
        for ((of, to), folded) in known {
            Arc::make_mut(folded).extend(self.fold_from(of, *to, first));
        }
        self.folds = folds;
    }

    fn fold_from(&self, of: &Area, to: Spelling, first: u32) -> impl Iterator<Item = (u32, u64)> {
        self.foldable(of, to, first).filter_map(move |pair| {
            let ((key, occurrence), before) = (raw_key(self.key_of(pair)), self.raw(pair)?);
            let folded = to.of(before, matches!(key, RawKey::QueryParam(_)));
            (folded != before).then(|| (pair, raw_pair_number(key, occurrence, Some(&folded))))
        })
    }

    /// The pairs of an area, from `first` on, that may be spelled in another way.
    pub(super) fn foldable(&self, of: &Area, to: Spelling, first: u32) -> impl Iterator<Item = u32> {
        let keys = self.keys.iter().zip(&self.pairs_by_key).filter(move |(key, _)| match of {
            Area::Path => matches!(key, UrlPart::PathSegment(_)),
            Area::Params => matches!(key, UrlPart::QueryParam(_)),
            Area::Key(of) => of == *key,
            _ => false,
        });
        keys.flat_map(move |(key, pairs)| {
            let in_query = matches!(key, UrlPart::QueryParam(_));
            let may_change =
                move |pair: u32| self.raw(pair).is_some_and(|text| to.may_change(text, in_query));
            // Pairs of a key are numbered as they come.
            let pairs = &pairs[pairs.partition_point(|&pair| pair < first)..];
            pairs.iter().copied().filter(move |&pair| may_change(pair))
        })
    }
}
