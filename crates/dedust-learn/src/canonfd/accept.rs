/*!
When a rule is believed.

The family of a rule says what to expect of it beforehand; after the votes, the chance that it fails in more than a
small share of cases must be at most 5 %, and the groups that agree must show several pages: one page that many URLs
show proves little. The failure rate that is stated comes from the groups that are held out, and from nothing else.
*/

use dedust::rules::Trust;

use super::families::{Exposure, Family, Prior};
use super::search::Candidate;
use super::vote::{Ballot, Tally, Votes};
use crate::proof::{Mode, Proof};
use crate::thresholds::proof as limits;

/// Why a rule is not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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

/// How many labels of a site are wrong.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Noise {
    /// The share that is.
    pub(super) wrong: f64,
    /// The share that can be proven to be.
    pub(super) proven: f64,
    /// The share of votes that may differ slightly.
    pub(super) slight: f64,
    /// The share of fetches of one page that do, however large it is.
    pub(super) expected_slight: f64,
    /// Whether labels came with the crawl: then any that is likely to be wrong may be. What pages show is never wrong, but
    /// may be shown elsewhere too.
    pub(super) is_of_labels: bool,
    /// How many votes say so.
    pub(super) votes: u64,
}

/// What a rule may do beside what it is to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Harm {
    /// It only says the same in another way.
    None,
    /// It may forget what matters.
    Possible,
    /// It takes a value of a key for none, and other values of the key mostly seem to count as none too. So the value is no
    /// default but one of many that may or may not matter, and this is known of them.
    AsOthers(Prior),
}

/// What rules of a site are measured by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standard {
    pub(super) proof: Proof,
    /// In [`Mode::Paper`], the share of votes that may be against a rule.
    pub(super) max_false_rate: f64,
    /// URLs and pages of the site.
    pub(super) urls: usize,
    pub(super) pages: usize,
    pub(super) noise: Noise,
}

/// A rule and its votes, as a [`Standard`] sees them.
pub(super) struct Case<'a> {
    standard: &'a Standard,
    candidate: &'a Candidate,
    votes: &'a Votes,
    /// The votes that decide. What was chosen for what it was seen to do is proven by what it was not seen to do.
    cast: &'a Ballot,
    tally: Tally,
    /// What is known of the rule before the site has said anything.
    prior: Prior,
    /// Whether it can do little harm.
    is_harmless: bool,
    /// The share of votes that may be against it.
    limit: f64,
}

impl Standard {
    /// A rule that is to be judged.
    pub(super) fn case<'a>(&'a self, candidate: &'a Candidate, votes: &'a Votes, harm: Harm) -> Case<'a> {
        let is_strict = self.proof.mode == Mode::Strict;
        let is_chosen = candidate.is_chosen();
        let cast = if is_chosen || is_strict { &votes.held_out_cast } else { &votes.cast };
        // What is known of other sites is no proof, and is not known of a part that was chosen.
        let family = match candidate.family {
            _ if is_strict => Family::Other,
            family if is_chosen => family.chosen(),
            family => family,
        };
        let prior = match harm {
            Harm::AsOthers(prior) => prior,
            Harm::None | Harm::Possible => family.prior(),
        };
        let is_harmless = harm == Harm::None;
        let limit = self.limit(candidate, votes, cast, is_harmless);
        Case {
            standard: self,
            candidate,
            votes,
            cast,
            tally: cast.tally(&self.noise),
            prior,
            is_harmless,
            limit,
        }
    }

    /// The share of votes that may be against a rule. What forgets values may not lose more than its part of the pages: a
    /// rule that joins many URLs needs more proof than one that joins few.
    fn limit(&self, candidate: &Candidate, votes: &Votes, cast: &Ballot, is_harmless: bool) -> f64 {
        let Tally { all, against } = cast.tally(&self.noise);
        let merged = votes.merged as f64;
        let lost = against as f64 / all.max(1) as f64 * merged;
        let is_cheap = all >= limits::MIN_CHEAP_VOTES && lost <= limits::CHEAP_SHARE * self.urls as f64;
        let pages = (self.proof.max_loss * self.pages as f64).max(limits::LEAST_LOSS);
        let of_loss = (pages / merged).clamp(limits::LEAST_LIMIT, limits::LIMIT);
        let limit = match is_harmless {
            _ if self.proof.mode == Mode::Strict => of_loss,
            true if is_cheap => limits::CHEAP_LIMIT,
            true if against == 0 => limits::TRUSTED_LIMIT,
            // One label may always be wrong.
            true if against == 1 && self.noise.is_of_labels => limits::CHEAP_LIMIT,
            _ if candidate.family.is_known() => limits::TRUSTED_LIMIT,
            false if !self.noise.is_of_labels => of_loss,
            _ => limits::LIMIT,
        };
        if !self.noise.is_of_labels {
            return limit;
        }
        // Where labels are provably wrong, others are that nobody can tell.
        let proven = cast.disbelieved_share().max(self.noise.proven);
        limit + (limits::WRONG_PER_PROVEN * proven).min(self.noise.wrong).min(limits::MAX_NOISE)
    }
}

impl Case<'_> {
    /// Whether the rule, which joins something, is believed.
    pub(super) fn judge(&self) -> Result<(), Refusal> {
        let Standard { proof: Proof { mode, .. }, max_false_rate, noise, .. } = self.standard;
        let Tally { all, against } = self.tally;
        let share = against as f64 / all.max(1) as f64;
        if *mode == Mode::Paper {
            return if all > 0 && share <= *max_false_rate { Ok(()) } else { Err(Refusal::Fails) };
        }
        let max_contested =
            limits::MAX_CONTESTED.max(limits::CONTESTED_MARGIN + limits::CONTESTED_PER_WRONG * noise.wrong);
        let is_contested = all >= limits::MIN_CONTESTED_VOTES && self.cast.contested_share() > max_contested;
        let is_proven = !is_contested && self.prior.doubt(against, all, self.limit) <= limits::MAX_DOUBT;
        if !is_proven || !self.holds_where_chosen() {
            return Err(if share <= self.limit { Refusal::TooFewVotes } else { Refusal::Fails });
        }
        let Votes { pages, agreeing, .. } = *self.votes;
        let is_one_page = !self.candidate.family.is_known() && agreeing > limits::MAX_GROUPS_PER_PAGE * pages;
        if pages < self.candidate.family.min_pages() || is_one_page {
            Err(Refusal::TooFewPages)
        } else {
            Ok(())
        }
    }

    /// Whether a rule that was chosen has votes of its own, however much is put up with for wrong labels, and is no less doubted
    /// where it was chosen: a few groups that were held out may agree by luck.
    fn holds_where_chosen(&self) -> bool {
        if !self.candidate.is_chosen() {
            return true;
        }
        let Votes { cast, .. } = self.votes;
        let is_seen = self.tally.all >= limits::MIN_CHOSEN_VOTES || self.candidate.family == Family::Login;
        let Tally { all, against } = cast.tally(&self.standard.noise);
        let limit = self.standard.limit(self.candidate, self.votes, cast, self.is_harmless);
        is_seen && self.prior.doubt(against, all, limit) <= limits::MAX_DOUBT
    }

    /// How well a rule that is believed is known to be right, and the share of groups in which it fails, at most, with 95 % confidence: by
    /// the votes on any rule, if they say that it is small enough, or else also by what is known of its family.
    pub(super) fn trust(&self) -> (Trust, f64) {
        let Tally { all, against } = self.tally;
        let by_votes = Family::Other.prior().bound(against, all);
        if by_votes <= limits::LIMIT {
            (Trust::Proven, by_votes)
        } else {
            (Trust::Likely, self.prior.bound(against, all).min(by_votes))
        }
    }

    /// What it may lose, and what is known of that. Votes that differ no more often than fetches of one page do are no failures.
    pub(super) fn exposure(&self) -> Exposure {
        let noise = &self.standard.noise;
        let Tally { all, against } = self.cast.tally(&Noise { slight: noise.expected_slight, ..*noise });
        Exposure { against, all, merged: self.votes.merged }
    }

    /// Votes that are missing before a rule with too few would be believed.
    pub(super) fn missing(&self) -> Option<u64> {
        let Tally { all, against } = self.tally;
        let least =
            if self.candidate.is_chosen() { limits::MIN_CHOSEN_VOTES.saturating_sub(all).max(1) } else { 1 };
        (least..=limits::MAX_MISSING)
            .find(|more| self.prior.doubt(against, all + more, self.limit) <= limits::MAX_DOUBT)
    }
}
