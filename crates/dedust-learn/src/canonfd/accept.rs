/*!
When an edit is believed.

The groups that it joins vote. The family of the edit says what to expect of it beforehand; after the votes, the chance
that it fails in more than a small share of groups must be at most 5 %, and the agreeing groups must show several pages:
one page that many URLs show proves little. The votes are those of the URLs that the edit was chosen by: no groups are
held out yet, so this is a filter and not a guarantee for unseen URLs.
*/

use super::families::Family;
use super::state::Votes;

/// The share of failing groups that is put up with.
const LIMIT: f64 = 0.05;
/// The same for edits of a family: wrong ones fail nearly always, right ones as often as labels are wrong.
const TRUSTED_LIMIT: f64 = 0.1;
/// The chance of being wrong about that.
const DOUBT: f64 = 0.05;
/// Pages that must agree, for an edit without a family.
const MIN_PAGES: u64 = 5;
/// URLs that such an edit may join for each page that agrees. More than that is one empty page, shown for every value of
/// a key that would matter if there were anything to show.
const MAX_MERGED_PER_PAGE: u64 = 8;

pub(super) fn is_believed(family: Family, votes: &Votes) -> bool {
    let (limit, min_pages) = match family {
        Family::Other => (LIMIT, MIN_PAGES),
        Family::Login => (TRUSTED_LIMIT, 1),
        _ => (TRUSTED_LIMIT, 2),
    };
    let shows_little = family == Family::Other && votes.merged > MAX_MERGED_PER_PAGE * votes.pages;
    votes.pages >= min_pages && !shows_little && family.doubt(votes.failed, votes.groups, limit) <= DOUBT
}
