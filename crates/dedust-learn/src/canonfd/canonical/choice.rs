/*!
Chooses the rules that write canonical URLs: those by which most of them are alive, over all URLs at once.
*/

use std::cmp::Reverse;

use dedust::rules::{Change, Rule};
use foldhash::HashMap;
use rayon::prelude::*;

use super::pages::{Fate, Gain, Pages};
use super::tree::{Grower, Tree, WriterId};
use super::{Slot, Writer};
use crate::canonfd::families::Prior;
use crate::preference::{Form, PreferredForms, UnmetPreference, UnmetReason};
use crate::thresholds::canonical as limits;
use crate::thresholds::proof::{LIMIT, MAX_DOUBT};

/// Chooses the writers of a site.
pub(super) struct Search<'p, 'c> {
    pub(super) pages: &'p Pages<'c>,
    pub(super) slots: Vec<Slot>,
    preferred: PreferredForms,
    /// The rows that are looked at, and the index of the tree of each.
    pub(super) rows: Vec<(u32, u32)>,
    trees: Vec<Tree>,
    /// How many rows have each tree.
    counts: Vec<i64>,
    /// For each slot, the trees in which it is a branch.
    by_slot: Vec<Vec<u32>>,
}

/// What canonical URLs show of a writer: those that would be others without it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcomes {
    pub(super) alive: u64,
    pub(super) unmet: u64,
    pub(super) wrong: u64,
}

/// Whether the two writers of a slot are on.
type State = [bool; 2];

impl Outcomes {
    pub(super) fn note(&mut self, fate: Fate, count: u64) {
        match fate {
            Fate::Kept | Fate::Left => {}
            Fate::Alive => self.alive += count,
            Fate::Unmet => self.unmet += count,
            Fate::Wrong => self.wrong += count,
        }
    }

    /// Whether next to nothing of what is written is wrong, with as much proof as is asked of rules that harm nobody's key.
    fn is_good(self, prior: Prior) -> bool {
        let known = self.alive + self.wrong;
        self.alive >= limits::MIN_ALIVE && prior.doubt(self.wrong, known, LIMIT) <= MAX_DOUBT
    }
}

impl<'p, 'c> Search<'p, 'c> {
    /// `None` if no rule may write.
    pub(super) fn new(pages: &'p Pages<'c>, slots: Vec<Slot>, preferred: PreferredForms) -> Option<Self> {
        let may_write = slots.iter().any(|slot| slot.writers.iter().flatten().count() > 0);
        if !may_write || slots.len() > usize::from(WriterId::MAX >> 2) {
            return None;
        }
        let most = (limits::MAX_WORK / slots.len()).max(limits::MIN_ROWS);
        let rows = pages.asked.iter().take(most).map(|&row| (row, u32::MAX)).collect();
        let mut search = Self {
            pages,
            slots,
            preferred,
            rows,
            trees: Vec::new(),
            counts: Vec::new(),
            by_slot: Vec::new(),
        };
        search.grow(|_| true).then_some(search)
    }

    /// The slots with their writers on or off, and what people asked for in vain.
    pub(super) fn run(&mut self) -> Vec<UnmetPreference> {
        for slot in &mut self.slots {
            if slot.rule.change == [Change::SplitParams] {
                slot.writers.iter_mut().flatten().for_each(|writer| writer.is_on = true);
            }
        }
        self.choose();
        for _ in 0..limits::MAX_NARROWED {
            let mut is_better = false;
            for slot in 0..self.slots.len() {
                is_better |= self.narrow(slot);
            }
            if !is_better {
                break;
            }
        }
        while self.drop_worst() {}
        self.prefer()
    }

    /// The writers that are on, those first by which canonical URLs are worth most.
    pub(super) fn most_worth(&self) -> Vec<(usize, usize)> {
        let states = self.states();
        let mut writers: Vec<(i64, usize, usize)> = Vec::new();
        for (slot, state) in states.iter().enumerate() {
            for side in (0..2).filter(|&side| state[side]) {
                let mut without = *state;
                without[side] = false;
                writers.push((self.worth(slot, without) - self.worth(slot, *state), slot, side));
            }
        }
        writers.sort_unstable();
        writers.into_iter().map(|(_, slot, side)| (slot, side)).collect()
    }

    /// Goes on without a writer.
    pub(super) fn leave_out(&mut self, slot: usize, side: usize) {
        self.slots[slot].writers[side] = None;
        self.climb();
        while self.drop_worst() {}
    }

    /// Makes the trees of all rows whose tree is among these; false if there are too many rules.
    pub(super) fn grow(&mut self, is_asked: impl Fn(u32) -> bool + Sync) -> bool {
        let id = |slot: usize, side: usize| (2 * slot + side) as WriterId;
        let mut writers: Vec<(WriterId, &Rule)> = Vec::new();
        for is_last in [false, true] {
            for (slot, of) in self.slots.iter().enumerate() {
                let sides =
                    of.writers.iter().enumerate().filter_map(|(side, writer)| Some((side, writer.as_ref()?)));
                let placed = sides.filter(|(_, writer)| writer.is_last == is_last);
                writers.extend(placed.map(|(side, writer)| (id(slot, side), &writer.rule)));
            }
        }
        let Some(grower) = Grower::new(self.pages, &writers) else { return false };
        let trees = &self.trees;
        let tree_of = |&(row, tree): &(u32, u32)| {
            if is_asked(tree) { grower.grow(row) } else { trees[tree as usize].clone() }
        };
        let grown: Vec<Tree> = self.rows.par_iter().map(tree_of).collect();
        let mut numbers: HashMap<Tree, u32> = HashMap::default();
        self.counts.clear();
        for ((_, number), tree) in self.rows.iter_mut().zip(grown) {
            let next = numbers.len() as u32;
            *number = *numbers.entry(tree).or_insert(next);
            if *number == next {
                self.counts.push(0);
            }
            self.counts[*number as usize] += 1;
        }
        let mut trees: Vec<(u32, Tree)> = numbers.into_iter().map(|(tree, number)| (number, tree)).collect();
        trees.sort_unstable_by_key(|(number, _)| *number);
        self.trees = trees.into_iter().map(|(_, tree)| tree).collect();
        self.by_slot = vec![Vec::new(); self.slots.len()];
        for (number, tree) in (0..).zip(&self.trees) {
            let mut slots: Vec<WriterId> = tree.writers().map(|id| id / 2).collect();
            slots.sort_unstable();
            slots.dedup();
            slots.iter().for_each(|&slot| self.by_slot[usize::from(slot)].push(number));
        }
        true
    }

    fn is_on(&self, id: WriterId) -> bool {
        let writer = &self.slots[usize::from(id / 2)].writers[usize::from(id % 2)];
        writer.as_ref().is_some_and(|writer| writer.is_on)
    }

    /// The writers that are on and change the URLs of a tree: the slot and the side of each.
    pub(super) fn changing(&self, tree: u32) -> Vec<(usize, usize)> {
        let mut writers = Vec::new();
        let note = |id| writers.push((usize::from(id / 2), usize::from(id % 2)));
        self.trees[tree as usize].walk(|id| self.is_on(id), note);
        writers
    }

    /// What comes of a tree if the writers of one slot have a state, and all others stay.
    pub(super) fn fate(&self, tree: u32, slot: usize, state: State) -> (Fate, Gain) {
        self.trees[tree as usize].fate(|id| match usize::from(id / 2) == slot {
            true => state[usize::from(id % 2)],
            false => self.is_on(id),
        })
    }

    /// The trees in which a slot is a branch.
    pub(super) fn trees_of(&self, slot: usize) -> &[u32] {
        &self.by_slot[slot]
    }

    /// What the canonical URLs are worth that depend on a slot, in a state of it.
    fn worth(&self, slot: usize, state: State) -> i64 {
        let worth = |&tree: &u32| self.counts[tree as usize] * i64::from(self.fate(tree, slot, state).1);
        self.by_slot[slot].iter().map(worth).sum()
    }

    /// What all canonical URLs are worth.
    pub(super) fn total(&self) -> i64 {
        let worth = |(tree, count): (&Tree, &i64)| count * i64::from(tree.fate(|id| self.is_on(id)).1);
        self.trees.iter().zip(&self.counts).map(worth).sum()
    }

    pub(super) fn states(&self) -> Vec<State> {
        let is_on = |writer: &Option<Writer>| writer.as_ref().is_some_and(|writer| writer.is_on);
        self.slots.iter().map(|slot| [is_on(&slot.writers[0]), is_on(&slot.writers[1])]).collect()
    }

    pub(super) fn set(&mut self, states: &[State]) {
        for (slot, state) in self.slots.iter_mut().zip(states) {
            slot.set(*state);
        }
    }

    /// Turns writers on and off until no single slot makes canonical URLs better, from several starts.
    pub(super) fn choose(&mut self) {
        let as_it_is = self.states();
        let all = |search: &mut Self, state: State| {
            search.slots.iter_mut().for_each(|slot| slot.set(state));
            search.climb();
        };
        let starts: [&dyn Fn(&mut Self); 5] = [
            &|search| {
                search.set(&as_it_is);
                search.climb();
            },
            &|search| all(search, [false, false]),
            &|search| all(search, [true, false]),
            &|search| all(search, [false, true]),
            &|search| all(search, [true, true]),
        ];
        let mut best = (i64::MIN, as_it_is.clone());
        for start in starts {
            start(self);
            let total = self.total();
            if total > best.0 {
                best = (total, self.states());
            }
        }
        self.set(&best.1);
    }

    /// Changes one slot after the other where that makes canonical URLs better.
    pub(super) fn climb(&mut self) {
        for _ in 0..limits::MAX_ROUNDS {
            let mut is_better = false;
            for slot in 0..self.slots.len() {
                let now = self.states()[slot];
                let best = self.best_state(slot);
                is_better |= best != now;
                self.slots[slot].set(best);
            }
            if !is_better {
                break;
            }
        }
    }

    /// The state of a slot in which canonical URLs are worth most. Of equal ones, the first of: off, what is preferred, as it is.
    fn best_state(&self, slot: usize) -> State {
        let states = self.slots[slot].states();
        let likes = |state: &State| {
            let writers = self.slots[slot].writers.iter().zip(state);
            let mut forms =
                writers.filter(|(_, is_on)| **is_on).filter_map(|(writer, _)| writer.as_ref()?.form);
            let scheme = self.preferred.scheme.unwrap_or(Form::Https);
            forms.any(|form| form == scheme || Some(form) == self.preferred.host)
        };
        let rank = |(index, state): &(usize, State)| {
            (self.worth(slot, *state), *state == [false, false], likes(state), Reverse(*index))
        };
        states.into_iter().enumerate().max_by_key(rank).map_or([false, false], |(_, state)| state)
    }

    /// What the canonical URLs show that would be others if a slot had another state.
    pub(super) fn outcomes(&self, slot: usize, state: State) -> Outcomes {
        let mut outcomes = Outcomes::default();
        for &tree in &self.by_slot[slot] {
            let (with, without) = (self.fate(tree, slot, state), self.fate(tree, slot, [false, false]));
            if with != without {
                outcomes.note(with.0, self.counts[tree as usize] as u64);
            }
        }
        outcomes
    }

    /// Turns off the writer that writes most of what is wrong, if any writes too much; whether there was one.
    fn drop_worst(&mut self) -> bool {
        let states = self.states();
        let is_bad = |&slot: &usize| {
            let is_on =
                states[slot] != [false, false] && self.slots[slot].rule.change != [Change::SplitParams];
            is_on && !self.outcomes(slot, states[slot]).is_good(self.slots[slot].prior)
        };
        let bad = (0..self.slots.len()).filter(is_bad);
        let worst = bad.max_by_key(|&slot| {
            let Outcomes { alive, unmet, wrong } = self.outcomes(slot, states[slot]);
            (wrong, unmet as i64 - alive as i64)
        });
        let Some(worst) = worst else { return false };
        self.slots[worst].set([false, false]);
        self.slots[worst].writers.iter_mut().flatten().for_each(|writer| writer.is_refused = true);
        self.climb();
        true
    }

    /// Writes the forms that people prefer where that is better than to leave URLs alone; says where it is not.
    fn prefer(&mut self) -> Vec<UnmetPreference> {
        let mut unmet = Vec::new();
        for wanted in [self.preferred.scheme, self.preferred.host].into_iter().flatten() {
            for slot in 0..self.slots.len() {
                let forms = self.slots[slot].writers.each_ref().map(|writer| writer.as_ref()?.form);
                let Some(side) = forms.iter().position(|form| *form == Some(wanted)) else { continue };
                let state = [true, side == 1];
                if self.states()[slot][1] == state[1] && self.states()[slot] != [false, false] {
                    continue;
                }
                let is_worth = self.worth(slot, state) >= self.worth(slot, [false, false]);
                if is_worth && self.outcomes(slot, state).is_good(self.slots[slot].prior) {
                    self.slots[slot].set(state);
                } else {
                    unmet.push(UnmetPreference { form: wanted, reason: UnmetReason::SeenTooRarely });
                }
            }
        }
        unmet
    }
}

impl Slot {
    /// The states that its writers may have together.
    fn states(&self) -> Vec<State> {
        let is_free = |writer: &Option<Writer>| writer.as_ref().is_some_and(|writer| !writer.is_refused);
        let [as_it_is, turned] = self.writers.each_ref().map(is_free);
        let mut states = vec![[false, false]];
        states.extend(as_it_is.then_some([true, false]));
        states.extend(turned.then_some([false, true]));
        states.extend((as_it_is && turned).then_some([true, true]));
        states
    }

    fn set(&mut self, state: State) {
        for (writer, is_on) in self.writers.iter_mut().zip(state) {
            if let Some(writer) = writer {
                writer.is_on = is_on || writer.rule.change == [Change::SplitParams];
            }
        }
    }
}
