/*!
All that is known of one site: its URLs, which of them stand for a page, and what comes back.

Records go in, one after the other, and give the same state whether they happen now or were read from disk. A page is known by the key of
its URLs, and held by the first URL that showed it. When rules change, keys do, and who holds what is found out anew. Reads and writes
no files.
*/

mod holders;

use std::sync::Arc;

use foldhash::{HashMap, HashSet};
use hashbrown::HashTable;

use crate::audit::{Audit, Budget, Finding};
use crate::knowledge::Knowledge;
use crate::record::{Record, Row};
use crate::verdict::Verdict;

/// What became of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It is being fetched.
    Waiting,
    /// It was being fetched when the process ended. Asked for again, it is fetched again.
    Released,
    /// It showed a page.
    Shown,
    /// It leads to another URL.
    Led,
    /// There is no such page.
    Gone,
    /// Fetching it failed, which says nothing of its page.
    Failed,
    /// It was not fetched.
    Skipped,
    /// It was not fetched, and is to be now.
    Returning,
}

const STATES: usize = State::Returning as usize + 1;

/// A URL.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The hash of the URL.
    url: u64,
    /// The hash of its key.
    key: u64,
    /// Since when it is being fetched, in seconds; or a hash of the text that it showed.
    note: u32,
    state: State,
}

/// A URL that leads to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Led {
    /// The hash of that URL.
    pub(crate) target: u64,
    /// The hash of its key.
    pub(crate) key: u64,
}

/// What is known of a site.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) name: Arc<str>,
    entries: Vec<Entry>,
    /// Entries by their URLs.
    urls: HashTable<u32>,
    /// The entry that holds each key.
    holders: HashTable<u32>,
    led: HashMap<u32, Led>,
    /// How many URLs of a key said that there is no such page.
    gone: HashMap<u64, u32>,
    pub(crate) audits: Vec<Audit>,
    /// The audit of each entry that has one.
    audit_of: HashMap<u32, u32>,
    pub(crate) budget: Budget,
    pub(crate) knowledge: Knowledge,
    /// Records so far.
    pub(crate) records: u64,
    /// Rows so far.
    pub(crate) rows: u64,
    /// Audits that did not show the same text, since the site was last looked at.
    pub(crate) doubts: u64,
    counts: [u32; STATES],
    /// Keys whose holders failed.
    orphans: HashSet<u64>,
    /// Whether it is being learned from.
    pub(crate) is_busy: bool,
    /// URLs that were met and links that were followed since that was begun.
    pub(crate) recent: Vec<(Recent, Box<[u8]>)>,
    pub(crate) last_used: u64,
    /// Bytes that it took when they were counted last.
    pub(crate) counted_bytes: usize,
}

/// What a text stands for that came while a site was learned from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recent {
    /// The URL of an entry.
    Url(u32),
    /// Where an entry leads.
    Target(u32),
}

/// The answer to a URL, before it is decided whether it is audited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It is new, and fetched.
    New,
    /// It is fetched again, or at last.
    Again(u32),
    /// It is new, and its page is that of this entry.
    Duplicate(u32),
    /// It was met before, and is not to be fetched.
    Known,
    /// It was met before, and what was fetched since is its page.
    NowDuplicate(u32),
}

/// When a fetch that began before counts as given up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    pub(crate) seconds: u32,
    pub(crate) patience: u32,
}

impl Now {
    fn is_late(self, since: u32) -> bool {
        self.seconds.saturating_sub(since) > self.patience
    }
}

impl Site {
    pub(crate) fn new(name: Arc<str>, audit: f64) -> Self {
        Self {
            name,
            entries: Vec::new(),
            urls: HashTable::new(),
            holders: HashTable::new(),
            led: HashMap::default(),
            gone: HashMap::default(),
            audits: Vec::new(),
            audit_of: HashMap::default(),
            budget: Budget::new(audit),
            knowledge: Knowledge::default(),
            records: 0,
            rows: 0,
            doubts: 0,
            counts: [0; STATES],
            orphans: HashSet::default(),
            is_busy: false,
            recent: Vec::new(),
            last_used: 0,
            counted_bytes: 0,
        }
    }

    /// Bytes that it takes, roughly.
    pub(crate) fn held_bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>()
            + (self.urls.capacity() + self.holders.capacity()) * 5
            + self.audits.capacity() * size_of::<Audit>()
            + self.led.capacity() * 32
            + self.knowledge.held_bytes()
            + 1024
    }

    pub(crate) fn len(&self) -> u32 {
        self.entries.len() as u32
    }

    pub(crate) fn count(&self, state: State) -> u64 {
        self.counts[state as usize].into()
    }

    pub(crate) fn entry_of(&self, url: u64) -> Option<u32> {
        self.urls.find(url, |&entry| self.entries[entry as usize].url == url).copied()
    }

    fn holder_of(&self, key: u64) -> Option<u32> {
        self.holders.find(key, |&entry| self.entries[entry as usize].key == key).copied()
    }

    /// Whether a URL that shows the page of an entry is not to be fetched.
    fn holds(&self, entry: u32, now: Now) -> bool {
        let Entry { key, note, state, .. } = self.entries[entry as usize];
        match state {
            State::Shown | State::Led | State::Returning => true,
            State::Waiting | State::Released => !now.is_late(note),
            // Two URLs of a page that say so are believed.
            State::Gone => self.gone.get(&key).is_some_and(|&count| count >= 2),
            State::Failed | State::Skipped => false,
        }
    }

    /// What to do with a URL of these hashes.
    pub(crate) fn answer(&self, url: u64, key: u64, now: Now) -> Answer {
        let holder = self.holder_of(key).filter(|&holder| self.holds(holder, now));
        let Some(entry) = self.entry_of(url) else {
            return match holder {
                Some(holder) if !self.is_awaited(holder, url) => Answer::Duplicate(holder),
                _ => Answer::New,
            };
        };
        let Entry { state, note, .. } = self.entries[entry as usize];
        match state {
            State::Shown | State::Led | State::Gone => Answer::Known,
            State::Waiting if !now.is_late(note) => Answer::Known,
            State::Returning => Answer::Again(entry),
            State::Skipped => match holder {
                Some(holder) if !self.is_awaited(holder, url) => Answer::Known,
                _ => Answer::Again(entry),
            },
            State::Waiting | State::Released | State::Failed => match holder {
                Some(holder) if holder != entry && !self.is_awaited(holder, url) => {
                    Answer::NowDuplicate(holder)
                }
                _ => Answer::Again(entry),
            },
        }
    }

    /// Whether an entry leads to a URL of its own key, which shows their page.
    fn is_awaited(&self, holder: u32, url: u64) -> bool {
        let Entry { key, state, .. } = self.entries[holder as usize];
        state == State::Led && self.led.get(&holder).is_some_and(|led| led.target == url && led.key == key)
    }

    /// Takes in what happened. `hashes` are those of the URL that is met and of its key, or of the URL and the key that a row leads to.
    pub(crate) fn apply(&mut self, record: &Record<'_>, hashes: [u64; 2], seconds: u32, is_here: bool) {
        self.records += 1;
        match *record {
            Record::Met { verdict, .. } => {
                let entry = self.len();
                let [url, key] = hashes;
                self.entries.push(Entry { url, key, note: seconds, state: State::Skipped });
                self.counts[State::Skipped as usize] += 1;
                let entries = &self.entries;
                self.urls.insert_unique(url, entry, |&entry| entries[entry as usize].url);
                self.decide(entry, verdict, seconds, is_here);
            }
            Record::Again { entry, verdict, .. } if entry < self.len() => {
                self.decide(entry, verdict, seconds, is_here);
            }
            Record::Audited { entry, holder, chance } => {
                let finding = Finding::Open;
                self.audit_of.insert(entry, self.audits.len() as u32);
                self.audits.push(Audit { entry, holder, chance, finding, is_joined: true });
                self.budget.spend();
            }
            Record::Row { entry, row } if entry < self.len() => {
                self.rows += 1;
                self.observe(entry, &row, hashes);
            }
            Record::Failed { entry } if entry < self.len() => self.fail(entry),
            _ => {}
        }
    }

    fn decide(&mut self, entry: u32, verdict: Verdict, seconds: u32, is_here: bool) {
        if verdict == Verdict::Skip {
            self.set_state(entry, State::Skipped);
            self.budget.earn();
            return;
        }
        self.entries[entry as usize].note = seconds;
        self.set_state(entry, if is_here { State::Waiting } else { State::Released });
        if verdict == Verdict::Fetch {
            self.hold(entry);
        }
    }

    fn observe(&mut self, entry: u32, row: &Row<'_>, target: [u64; 2]) {
        let clues = &row.clues;
        let audit = self.audit_of.get(&entry).map(|&audit| self.audits[audit as usize]);
        let is_audited = audit.is_some();
        match clues.status {
            Some(500.. | 408 | 425 | 429) => return self.fail(entry),
            _ if row.is_empty() => return self.fail(entry),
            Some(400..) => {
                let key = self.entries[entry as usize].key;
                if self.entries[entry as usize].state != State::Gone {
                    *self.gone.entry(key).or_default() += 1;
                }
                self.set_state(entry, State::Gone);
                self.orphan(entry);
            }
            Some(300..400) if clues.redirect.is_some() => {
                let [target, key] = target;
                self.led.insert(entry, Led { target, key });
                self.set_state(entry, State::Led);
                if !is_audited {
                    self.hold(entry);
                }
                // The URL that shows the page may have been skipped for this one.
                if let Some(next) = self.entry_of(target)
                    && key == self.entries[entry as usize].key
                    && self.entries[next as usize].state == State::Skipped
                {
                    self.set_state(next, State::Returning);
                    self.hold(next);
                }
            }
            _ => {
                self.entries[entry as usize].note = text_of(row);
                self.set_state(entry, State::Shown);
                if !is_audited {
                    self.hold_if_free(entry);
                }
            }
        }
        if let Some(audit) = audit
            && !self.is_alike(audit.entry, audit.holder)
        {
            self.doubts += 1;
        }
    }

    /// Whether two entries showed the same text.
    fn is_alike(&self, entry: u32, other: u32) -> bool {
        let (Some(one), Some(two)) = (self.entries.get(entry as usize), self.entries.get(other as usize))
        else {
            return false;
        };
        match (one.state, two.state) {
            (State::Shown, State::Shown) => one.note == two.note && one.note != 0,
            (State::Led, _) => self.led.get(&entry).is_some_and(|led| led.target == two.url),
            _ => false,
        }
    }

    fn fail(&mut self, entry: u32) {
        if self.entries[entry as usize].state == State::Shown {
            return;
        }
        self.set_state(entry, State::Failed);
        self.orphan(entry);
    }

    /// Notes that somebody else must show the page of an entry.
    fn orphan(&mut self, entry: u32) {
        let key = self.entries[entry as usize].key;
        if self.count(State::Skipped) > 0 && self.holder_of(key) == Some(entry) {
            self.orphans.insert(key);
        }
    }

    fn set_state(&mut self, entry: u32, state: State) {
        let before = std::mem::replace(&mut self.entries[entry as usize].state, state);
        self.counts[before as usize] -= 1;
        self.counts[state as usize] += 1;
    }

    /// From now on, an entry stands for its page.
    fn hold(&mut self, entry: u32) {
        let (entries, key) = (&self.entries, self.entries[entry as usize].key);
        let place = self.holders.entry(
            key,
            |&other| entries[other as usize].key == key,
            |&other| entries[other as usize].key,
        );
        place.insert(entry);
    }

    fn hold_if_free(&mut self, entry: u32) {
        let holder = self.holder_of(self.entries[entry as usize].key);
        let is_free = holder.is_none_or(|holder| {
            !matches!(self.entries[holder as usize].state, State::Shown | State::Waiting)
        });
        if is_free {
            self.hold(entry);
        }
    }

    /// Entries that come back, first first: at most so many.
    pub(crate) fn returning(&mut self, most: usize, now: Now) -> Vec<u32> {
        if self.count(State::Waiting) + self.count(State::Released) > 0 {
            self.give_up(now);
        }
        if !self.orphans.is_empty() {
            let orphans = std::mem::take(&mut self.orphans);
            for entry in 0..self.len() {
                if orphans.contains(&self.entries[entry as usize].key) {
                    self.settle(entry);
                }
            }
        }
        if self.count(State::Returning) == 0 {
            return Vec::new();
        }
        let is_returning = |entry: &u32| self.entries[*entry as usize].state == State::Returning;
        (0..self.len()).filter(is_returning).take(most).collect()
    }

    /// Gives on the pages of fetches that took too long, if any can have: entries are in the order in which they were met.
    fn give_up(&mut self, now: Now) {
        if self.count(State::Skipped) == 0 || now.seconds <= now.patience {
            return;
        }
        let is_waiting = |entry: &Entry| matches!(entry.state, State::Waiting | State::Released);
        let late = self.entries.iter().filter(|entry| is_waiting(entry) && now.is_late(entry.note));
        let keys: Vec<u64> = late.map(|entry| entry.key).collect();
        for key in keys {
            if let Some(holder) = self.holder_of(key)
                && is_waiting(&self.entries[holder as usize])
                && now.is_late(self.entries[holder as usize].note)
            {
                self.set_state(holder, State::Failed);
                self.orphans.insert(key);
            }
        }
    }

    /// Whether fetches are waited for whose pages others may have to show.
    pub(crate) fn is_waited_for(&self) -> bool {
        self.count(State::Skipped) > 0 && self.count(State::Waiting) + self.count(State::Released) > 0
    }

    /// Whether something may come back.
    pub(crate) fn has_returning(&self) -> bool {
        self.count(State::Returning) > 0 || !self.orphans.is_empty()
    }
}

/// A hash of the text of a page; 0 where that is not known.
fn text_of(row: &Row<'_>) -> u32 {
    let clues = &row.clues;
    let text = clues.text_digest.or(clues.digest);
    text.map_or(0, |text| (xxhash_rust::xxh3::xxh3_64(text) as u32).max(1))
}
