/*!
Finds rules that do not change which page is meant, each judged in the light of those before it.

1. Rules that are offered on every site: schemes and hosts, spellings, keys that do not matter, values that count as
   none.
2. Rules that duplicates suggest by how they differ.
3. Of rules that fail, those that hold where one more thing is true of a URL.
*/

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use dedust::rules::{Change, Promise, Rule, Spot, Test, UrlPart, Value, ValueClass};
use dedust::support::Taken;
use foldhash::{HashMap, HashSet};

use super::accept::{Harm, Noise, Refusal, Standard};
use super::draft::{Draft, nothing_for};
use super::families::{Exposure, Family, Prior, expected_loss, is_volatile};
use super::scope::hosts_seen;
use super::table::Table;
use super::vote::{Ballot, Group, SlightVotes, Tally, Votes, count, joined};
use super::work::max_work;
use super::write::write_rule;
use crate::corpus::Corpus;
use crate::label::Relation;
use crate::proof::{Mode, Proof};
use crate::thresholds;

/// A rule that may be made.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) draft: Draft,
    pub(super) family: Family,
    /// Whether it fails where less is asked for.
    pub(super) is_suspect: bool,
    /// Whether it asks for something because it was seen to hold there, and not because URLs are built so.
    pub(super) is_narrowed: bool,
    /// Where it asks for something because nothing was seen elsewhere: no vote was left out for that.
    pub(super) limited: BTreeSet<Spot>,
}

impl Candidate {
    /// What pages that differ slightly do: what is known of the rule is a claim that it is right.
    pub(super) fn slight_votes(&self) -> SlightVotes {
        let is_claimed = self.family.is_known() || self.draft.is_move();
        if is_claimed { SlightVotes::Abstain } else { SlightVotes::Count }
    }

    /// What is known of such a rule before the site has said anything.
    pub(super) fn prior(&self) -> Prior {
        let family = if self.is_chosen() { self.family.chosen() } else { self.family };
        family.prior()
    }

    /// Whether it was chosen from many of its kind for what was seen to happen: it speaks of certain values, other than those
    /// that are known to mean nothing and the names of index files. What forgets nothing was not chosen: it asks for what the
    /// URLs of a template have in common, and of the ways to write their names elsewhere there are few.
    pub(super) fn is_chosen(&self) -> bool {
        if self.draft.is_move() && !self.is_narrowed {
            return false;
        }
        let Draft { when, change, .. } = &self.draft;
        let is_index = self.family == Family::Spelling && matches!(**change, [Change::Path(_)]);
        // One value for another: there are many pairs of them, while each key has one default, and hosts are few.
        let maps = |change: &Change| match change.facts().takes {
            Taken::Values(UrlPart::Scheme | UrlPart::Subdomain(_), _) => false,
            Taken::Values(_, values) => values.iter().any(|mapped| mapped.becomes.is_some()),
            Taken::Nothing | Taken::Part(_) | Taken::Value(_) | Taken::Path => false,
        };
        let asks_for_values = |(spot, test): (&Spot, &Test)| {
            matches!(test, Test::Is(_) | Test::OneOf(_)) && !self.limited.contains(spot)
        };
        !is_index
            && (when.iter().any(asks_for_values) || (!self.family.is_known() && change.iter().any(maps)))
    }
}

/// A candidate that was judged.
#[derive(Clone, Debug)]
pub(super) struct Judged {
    pub(super) candidate: Candidate,
    pub(super) votes: Votes,
    pub(super) refusal: Option<Refusal>,
}

pub(super) struct Search<'c> {
    pub(super) table: Table<'c>,
    proof: Proof,
    max_false_rate: f64,
    pub(super) noise: Noise,
    /// Pairs of pages that show something else from one visit to the next.
    pub(super) volatile: Vec<u32>,
    /// Rules that were believed, in the order in which they were made, and as they are written.
    pub(super) accepted: Vec<Judged>,
    pub(super) rules: Vec<Rule>,
    /// What each of them, and each table of observed duplicates, may lose.
    pub(super) exposures: Vec<Exposure>,
    /// Rules that were not, as they were last judged.
    pub(super) refused: HashMap<Draft, Judged>,
    pub(super) tried: usize,
    /// Work that may be done.
    pub(super) max_work: u64,
    /// The hosts of the site that were seen, without `www`, sorted.
    pub(super) hosts: Vec<Box<str>>,
    /// Whether all rules so far hold on hosts that nobody has visited.
    pub(super) holds_everywhere: bool,
    /// Votes that were counted since the last rule was made, with the work that it was.
    votes: Mutex<HashMap<(Draft, SlightVotes), (Votes, u64)>>,
}

impl<'c> Search<'c> {
    pub(super) fn new(corpus: &'c Corpus, proof: Proof, max_false_rate: f64) -> Self {
        let table = Table::new(corpus);
        Self {
            // A word in a campaign's name says nothing of the page.
            volatile: table.pairs_with(|key, value| {
                matches!(key, UrlPart::QueryParam(_))
                    && !Family::of_drop(key).is_known()
                    && is_volatile(value)
            }),
            table,
            proof,
            max_false_rate,
            noise: Noise {
                slight: corpus.slight_noise().min(thresholds::likeness::MAX_NOISE),
                expected_slight: corpus.slight_noise(),
                is_of_labels: corpus.has_clusters(),
                ..Noise::default()
            },
            accepted: Vec::new(),
            rules: Vec::new(),
            exposures: Vec::new(),
            refused: HashMap::default(),
            tried: 0,
            max_work: max_work(corpus),
            hosts: hosts_seen(corpus),
            holds_everywhere: true,
            votes: Mutex::default(),
        }
    }

    /// What counts as proof.
    pub(super) fn mode(&self) -> Mode {
        self.proof.mode
    }

    pub(super) fn run(&mut self) {
        let is_known = |candidate: &Candidate| candidate.family.is_known();
        self.volatile = self.still_volatile();
        for _ in 0..thresholds::search::MAX_ROUNDS {
            if self.noise.votes < thresholds::search::ENOUGH_VOTES {
                self.noise = self.estimate_noise();
            }
            let before = self.accepted.len();
            self.take(self.offered().into_iter().filter(is_known).collect());
            // All others together, so that those that join most come first: a small rule that is a little wrong must not
            // stand in the way of a large one that is right.
            let offered = self.offered().into_iter().filter(|candidate| !is_known(candidate));
            let candidates = offered.chain(self.suggested());
            let (late, candidates) = candidates.partition(|candidate| candidate.draft.is_late());
            self.take(candidates);
            if self.accepted.len() == before {
                self.take(late);
            }
            if self.accepted.len() == before {
                break;
            }
        }
    }

    /// How many labels are wrong. A rule that is right fails as often as labels are wrong, and one that is wrong more
    /// often: so the rules that fail least tell, as many as it takes for enough votes.
    fn estimate_noise(&mut self) -> Noise {
        let mut candidates = self.offered();
        candidates.extend(self.suggested().into_iter().take(thresholds::search::MAX_ASKED_FOR_NOISE));
        let votes = self.each_affordable(candidates, |candidate| self.votes_on(&candidate));
        let mut telling: Vec<Ballot> = votes
            .into_iter()
            .filter(|votes| votes.agreeing >= thresholds::search::MIN_AGREEING_FOR_NOISE)
            .map(|votes| votes.cast)
            .collect();
        telling.sort_by(|a, b| a.contested_share().total_cmp(&b.contested_share()));
        let mut least = Ballot::default();
        for cast in telling {
            let most =
                thresholds::search::NOISE_FACTOR * least.contested_share() + thresholds::search::NOISE_MARGIN;
            let is_worse = cast.contested_share() > most;
            if least.all() >= thresholds::search::ENOUGH_VOTES || (least.all() > 0 && is_worse) {
                break;
            }
            least.add(&cast);
        }
        // The least of several is less than their mean.
        let wrong = thresholds::search::NOISE_OF_LEAST * least.contested_share();
        // Where few of the votes against them can be shown to be wrong, it is the rules that are wrong, not the labels.
        let shown = if self.noise.is_of_labels {
            1.0
        } else {
            thresholds::search::WRONG_PER_PROVEN * least.disbelieved_share()
        };
        Noise { wrong: wrong.min(shown), proven: least.disbelieved_share(), votes: least.all(), ..self.noise }
    }

    /// Tries candidates and makes those that are believed, those that join most first; whether any was.
    fn take(&mut self, candidates: Vec<Candidate>) -> bool {
        let before = self.accepted.len();
        self.tried += candidates.len();
        let mut candidates = candidates;
        candidates.retain(|candidate| {
            let Candidate { draft, .. } = candidate;
            !self.is_made(draft) && !self.is_hopeless(draft) && self.may_join_hosts(draft)
        });
        let judged = self.each_affordable(candidates, |candidate| self.judged(candidate));
        let mut believed = Vec::new();
        for judged in judged.into_iter().flatten() {
            match judged.refusal {
                None => believed.push(judged),
                Some(_) if self.is_worth_remembering(&judged) => {
                    self.refused.insert(judged.candidate.draft.clone(), judged);
                }
                Some(_) => drop(self.refused.remove(&judged.candidate.draft)),
            }
        }
        // What is sure comes first: it may leave what is not with nothing but failures.
        believed.sort_by_key(|judged| {
            let Tally { all, against, .. } = judged.votes.cast.tally(&self.noise);
            let Votes { merged, idle, .. } = judged.votes;
            let Draft { when, .. } = &judged.candidate.draft;
            // Of two that join as much, the one that changes less for nothing, and in a simpler way.
            let is_counted = judged.candidate.draft.counts();
            let is_shape = |test: &Test| *test == Test::Absent || *test == Test::Any(ValueClass::Text.into());
            let tests = when.values().filter(|test| !is_shape(test)).count();
            (against * thresholds::search::DOUBTFUL_ONE_IN > all, Reverse(merged), idle, is_counted, tests)
        });
        let mut seen = HashSet::default();
        for judged in believed {
            if !seen.insert(judged.candidate.draft.clone()) {
                continue;
            }
            // Those before it may have done its work.
            let moves = self.table.moves(&judged.candidate.draft);
            let again = if self.accepted.len() == before {
                judged
            } else {
                let votes = self.count(&moves, &joined(&self.table, &moves), &judged.candidate);
                self.judge(judged.candidate, votes)
            };
            if again.refusal.is_none() {
                let harm = self.harm(&again.candidate);
                let standard = self.standard();
                let case = standard.case(&again.candidate, &again.votes, harm);
                let (trust, exposure) = (case.trust(), case.exposure());
                self.exposures.push(exposure);
                self.holds_everywhere &= self.holds_on_all_hosts(&again.candidate);
                let rule = write_rule(&self.table, &again, &moves, &self.noise, trust);
                self.rules.push(rule);
                self.table.apply(&again.candidate.draft, &moves);
                self.votes = Mutex::default();
                self.refused.remove(&again.candidate.draft);
                self.accepted.push(again);
            }
        }
        self.accepted.len() > before
    }

    /// Whether a value counts as none of a key of which another value does so already. A key has one default: if it has
    /// two, it does not matter at all, which is more to prove.
    fn has_default(&self, draft: &Draft) -> bool {
        let made: Vec<(&UrlPart, Option<&Value>)> =
            self.accepted.iter().flat_map(|judged| judged.candidate.draft.taken_for_none()).collect();
        let is_another = |(key, value)| made.iter().any(|&(other, made)| key == other && value != made);
        draft.taken_for_none().into_iter().any(is_another)
    }

    /// Whether every host whose URLs it would rewrite says itself that its pages are those of another.
    fn may_join_hosts(&self, draft: &Draft) -> bool {
        let corpus = self.table.corpus();
        let is_declared = |value: &Value, becomes: Option<&str>| {
            value.as_text().is_some_and(|label| corpus.is_declared_host(label, becomes))
        };
        self.proof.trusts_hosts
            || draft.change.iter().all(|change| match change.facts().takes {
                Taken::Values(UrlPart::Subdomain(_), values) => {
                    values.iter().all(|mapped| is_declared(&mapped.is, mapped.becomes.as_deref()))
                }
                Taken::Part(Spot::Key(key @ UrlPart::Subdomain(_)))
                | Taken::Value(Spot::Key(key @ UrlPart::Subdomain(_))) => {
                    self.table.values_seen(key).all(|label| is_declared(label, None))
                }
                Taken::Part(_) | Taken::Value(_) | Taken::Path | Taken::Values(..) => true,
                Taken::Nothing => !change.facts().is_of_whole(),
            })
    }

    /// Whether its change is made already, wherever it holds.
    fn is_made(&self, draft: &Draft) -> bool {
        let mut made = self.accepted.iter().map(|judged| &judged.candidate.draft);
        made.any(|made| made.is_wide() && made.change == draft.change)
    }

    /// Whether most of what it would join was different before: other rules do not change that.
    fn is_hopeless(&self, draft: &Draft) -> bool {
        self.refused.get(draft).is_some_and(|judged| {
            let Tally { all, against, .. } = judged.votes.cast.tally(&self.noise);
            judged.refusal == Some(Refusal::Fails)
                && all >= thresholds::search::MIN_HOPELESS_VOTES
                && 2 * against > all
        })
    }

    /// Whether a rule that was not believed may be written, or be hopeless by now. Others are very many.
    fn is_worth_remembering(&self, judged: &Judged) -> bool {
        judged.votes.agreeing > 0 || judged.votes.cast.all() >= thresholds::search::MIN_HOPELESS_VOTES
    }

    pub(super) fn vote(&self, candidate: Candidate) -> Judged {
        let votes = self.votes_on(&candidate);
        self.judge(candidate, votes)
    }

    /// What the votes say of a candidate, and the groups that it would join.
    pub(super) fn vote_with_groups(&self, candidate: Candidate) -> (Judged, Vec<Group>) {
        let moves = self.table.moves(&candidate.draft);
        let groups = joined(&self.table, &moves);
        let votes = self.count(&moves, &groups, &candidate);
        (self.judge(candidate, votes), groups)
    }

    fn votes_on(&self, candidate: &Candidate) -> Votes {
        let lock = || self.votes.lock().unwrap_or_else(PoisonError::into_inner);
        let Candidate { draft, .. } = candidate;
        let key = (draft.clone(), candidate.slight_votes());
        let known = lock().get(&key).copied();
        if let Some((votes, work)) = known {
            // As much as if they were counted now: which of two threads counts them is a matter of chance.
            self.table.add_work(work);
            return votes;
        }
        let (moves, work) = self.table.moves_and_work(draft);
        self.table.add_work(work);
        let votes = self.count(&moves, &joined(&self.table, &moves), candidate);
        let mut known = lock();
        if known.len() < thresholds::search::MAX_KNOWN_VOTES {
            known.insert(key, (votes, work));
        }
        votes
    }

    /// The votes on a rule that moves these rows and so joins these groups.
    pub(super) fn count(&self, moves: &[(u32, u64)], groups: &[Group], candidate: &Candidate) -> Votes {
        let votes = count(&self.table, groups, candidate.slight_votes());
        Votes { idle: moves.len() as u64 - votes.joined, ..votes }
    }

    /// What rules are measured by now.
    pub(super) fn standard(&self) -> Standard {
        let corpus = self.table.corpus();
        let (urls, pages) = (corpus.len(), corpus.page_count());
        Standard { proof: self.proof, max_false_rate: self.max_false_rate, urls, pages, noise: self.noise }
    }

    /// What a rule may do beside what it is to do.
    pub(super) fn harm(&self, candidate: &Candidate) -> Harm {
        let others = if candidate.family.is_known() { None } else { self.prior_of_others(candidate) };
        others.map_or_else(|| self.harm_by_itself(candidate), Harm::AsOthers)
    }

    /// What a rule may do beside what it is to do, whatever is known of others: these only ever make a rule less trusted.
    fn harm_by_itself(&self, Candidate { draft, is_suspect, .. }: &Candidate) -> Harm {
        let is_harmless = !is_suspect && draft.is_harmless() && !self.has_default(draft);
        if is_harmless { Harm::None } else { Harm::Possible }
    }

    /// Of a rule that takes values for none: what is known of the same for other values of their keys, where at most half of
    /// the votes are against that.
    fn prior_of_others(&self, candidate: &Candidate) -> Option<Prior> {
        let taken: Vec<(&UrlPart, &Value)> = candidate
            .draft
            .taken_for_none()
            .into_iter()
            .filter_map(|(key, value)| Some((key, value.filter(|_| self.table.values_of(key).values > 1)?)))
            .collect();
        if taken.is_empty() {
            return None;
        }
        let tally = |draft: Draft| {
            let votes = self.votes_on(&Candidate { draft, ..candidate.clone() });
            let Tally { all, against } = votes.cast.tally(&self.noise);
            (against, all)
        };
        let drops: Vec<Change> =
            taken.iter().map(|(key, _)| Change::Drop(Spot::Key((*key).clone()))).collect();
        let without = |&(key, value): &(&UrlPart, &Value)| {
            let others = Test::Not(vec![value.clone()]);
            tally(Draft {
                when: [(Spot::Key(key.clone()), others)].into(),
                change: drops.clone(),
                ..Draft::default()
            })
        };
        let (against, all) =
            taken.iter().map(without).fold((0, 0), |sum, (against, all)| (sum.0 + against, sum.1 + all));
        if 2 * against > all {
            return None;
        }
        let frequent = |(key, value): (&UrlPart, &Value)| -> Vec<(u64, u64)> {
            let values = self.table.values_of(key).frequent.iter().map(|&pair| self.table.value_of(pair));
            let others = values.filter(|other| *other != value).take(thresholds::search::MAX_OTHER_VALUES);
            others
                .map(|other| tally(Draft::everywhere(vec![nothing_for(key.clone(), other.clone())])))
                .collect()
        };
        let others: Vec<(u64, u64)> = taken.into_iter().flat_map(frequent).collect();
        Some(Prior::like(&others, against as f64 / all.max(1) as f64))
    }

    /// What the rules that were made lose at most, with 95 % confidence. Of the votes against them only those count that lose a page:
    /// most pages are shown at other URLs, too.
    pub(super) fn promise(&self) -> Promise {
        let pages = self.table.corpus().page_count() as u64;
        let against: u64 = self.exposures.iter().map(|exposure| exposure.against).sum();
        let losing = (self.lost_pages() as f64 / against.max(1) as f64).min(1.0);
        let losing = |exposure: &Exposure| Exposure {
            against: (losing * exposure.against as f64).ceil() as u64,
            ..*exposure
        };
        let exposures: Vec<Exposure> = self.exposures.iter().map(losing).collect();
        let (_, most) = expected_loss(&exposures);
        Promise { lost: (most.ceil() as u64).min(pages), pages }
    }

    /// Pages of which every URL has the form of another page, and is known to show something else than that.
    fn lost_pages(&self) -> u64 {
        let corpus = self.table.corpus();
        let mut rows: Vec<(u64, u32, u32)> = (0..corpus.len() as u32)
            .filter_map(|row| Some((self.table.form_id(row), corpus.label(row)?, row)))
            .collect();
        rows.sort_unstable();
        let mut is_kept = vec![false; corpus.page_count()];
        for form in rows.chunk_by(|a, b| a.0 == b.0) {
            let pages = form.chunk_by(|a, b| a.1 == b.1);
            let Some(leading) = pages.max_by_key(|page| (page.len(), Reverse(page[0].2))) else { continue };
            for &(_, label, row) in form {
                is_kept[label as usize] |=
                    label == leading[0].1 || corpus.relation(leading[0].2, row) != Relation::Different;
            }
        }
        is_kept.into_iter().filter(|is_kept| !is_kept).count() as u64
    }

    fn judge(&self, candidate: Candidate, votes: Votes) -> Judged {
        if votes.merged == 0 {
            return Judged { candidate, votes, refusal: Some(Refusal::JoinsNothing) };
        }
        let judge = |harm: Harm| self.standard().case(&candidate, &votes, harm).judge().err();
        let mut refusal = judge(self.harm_by_itself(&candidate)).or_else(|| judge(self.harm(&candidate)));
        // Of several changes at once, each must hold by itself: the votes may all be about one of them.
        if refusal.is_none()
            && candidate.draft.change.len() > 1
            && self.parts_of(&candidate).any(|part| self.fails(part))
        {
            refusal = Some(Refusal::Fails);
        }
        Judged { candidate, votes, refusal }
    }

    /// Whether part of a rule fails by itself; of what is known to fail rarely, few votes do not tell.
    fn fails(&self, part: Candidate) -> bool {
        let is_rare = part.family == Family::Tracking;
        let judged = self.vote(part);
        judged.refusal == Some(Refusal::Fails)
            && (!is_rare || judged.votes.cast.all() >= thresholds::search::MIN_VOTES_OF_PART)
    }

    /// The changes of a rule one by one, where each could be made without the others.
    pub(super) fn parts_of(&self, candidate: &Candidate) -> impl Iterator<Item = Candidate> {
        let Draft { when, change, .. } = &candidate.draft;
        let is_apart = |change: &Change| !matches!(change.facts().takes, Taken::Nothing);
        let parts = if change.iter().all(is_apart) { change.as_slice() } else { &[] };
        parts.iter().map(|part| Candidate {
            draft: Draft { when: when.clone(), change: vec![part.clone()], ..Draft::default() },
            ..candidate.clone()
        })
    }
}
