/*!
When an edit is believed.

The family of an edit says what to expect of it beforehand; after the votes, the chance that it fails in more than a
small share of cases must be at most 5 %, and the groups that agree must show several pages: one page that many URLs
show proves little. The failure rate that is stated comes from the groups that are held out, and from nothing else.
*/

use super::families::Family;
use super::search::Candidate;
use super::vote::{Ballot, Tally, Votes};

/// How much proof is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Mode {
    /// By the groups that are held out alone, and whatever is known of such edits: at most 5 % of votes fail, and no edit
    /// loses more than its part of the pages.
    Strict,
    /// At most 5 % of votes fail, by what is known of such edits and all votes, with 95 % confidence; up to 15 % for edits
    /// that are known to be right elsewhere or can do little harm, and more where labels are provably wrong.
    #[default]
    Balanced,
    /// Few false votes, however few votes there are: as in the papers.
    Paper,
}

/// How much proof is asked for, in numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proof {
    /// What counts as proof.
    pub mode: Mode,
    /// The share of the pages of a site that one edit may lose. Default: 0.005.
    pub max_loss: f64,
    /// In [`Mode::Paper`], the share of votes that may be against an edit. Default: 0.05.
    pub max_false_rate: f64,
    /// Whether all hosts of a registrable domain are taken to have one owner, so that what they show is enough to join them.
    /// Otherwise hosts are joined only if they lead to each other. Default: no.
    pub trusts_hosts: bool,
}

impl Default for Proof {
    fn default() -> Self {
        Self { mode: Mode::default(), max_loss: 0.005, max_false_rate: 0.05, trusts_hosts: false }
    }
}

/// Why an edit is not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It brings no URLs together.
    JoinsNothing,
    /// URLs that it brings together show different pages.
    Fails,
    /// Too few groups of URLs speak for it.
    TooFewVotes,
    /// Its groups show the same few pages, as an empty list does.
    TooFewPages,
}

impl Refusal {
    /// The reason in words.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::JoinsNothing => "it brings no URLs together",
            Self::Fails => "URLs that it brings together show different pages",
            Self::TooFewVotes => "too few URLs speak for it",
            Self::TooFewPages => "the URLs that speak for it show too few pages",
        }
    }
}

impl Mode {
    /// All modes, the most careful first.
    pub const ALL: [Self; 3] = [Self::Strict, Self::Balanced, Self::Paper];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Balanced => "balanced",
            Self::Paper => "paper",
        }
    }
}

/// The share of failing votes that is put up with.
const LIMIT: f64 = 0.05;
/// The least that is put up with: so often labels are wrong anywhere.
const LEAST_LIMIT: f64 = 0.02;
/// Pages that an edit may lose on any site: with less, nothing could be proven on a small one.
const LEAST_LOSS: f64 = 2.0;
/// The same for edits of a family, where wrong ones fail nearly always and right ones as often as labels are wrong, and
/// for edits that can do little harm.
const TRUSTED_LIMIT: f64 = 0.1;
/// The same for edits with many votes that lose next to nothing where they fail: pages that changed between two fetches.
const CHEAP_LIMIT: f64 = 0.15;
/// Many votes.
const MANY: u64 = 100;
/// Next to nothing, as a share of the URLs of a site.
const CHEAP: f64 = 0.001;
/// The most that is put up with on top of that for wrong labels.
const MAX_NOISE: f64 = 0.15;
/// More voices against an edit than this are not all mistaken, unless more labels than that are wrong everywhere.
const MAX_CONTESTED: f64 = 0.3;
/// Votes from which on that can be told.
const SOME: u64 = 20;
/// The chance of being wrong about that.
const DOUBT: f64 = 0.05;
/// Pages that must agree, for an edit without a family.
const MIN_PAGES: u64 = 5;
/// Agreeing groups for each page that they show. More than that is one empty page, shown for every value of a key that
/// would matter if there were anything to show.
const MAX_GROUPS_PER_PAGE: u64 = 4;

/// Votes of groups held out that an edit needs which was chosen for what was seen.
const MIN_CHOSEN: u64 = 10;
/// Votes that are told to be missing, at most.
const MAX_MISSING: u64 = 2_000;

/// How many labels of a site are wrong.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Noise {
    /// The share that is.
    pub(super) wrong: f64,
    /// The share that can be proven to be.
    pub(super) proven: f64,
    /// The share of fetches of one page that differ slightly.
    pub(super) slight: f64,
    /// Whether labels came with the crawl: then any that is likely to be wrong may be. What pages show is never wrong, but
    /// may be shown elsewhere too.
    pub(super) is_of_labels: bool,
    /// How many votes say so.
    pub(super) votes: u64,
}

/// What edits of a site are measured by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standard {
    pub(super) mode: Mode,
    /// The share of the site's pages that one edit may lose.
    pub(super) max_loss: f64,
    /// In [`Mode::Paper`], the share of votes that may be against an edit.
    pub(super) max_false_rate: f64,
    /// URLs and pages of the site.
    pub(super) urls: usize,
    pub(super) pages: usize,
    pub(super) noise: Noise,
}

impl Standard {
    /// Judges an edit by its votes.
    pub(super) fn judge(
        &self,
        candidate: &Candidate,
        votes: &Votes,
        is_harmless: bool,
    ) -> Result<(), Refusal> {
        if votes.merged == 0 {
            return Err(Refusal::JoinsNothing);
        }
        let cast = deciding(self.mode, candidate, votes);
        let Tally { all, against } = cast.tally(&self.noise);
        let share = against as f64 / all.max(1) as f64;
        let limit = self.limit(candidate, votes, is_harmless);
        let family = self.family(candidate);
        let is_contested =
            all >= SOME && cast.contested_share() > MAX_CONTESTED.max(0.1 + 1.2 * self.noise.wrong);
        let is_proven = match self.mode {
            Mode::Strict | Mode::Balanced => !is_contested && family.doubt(against, all, limit) <= DOUBT,
            Mode::Paper => all > 0 && share <= self.max_false_rate,
        };
        // However much is put up with for wrong labels, a place that was chosen needs some votes that are its own.
        let is_chosen = candidate.is_chosen() && candidate.family != Family::Login;
        if self.mode != Mode::Paper && is_chosen && all < MIN_CHOSEN {
            return Err(if is_contested { Refusal::Fails } else { Refusal::TooFewVotes });
        }
        // Nor may it fail where it was chosen.
        let overall = votes.cast.tally(&self.noise);
        let is_proven =
            is_proven && (!candidate.is_chosen() || overall.against as f64 <= limit * overall.all as f64);
        if !is_proven {
            let could_be = self.mode != Mode::Paper && share <= limit;
            return Err(if could_be { Refusal::TooFewVotes } else { Refusal::Fails });
        }
        let min_pages = match candidate.family {
            Family::Other | Family::Relevant => MIN_PAGES,
            Family::Login => 1,
            Family::Referral => 3,
            _ => 2,
        };
        let are_few = votes.pages < min_pages
            || (!candidate.family.is_known() && votes.agreeing > MAX_GROUPS_PER_PAGE * votes.pages);
        if self.mode != Mode::Paper && are_few {
            return Err(Refusal::TooFewPages);
        }
        Ok(())
    }

    /// What is known of an edit before the site has said anything.
    fn family(&self, candidate: &Candidate) -> Family {
        match self.mode {
            // What is known of other sites proves nothing.
            Mode::Strict => Family::Other,
            // Nor is it known of the place that was chosen.
            _ if candidate.is_chosen() => candidate.family.chosen(),
            _ => candidate.family,
        }
    }

    /// How well an edit that is believed is known to be right.
    pub(super) fn trust(&self, candidate: &Candidate, votes: &Votes, is_harmless: bool) -> dedust::Trust {
        let Tally { all, against } = deciding(self.mode, candidate, votes).tally(&self.noise);
        let limit = self.limit(candidate, votes, is_harmless);
        match Family::Other.doubt(against, all, limit) <= DOUBT {
            true => dedust::Trust::Proven,
            false => dedust::Trust::Likely,
        }
    }

    /// Mean and variance of the pages that an edit is expected to lose.
    pub(super) fn loss(&self, candidate: &Candidate, votes: &Votes) -> (f64, f64) {
        let Tally { all, against } = deciding(self.mode, candidate, votes).tally(&self.noise);
        let (mean, variance) = self.family(candidate).failure_rate(against, all);
        let merged = votes.merged as f64;
        (merged * mean, merged * merged * variance)
    }

    /// Votes that are missing before an edit with too few would be believed.
    pub(super) fn missing(&self, candidate: &Candidate, votes: &Votes, is_harmless: bool) -> Option<u64> {
        let Tally { all, against } = deciding(self.mode, candidate, votes).tally(&self.noise);
        let limit = self.limit(candidate, votes, is_harmless);
        let family = self.family(candidate);
        (1..=MAX_MISSING).find(|more| family.doubt(against, all + more, limit) <= DOUBT)
    }

    /// The share of votes that may be against an edit. What forgets values may not lose more than its part of the pages: an
    /// edit that joins many URLs needs more proof than one that joins few.
    fn limit(&self, candidate: &Candidate, votes: &Votes, is_harmless: bool) -> f64 {
        let cast = deciding(self.mode, candidate, votes);
        let Tally { all, against } = cast.tally(&self.noise);
        let share = against as f64 / all.max(1) as f64;
        let is_cheap = all >= MANY && share * votes.merged as f64 <= CHEAP * self.urls as f64;
        let pages = (self.max_loss * self.pages as f64).max(LEAST_LOSS);
        let of_loss = (pages / votes.merged as f64).clamp(LEAST_LIMIT, LIMIT);
        let limit = match is_harmless {
            _ if self.mode == Mode::Strict => of_loss,
            true if is_cheap => CHEAP_LIMIT,
            true if against == 0 => TRUSTED_LIMIT,
            // One label may always be wrong.
            true if against == 1 && self.noise.is_of_labels => CHEAP_LIMIT,
            _ if candidate.family.is_known() => TRUSTED_LIMIT,
            true => LIMIT,
            false if self.noise.is_of_labels => LIMIT,
            false => of_loss,
        };
        // Where labels are provably wrong, others are that nobody can tell.
        let proven = cast.disbelieved_share().max(self.noise.proven);
        limit + (2.0 * proven).min(self.noise.wrong).min(MAX_NOISE)
    }
}

/// The votes that decide. What was chosen for what it was seen to do is proven by what it was not seen to do.
fn deciding<'v>(mode: Mode, candidate: &Candidate, votes: &'v Votes) -> &'v Ballot {
    if candidate.is_chosen() || mode == Mode::Strict { &votes.held_out_cast } else { &votes.cast }
}
