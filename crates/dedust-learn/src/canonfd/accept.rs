/*!
When an edit is believed.

The groups that it joins vote. The family of the edit says what to expect of it beforehand; after the votes, the chance
that it fails in more than 5 % of groups must be at most 5 %. Held-out groups, which took no part in choosing the edit,
must not speak against it, and the agreeing groups must show several pages: one page that many URLs show proves little.
*/

use super::families::Family;
use super::state::Votes;

/// How strictly edits are judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The bound on held-out groups alone, at 1 %.
    Strict,
    /// What is known of the family, and all groups, at 5 %.
    #[default]
    Balanced,
}

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

/// Why an edit is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Too few pages speak for it.
    FewPages,
    /// It joins different pages, or may do so.
    Doubtful,
}

impl Mode {
    pub(super) fn judge(self, family: Family, votes: &Votes) -> Result<(), Refusal> {
        let min_pages = match family {
            Family::Other => MIN_PAGES,
            Family::Login => 1,
            _ => 2,
        };
        let shows_little = family == Family::Other && votes.merged > MAX_MERGED_PER_PAGE * votes.pages;
        if votes.pages < min_pages || shows_little {
            return Err(Refusal::FewPages);
        }
        let holds = match self {
            Self::Strict => crate::confidence::failure_bound(votes.held_out_failed, votes.held_out) <= 0.01,
            Self::Balanced => {
                let limit = if family == Family::Other { LIMIT } else { TRUSTED_LIMIT };
                family.doubt(votes.all_failed(), votes.all(), limit) <= DOUBT
                    && votes.held_out_failed as f64 <= limit * votes.held_out as f64 + 1.0
            }
        };
        if holds { Ok(()) } else { Err(Refusal::Doubtful) }
    }
}
