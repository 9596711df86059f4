/*!
The live crawl: URLs and what fetches showed in, verdicts out.
*/

mod load;

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;
use std::sync::Arc;

use dedust::{Normalizer, ParsedUrl, RuleSet, Scratch};
use dedust_crawl::CrawlRow;
use dedust_learn::Trainer;
use dedust_learn::support::LinkTargets;
use dedust_seen::KeyHasher;
use foldhash::HashMap;

use crate::error::{AdmitError, LiveError};
use crate::folder::Folder;
use crate::lesson::{Learned, Lesson};
use crate::log::Log;
use crate::options::LiveOptions;
use crate::record::{Record, Records, Row};
use crate::site::{Answer, Now, Recent, Site};
use crate::status::{Status, Sums};
use crate::verdict::Verdict;

/// Rows of a site before it is learned from for the first time.
const FIRST_ROWS: u64 = 50;
/// Records of a site after which its bytes are counted again.
const COUNTED_RECORDS: u64 = 64;
/// Doubts about audits before they are looked at for the first time.
const FIRST_DOUBTS: u64 = 2;

/// A crawl that is learned from while it goes on.
///
/// ```
/// use dedust_live::{LiveCrawl, LiveOptions, Verdict};
///
/// # let folder = tempfile::tempdir()?;
/// let mut crawl = LiveCrawl::open(&folder.path().join("state"), LiveOptions::default())?;
/// assert_eq!(crawl.admit(b"http://a.example/?b=1&a=2")?.verdict, Verdict::Fetch);
/// assert_eq!(crawl.admit(b"http://A.example?a=2&b=1")?.verdict, Verdict::Skip);
/// crawl.save()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct LiveCrawl {
    options: LiveOptions,
    /// Rules that serve where a site has none.
    rules: Arc<Normalizer>,
    trainer: Trainer,
    log: Log,
    hasher: KeyHasher,
    chooser: KeyHasher,
    sites: HashMap<Arc<str>, Site>,
    held_bytes: usize,
    used: u64,
    /// Sites that are to be learned from.
    due: VecDeque<Arc<str>>,
    busy: usize,
    /// Sites of which URLs may come back.
    returning: BTreeSet<Arc<str>>,
    /// Sites whose rules are others since somebody asked.
    changed: BTreeSet<Arc<str>>,
    work: Work,
}

/// Buffers.
#[derive(Debug, Default)]
struct Work {
    url: ParsedUrl,
    scratch: Scratch,
    key: Vec<u8>,
    links: LinkTargets,
    record: Vec<u8>,
}

/// The answer to a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admission<'a> {
    /// Whether it is to be fetched.
    pub verdict: Verdict,
    /// Its key, by the rules of now.
    pub key: &'a [u8],
}

impl LiveCrawl {
    /// Opens a state, which is made if the folder is not there. No other process can have it open.
    pub fn open(folder: &Path, options: LiveOptions) -> Result<Self, LiveError> {
        options.check()?;
        let trainer = Trainer::builder().options(options.learn.clone()).build()?;
        let folder = Folder::open(folder)?;
        let (hasher, chooser) = (folder.hasher(), folder.chooser());
        let log = Log::open(folder, options.journal_bytes)?;
        let returning = log.sites()?.into_iter().collect();
        Ok(Self {
            rules: Arc::new(options.rules.clone().unwrap_or_default()),
            options,
            trainer,
            log,
            hasher,
            chooser,
            sites: HashMap::default(),
            held_bytes: 0,
            used: 0,
            due: VecDeque::new(),
            busy: 0,
            returning,
            changed: BTreeSet::new(),
            work: Work::default(),
        })
    }

    /// Says whether a URL is to be fetched. The answer is remembered when it was [saved](Self::save).
    pub fn admit(&mut self, url: &[u8]) -> Result<Admission<'_>, AdmitError> {
        self.work.url.parse_from(url)?;
        let name = self.load_site()?;
        let [url, key] = self.hashes(&name);
        let now = self.now();
        let Some(site) = self.sites.get_mut(&name) else { return Ok(self.admission(Verdict::Fetch)) };
        let answer = site.answer(url, key, now);
        let (verdict, entry, holder) = match answer {
            Answer::Known => return Ok(self.admission(Verdict::Skip)),
            Answer::New => (Verdict::Fetch, None, None),
            Answer::Again(entry) => (Verdict::Fetch, Some(entry), None),
            Answer::Duplicate(holder) => (Verdict::Skip, None, Some(holder)),
            Answer::NowDuplicate(holder) => (Verdict::Skip, Some(entry_of(site, url)), Some(holder)),
        };
        let chance = site.budget.chance();
        let is_audited = holder.is_some() && has_rules(site, &self.options) && chance > self.draw_of(url);
        let verdict = if is_audited { Verdict::Audit } else { verdict };
        let epoch = self.log.folder.epoch;
        let safe = std::mem::take(&mut self.work.url);
        match entry {
            None => {
                self.note(&name, &Record::Met { verdict, epoch, url: safe.as_bytes() }, [url, key], now);
                self.note_recent(&name, Recent::Url, safe.as_bytes());
            }
            Some(entry) => self.note(&name, &Record::Again { entry, verdict, epoch }, [url, key], now),
        }
        if let (true, Some(holder)) = (is_audited, holder) {
            let entry = self.sites.get(&name).map_or(0, |site| entry_of(site, url));
            let audited = Record::Audited { entry, holder, chance: chance as f32 };
            self.note(&name, &audited, [0, 0], now);
        }
        self.work.url = safe;
        Ok(self.admission(verdict))
    }

    /// Takes in what a fetch showed; one that says nothing of a page is a fetch that failed. URLs of redirects that were followed on the way count as
    /// fetched. It is remembered when it was [saved](Self::save).
    pub fn observe(&mut self, row: &CrawlRow) -> Result<(), AdmitError> {
        let hops: Vec<Vec<u8>> = row.redirected_from().map(<[u8]>::to_vec).collect();
        let nexts = hops.iter().skip(1).map(Vec::as_slice).chain([row.url()]);
        for (hop, next) in hops.iter().zip(nexts).filter(|(hop, next)| *hop != next) {
            let clues = dedust_learn::Clues { redirect: Some(next), status: Some(302), ..Default::default() };
            self.observe_row(hop, Row { clues, ..Row::default() })?;
        }
        self.observe_row(row.url(), Row::of(row))
    }

    /// Takes in that a fetch failed: its page is given to the next URL.
    pub fn fail(&mut self, url: &[u8]) -> Result<(), AdmitError> {
        self.observe_row(url, Row::default())
    }

    fn observe_row(&mut self, url: &[u8], row: Row<'_>) -> Result<(), AdmitError> {
        self.work.url.parse_from(url)?;
        let name = self.load_site()?;
        let hashes = self.hashes(&name);
        let now = self.now();
        let entry = self.sites.get(&name).and_then(|site| site.entry_of(hashes[0]));
        let parsed = std::mem::take(&mut self.work.url);
        let entry = match entry {
            Some(entry) => entry,
            // Somebody fetched it without asking.
            None => {
                let met = Record::Met {
                    verdict: Verdict::Fetch,
                    epoch: self.log.folder.epoch,
                    url: parsed.as_bytes(),
                };
                self.note(&name, &met, hashes, now);
                self.note_recent(&name, Recent::Url, parsed.as_bytes());
                self.sites.get(&name).map_or(0, |site| site.len() - 1)
            }
        };
        if row.is_empty() {
            self.note(&name, &Record::Failed { entry }, [0, 0], now);
        } else {
            let mut links = std::mem::take(&mut self.work.links);
            links.resolve(&parsed, &row.clues);
            let target = links.within(&dedust_learn::Clues::default()).redirect;
            let target = target.map_or([0, 0], |target| {
                self.note_recent(&name, |_| Recent::Target(entry), target);
                let url = self.hasher.hash(target).to_hash() as u64;
                [url, self.key_of(&name, target)]
            });
            self.note(&name, &Record::Row { entry, row }, target, now);
            self.work.links = links;
        }
        self.work.url = parsed;
        self.look_at(&name);
        Ok(())
    }

    /// URLs that were skipped and are to be fetched now, at most so many: those of rules that fell, and those whose page was to be shown by a URL that could not
    /// be fetched. Each is handed out once.
    pub fn returned(&mut self, most: usize) -> Result<Vec<String>, LiveError> {
        let mut urls = Vec::new();
        let (now, epoch) = (self.now(), self.log.folder.epoch);
        for name in self.returning.clone() {
            if urls.len() >= most {
                break;
            }
            self.load(&name)?;
            let Some(site) = self.sites.get_mut(&name) else { continue };
            let entries = site.returning(most - urls.len(), now);
            if !entries.is_empty() {
                let records = self.log.snapshot(&name).read()?;
                let met = Records(&records.bytes).filter_map(|record| match record {
                    Record::Met { url, .. } => Some(url),
                    _ => None,
                });
                let mut wanted = entries.iter().copied().peekable();
                for (entry, url) in (0..).zip(met) {
                    if wanted.next_if_eq(&entry).is_some() {
                        urls.push(dedust_crawl::printable(url));
                    }
                }
            }
            for entry in entries {
                let again = Record::Again { entry, verdict: Verdict::Fetch, epoch };
                self.note(&name, &again, [0, 0], now);
            }
            if self.sites.get(&name).is_some_and(|site| !site.has_returning() && !site.is_waited_for()) {
                self.returning.remove(&name);
            }
        }
        Ok(urls)
    }

    /// Hands all answers and observations so far to the system: nothing of them is lost when the process is killed. To be called before an answer is given
    /// away.
    pub fn save(&mut self) -> Result<(), LiveError> {
        self.log.save()?;
        self.put_away();
        Ok(())
    }

    /// The next site that is to be learned from, one at a time. It is to be [learned](Lesson::learn), on any thread, and
    /// [finished](Self::finish).
    pub fn lesson(&mut self) -> Result<Option<Lesson>, LiveError> {
        while self.busy == 0
            && let Some(name) = self.due.pop_front()
        {
            self.load(&name)?;
            let Some(site) = self.sites.get_mut(&name) else { continue };
            let learns = learns(site);
            if !learns && site.knowledge.doubts + site.doubts < next_doubts(site) {
                continue;
            }
            site.is_busy = true;
            site.recent.clear();
            self.busy += 1;
            let (knowledge, audits) = (site.knowledge.clone(), site.audits.clone());
            return Ok(Some(Lesson {
                snapshot: self.log.snapshot(&name),
                site: name,
                trainer: self.trainer.clone(),
                rules: Arc::clone(&self.rules),
                knowledge,
                audits,
                hasher: self.hasher,
                learns,
            }));
        }
        Ok(None)
    }

    /// Applies what was learned of a site. URLs that were skipped and are not known to be duplicates any more [come back](Self::returned).
    pub fn finish(&mut self, learned: Learned) -> Result<(), LiveError> {
        let Learned { site: name, mut knowledge, audits, keys, led } = learned;
        self.busy = self.busy.saturating_sub(1);
        self.load(&name)?;
        let Some(site) = self.sites.get_mut(&name) else { return Ok(()) };
        let known = site.audits.len().min(audits.len());
        site.audits[..known].copy_from_slice(&audits[..known]);
        knowledge.doubts = site.knowledge.doubts + site.doubts;
        knowledge.next_doubts = knowledge.doubts + (knowledge.doubts / 2).max(FIRST_DOUBTS);
        site.doubts = 0;
        knowledge.is_renewed = knowledge.rules != site.knowledge.rules;
        if knowledge.is_renewed {
            self.changed.insert(Arc::clone(&name));
            site.budget.renew();
        }
        site.knowledge = knowledge;
        let json = site.knowledge.to_json(&site.audits);
        let recent = std::mem::take(&mut site.recent);
        site.is_busy = false;
        for (what, text) in recent {
            let key = self.key_of(&name, &text);
            if let Some(site) = self.sites.get_mut(&name) {
                site.set_key(what, key);
            }
        }
        let now = self.now();
        if let Some(site) = self.sites.get_mut(&name) {
            site.rekey(&keys, &led);
            if site.has_returning() {
                self.returning.insert(Arc::clone(&name));
            }
        }
        self.note(&name, &Record::Rules { json: &json }, [0, 0], now);
        self.look_at(&name);
        self.save()
    }

    /// Gives a lesson up that could not be learned.
    pub fn give_up(&mut self, site: &str) {
        self.busy = self.busy.saturating_sub(1);
        if let Some(site) = self.sites.get_mut(site) {
            site.is_busy = false;
            site.recent.clear();
            site.knowledge.rows = site.rows;
            site.knowledge.next_doubts = u64::MAX;
        }
    }

    /// Learns from all sites that are to be learned from, here and now.
    pub fn learn(&mut self) -> Result<(), LiveError> {
        self.save()?;
        while let Some(lesson) = self.lesson()? {
            let name = Arc::clone(&lesson.site);
            match lesson.learn() {
                Ok(learned) => self.finish(learned)?,
                Err(error) => {
                    self.give_up(&name);
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Whether a site is being learned from, or is to be.
    pub fn is_learning(&self) -> bool {
        self.busy > 0 || !self.due.is_empty()
    }

    /// How it stands. Of sites that were put away, what was known of them then.
    pub fn status(&self) -> Status {
        let mut sums = Sums::default();
        self.sites.values().for_each(|site| sums.add(site, self.options.audit));
        Status { learning: self.is_learning(), ..sums.finish() }
    }

    /// The rules of the sites whose rules are others than when this was called last. Of a site that was put away since, when it is asked for
    /// again.
    pub fn take_changed_rules(&mut self) -> RuleSet {
        let mut rules = RuleSet::new(&self.trainer.options().method);
        let sites = &self.sites;
        self.changed.retain(|name| match sites.get(name) {
            Some(site) => {
                rules.append((*site.knowledge.rules).clone());
                false
            }
            None => true,
        });
        rules
    }

    /// The rules of all sites that are held in memory.
    pub fn rules(&self) -> RuleSet {
        let mut rules = RuleSet::new(&self.trainer.options().method);
        for site in self.sites.values() {
            rules.append((*site.knowledge.rules).clone());
        }
        rules
    }

    fn admission(&self, verdict: Verdict) -> Admission<'_> {
        Admission { verdict, key: &self.work.key }
    }

    fn now(&self) -> Now {
        let seconds = u32::try_from((self.options.clock)()).unwrap_or(u32::MAX);
        let patience = u32::try_from(self.options.patience.as_secs()).unwrap_or(u32::MAX);
        Now { seconds, patience }
    }

    /// A number from 0 to 1 that nobody knows who does not know the secret.
    fn draw_of(&self, url: u64) -> f64 {
        let hash = self.chooser.hash(&url.to_le_bytes()).to_hash() as u64;
        (hash >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// The hashes of the URL that was parsed, and of its key, which is then in `work.key`.
    fn hashes(&mut self, name: &Arc<str>) -> [u64; 2] {
        let Self { sites, work, rules, hasher, .. } = self;
        let normalizer = sites.get(name).and_then(|site| site.knowledge.normalizer.as_ref()).unwrap_or(rules);
        let url = work.url.as_bytes();
        let key = normalizer.key_with(url, &mut work.scratch).unwrap_or(url);
        work.key.clear();
        work.key.extend_from_slice(key);
        [hasher.hash(url).to_hash() as u64, hasher.hash(key).to_hash() as u64]
    }

    fn key_of(&mut self, name: &Arc<str>, url: &[u8]) -> u64 {
        let Self { sites, work, rules, hasher, .. } = self;
        let normalizer = sites.get(name).and_then(|site| site.knowledge.normalizer.as_ref()).unwrap_or(rules);
        hasher.hash(normalizer.key_with(url, &mut work.scratch).unwrap_or(url)).to_hash() as u64
    }

    /// Takes in a record, and appends it to the log.
    fn note(&mut self, name: &Arc<str>, record: &Record<'_>, hashes: [u64; 2], now: Now) {
        let Some(site) = self.sites.get_mut(name) else { return };
        self.work.record.clear();
        record.write(&mut self.work.record);
        self.log.append(name, site.records, &self.work.record, 1);
        site.apply(record, hashes, now.seconds, true);
        // Now and then: tables grow seldom.
        if site.records % COUNTED_RECORDS == 0 {
            let bytes = site.held_bytes();
            self.held_bytes += bytes.saturating_sub(std::mem::replace(&mut site.counted_bytes, bytes));
        }
        if (site.has_returning() || site.is_waited_for()) && !self.returning.contains(name) {
            self.returning.insert(Arc::clone(name));
        }
    }

    /// Remembers a text whose key may be another when the lesson of its site ends.
    fn note_recent(&mut self, name: &Arc<str>, what: impl FnOnce(u32) -> Recent, text: &[u8]) {
        if let Some(site) = self.sites.get_mut(name).filter(|site| site.is_busy) {
            let entry = site.len() - 1;
            site.recent.push((what(entry), text.into()));
        }
    }

    /// Has a site learned from when it is time.
    fn look_at(&mut self, name: &Arc<str>) {
        let Some(site) = self.sites.get(name) else { return };
        let is_due =
            !site.is_busy && (learns(site) || site.knowledge.doubts + site.doubts >= next_doubts(site));
        if is_due && !self.due.contains(name) {
            self.due.push_back(Arc::clone(name));
        }
    }
}

/// The entry of a URL that is known to have one.
fn entry_of(site: &Site, url: u64) -> u32 {
    site.entry_of(url).unwrap_or_default()
}

/// Whether anything but safe normalization joins URLs of a site.
fn has_rules(site: &Site, options: &LiveOptions) -> bool {
    site.knowledge.normalizer.is_some() || options.rules.is_some()
}

/// Whether there is enough evidence to learn of a site again: half as much as before is new.
fn learns(site: &Site) -> bool {
    let before = site.knowledge.rows;
    site.rows >= before + (before / 2).max(FIRST_ROWS)
}

fn next_doubts(site: &Site) -> u64 {
    site.knowledge.next_doubts.max(FIRST_DOUBTS)
}
