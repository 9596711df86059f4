/*!
The set as a process uses it: keys in, whether they are new out. One transaction for each batch of keys that are not known here.
*/

use std::time::{SystemTime, UNIX_EPOCH};

use redis::{Pipeline, RedisWrite, ToRedisArgs, Value, pipe};

use super::address::{self, Address};
use super::filter::Filter;
use super::link::Link;
use super::marker::Marker;
use super::names::{CurrentSets, Names, version_of};
use super::session;
use crate::error::{SeenError, ServerError};
use crate::key::{KEY_BYTES, KeyHasher, KeySet, SECRET_BYTES, SeenKey, random_secret};
use crate::options::ServerOptions;
use crate::stats::SeenStats;

/// Keys of a transaction. The server does nothing else for some milliseconds.
const BATCH_KEYS: usize = 4096;
/// A session that nobody asks for so long is forgotten.
const SESSION_SECONDS: u64 = 7 * 24 * 60 * 60;
/// So long a process may be without a connection until its last batch is forgotten. More than anyone is patient.
const ASKER_SECONDS: u64 = 24 * 60 * 60;

impl ServerOptions {
    /// Connects to the set at an address, which is made if it is not there.
    pub(crate) fn connect(
        &self,
        address: &str,
        rules: Option<u128>,
        recent_keys: usize,
    ) -> Result<ServerSet, SeenError> {
        let shown = address::shown(address);
        let random = Random { secret: random_secret()?, token: random_secret()? };
        let fail = |source| SeenError::Server { address: shown.clone(), source };
        let parsed = Address::parse(address).map_err(fail)?;
        self.open(&parsed, rules, recent_keys, random).map_err(fail)
    }

    fn open(
        &self,
        address: &Address,
        rules: Option<u128>,
        recent_keys: usize,
        random: Random,
    ) -> Result<ServerSet, ServerError> {
        if let Some(name) = &self.session {
            address::check_session(name)?;
        }
        let names = Names::new(&address.prefix, version_of(rules));
        let mut link = Link::new(address, self.patience)?;
        let ttl = self.ttl.map(|ttl| ttl.as_secs().max(1));
        let marker = join(&mut link, &names, ttl, random.secret)?;
        let rules_changed = match rules {
            Some(_) => exchange_rules(&mut link, &names)?,
            None => false,
        };
        register(&mut link, &names, self.session.as_deref())?;
        let current = names.current_sets(marker.ttl, now());
        let mut set = ServerSet {
            shown: address.to_string(),
            asker: names.asker(&format!("{:032x}", u128::from_le_bytes(random.token))),
            session: self.session.clone(),
            hasher: marker.hasher(),
            ttl: marker.ttl,
            marker: marker.encode(),
            filter: Filter::new(recent_keys),
            period: current.period,
            batches: 0,
            figures: SeenStats { rules_changed, ..SeenStats::default() },
            link,
            names,
            failure: None,
            has_failed: false,
            next: Batch::default(),
            in_next: KeySet::default(),
        };
        set.figures.keys = set.count(&current)?;
        Ok(set)
    }
}

/// What nobody else can know.
struct Random {
    /// Of the set, if it is not there yet.
    secret: [u8; SECRET_BYTES],
    /// The name of this process among those that ask.
    token: [u8; SECRET_BYTES],
}

/// Makes the set if it is not there, and reads what it needs to be used.
fn join(
    link: &mut Link,
    names: &Names,
    ttl: Option<u64>,
    secret: [u8; SECRET_BYTES],
) -> Result<Marker, ServerError> {
    let ours = Marker { secret, ttl: ttl.unwrap_or(0) };
    let name = names.marker();
    let (found,) = link.run(|connection, _| {
        let mut pipe = pipe();
        pipe.cmd("SETNX").arg(&name).arg(ours.encode()).ignore().cmd("GET").arg(&name);
        pipe.query::<(Vec<u8>,)>(connection)
    })?;
    let marker = Marker::decode(&found)?;
    match ttl {
        Some(expected) if expected != marker.ttl => {
            Err(ServerError::OtherTtl { found: marker.ttl, expected })
        }
        _ => Ok(marker),
    }
}

/// Notes the rules that are used from now on. Whether those before were others; not if none are known.
fn exchange_rules(link: &mut Link, names: &Names) -> Result<bool, ServerError> {
    let before = link.run(|connection, _| {
        let mut exchange = redis::cmd("GETSET");
        exchange.arg(names.last_rules()).arg(names.version());
        exchange.query::<Option<Vec<u8>>>(connection)
    })?;
    Ok(before.is_some_and(|before| before != names.version().as_bytes()))
}

/// Says on the server that there are keys of these rules, and a session.
fn register(link: &mut Link, names: &Names, session: Option<&str>) -> Result<(), ServerError> {
    let mut pipe = pipe();
    pipe.cmd("SADD").arg(names.versions()).arg(names.version()).ignore();
    if let Some(session) = session {
        pipe.cmd("SADD").arg(names.sessions()).arg(session).ignore();
    }
    link.run(|connection, _| pipe.query::<()>(connection))
}

/// Writes a marker if there is none, and asks for the one that there is: two answers.
fn ask_for_marker(pipe: &mut Pipeline, names: &Names, marker: &str) {
    pipe.cmd("SETNX").arg(names.marker()).arg(marker).cmd("GET").arg(names.marker());
}

/// Seconds since 1970, by the clock of this machine.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// A key as the server has it.
#[derive(Clone, Copy)]
struct KeyBytes([u8; KEY_BYTES]);

impl ToRedisArgs for KeyBytes {
    fn write_redis_args<W: ?Sized + RedisWrite>(&self, out: &mut W) {
        out.write_arg(&self.0);
    }
}

/// A set that other processes use too.
pub(crate) struct ServerSet {
    /// Its address, without user and password.
    shown: String,
    link: Link,
    names: Names,
    /// Where the number of the last batch of this process is.
    asker: String,
    session: Option<String>,
    hasher: KeyHasher,
    ttl: u64,
    /// What makes the prefix this set, as the server has it.
    marker: String,
    filter: Filter,
    period: u64,
    /// Batches that were sent.
    batches: u64,
    figures: SeenStats,
    /// Why there are no answers any more, until it is reported.
    failure: Option<ServerError>,
    has_failed: bool,
    next: Batch,
    in_next: KeySet,
}

/// Keys that are asked for together, each once.
#[derive(Default)]
struct Batch {
    keys: Vec<KeyBytes>,
    /// Where their answers go.
    at: Vec<usize>,
}

impl ServerSet {
    pub(crate) fn hasher(&self) -> KeyHasher {
        self.hasher
    }

    /// Adds for each key whether it is new.
    ///
    /// What was answered before a failure must reach whoever asked, and what was not may be new. So a failure is reported by the next call.
    pub(crate) fn insert_batch(&mut self, keys: &[SeenKey], is_new: &mut Vec<bool>) -> Result<(), SeenError> {
        self.check()?;
        self.figures.lookups += keys.len() as u64;
        for &SeenKey(key) in keys {
            let is_asked = !self.filter.contains(key) && self.in_next.insert(key);
            if is_asked {
                self.next.at.push(is_new.len());
                self.next.keys.push(KeyBytes(key.to_be_bytes()));
            }
            is_new.push(is_asked);
            if self.next.keys.len() == BATCH_KEYS {
                self.ask(is_new);
            }
        }
        self.ask(is_new);
        Ok(())
    }

    /// Tells a failure, once in full.
    fn check(&mut self) -> Result<(), SeenError> {
        match self.failure.take() {
            Some(source) => Err(SeenError::Server { address: self.shown.clone(), source }),
            None if self.has_failed => Err(SeenError::Failed),
            None => Ok(()),
        }
    }

    /// Asks for the keys of the next batch.
    fn ask(&mut self, is_new: &mut [bool]) {
        let batch = std::mem::take(&mut self.next);
        if batch.keys.is_empty() {
            return;
        }
        let (count, at) = (batch.keys.len() as u64, batch.at.clone());
        if self.has_failed {
            self.figures.unconfirmed_keys += count;
        } else {
            let current = self.names.current_sets(self.ttl, now());
            if current.period != self.period {
                // The server has forgotten keys that are remembered here.
                self.filter.clear();
                self.period = current.period;
            }
            self.figures.asked_keys += count;
            if let Err(failure) = self.exchange(batch, &current, is_new) {
                self.figures.unconfirmed_keys += at.iter().filter(|&&at| is_new[at]).count() as u64;
                self.failure = Some(failure);
                self.has_failed = true;
            }
        }
        for key in self.in_next.drain() {
            self.filter.insert(key);
        }
        self.figures.new_keys += at.iter().filter(|&&at| is_new[at]).count() as u64;
    }

    /// Asks for some keys. Those that are not new are taken note of in `is_new`.
    fn exchange(
        &mut self,
        mut batch: Batch,
        current: &CurrentSets,
        is_new: &mut [bool],
    ) -> Result<(), ServerError> {
        let Some(session) = &self.session else {
            return self.add(&batch, current, &current.added_to, current.gone_in, is_new);
        };
        let target = self.names.session(session);
        // What all know is not put into the session too.
        let mut pipe = pipe();
        for set in &current.found_in {
            pipe.cmd("SMISMEMBER").arg(set).arg(&batch.keys);
        }
        let answers = self.link.run(|connection, _| pipe.query::<Vec<Value>>(connection))?;
        let is_known = any_has(&answers, batch.keys.len())?;
        let mut unknown = Batch::default();
        for ((key, at), is_known) in batch.keys.drain(..).zip(batch.at).zip(is_known) {
            if is_known {
                is_new[at] = false;
            } else {
                unknown.keys.push(key);
                unknown.at.push(at);
            }
        }
        self.add(&unknown, current, &target, Some(SESSION_SECONDS), is_new)
    }

    /// Adds keys to a set of the server in one transaction, which also says which of them it had before.
    ///
    /// The transaction writes and reads the marker: whoever removes the set, also while connections are open, removes its secret with it, and
    /// processes with two secrets would let every page through twice for ever. Keys that were added beside the secret of
    /// another are keys of nothing.
    fn add(
        &mut self,
        batch: &Batch,
        current: &CurrentSets,
        target: &str,
        gone_in: Option<u64>,
        is_new: &mut [bool],
    ) -> Result<(), ServerError> {
        if batch.keys.is_empty() {
            return Ok(());
        }
        self.batches += 1;
        let number = self.batches;
        let mut sets: Vec<&str> = current.found_in.iter().map(String::as_str).collect();
        if !sets.contains(&target) {
            sets.push(target);
        }
        let mut pipe = Pipeline::with_capacity(2 * sets.len() + 5);
        pipe.atomic();
        ask_for_marker(&mut pipe, &self.names, &self.marker);
        for set in &sets {
            pipe.cmd("SMISMEMBER").arg(set).arg(&batch.keys);
        }
        pipe.cmd("SADD").arg(target).arg(&batch.keys).ignore();
        if let Some(seconds) = gone_in {
            pipe.cmd("EXPIRE").arg(target).arg(seconds).ignore();
        }
        pipe.cmd("SET").arg(&self.asker).arg(number).arg("EX").arg(ASKER_SECONDS).ignore();
        for set in &sets {
            pipe.cmd("SCARD").arg(set);
        }
        let asker = &self.asker;
        let answers = self.link.run(|connection, was_tried| {
            if was_tried {
                // If the batch is made between this question and the transaction, over the old connection, then the transaction
                // is not: that is what is watched for.
                redis::cmd("WATCH").arg(asker).query::<()>(connection)?;
                let last: Option<u64> = redis::cmd("GET").arg(asker).query(connection)?;
                if last == Some(number) {
                    redis::cmd("UNWATCH").query::<()>(connection)?;
                    return Ok(None);
                }
            }
            pipe.query::<Option<Vec<Value>>>(connection)
        })?;
        let Some(answers) = answers else {
            self.figures.unconfirmed_keys += batch.keys.len() as u64;
            return Ok(());
        };
        let (marker, answers) = answers.split_at_checked(2).ok_or(ServerError::Malformed)?;
        self.check_marker(marker)?;
        let (members, counts) = answers.split_at_checked(sets.len()).ok_or(ServerError::Malformed)?;
        for (&at, is_known) in batch.at.iter().zip(any_has(members, batch.keys.len())?) {
            is_new[at] = !is_known;
        }
        self.figures.keys = counts.iter().filter_map(integer).map(|count| count.max(0) as u64).sum();
        Ok(())
    }

    /// Whether the set is still the one that was opened, by the answers to [`ask_for_marker`]. One that was removed, and that nobody has made anew, is
    /// so again.
    fn check_marker(&mut self, answers: &[Value]) -> Result<(), ServerError> {
        let [was_written, Value::BulkString(found)] = answers else { return Err(ServerError::Malformed) };
        if found != self.marker.as_bytes() {
            return Err(ServerError::MadeAnew);
        }
        if integer(was_written) == Some(1) {
            self.figures.removals += 1;
            register(&mut self.link, &self.names, self.session.as_deref())?;
        }
        Ok(())
    }

    /// Asks whether the set is still the one that was opened.
    fn look_for_marker(&mut self) -> Result<(), ServerError> {
        let mut pipe = pipe();
        ask_for_marker(&mut pipe, &self.names, &self.marker);
        let answers = self.link.run(|connection, _| pipe.query::<Vec<Value>>(connection))?;
        self.check_marker(&answers)
    }

    /// Asks for the keys of other rules from now on. Whether the server was last used with others.
    pub(crate) fn note_rules(&mut self, fingerprint: u128) -> Result<bool, SeenError> {
        let names = self.names.of_rules(fingerprint);
        let noted = exchange_rules(&mut self.link, &names).and_then(|is_changed| {
            register(&mut self.link, &names, self.session.as_deref())?;
            Ok(is_changed)
        });
        let noted = noted.map_err(|source| SeenError::Server { address: self.shown.clone(), source })?;
        self.filter.clear();
        self.names = names;
        Ok(noted)
    }

    /// How many keys the set has, with those of the session.
    fn count(&mut self, current: &CurrentSets) -> Result<u64, ServerError> {
        let mut pipe = pipe();
        for set in &current.found_in {
            pipe.cmd("SCARD").arg(set);
        }
        if let Some(session) = &self.session {
            pipe.cmd("SCARD").arg(self.names.session(session));
        }
        let counts = self.link.run(|connection, _| pipe.query::<Vec<u64>>(connection))?;
        Ok(counts.iter().sum())
    }

    /// What the set held when it was asked last.
    pub(crate) fn stats(&self) -> SeenStats {
        SeenStats { reconnects: self.link.reconnects, ..self.figures }
    }

    /// Ends the connection; a session stays open. Reports a failure that was not reported yet.
    pub(crate) fn close(mut self) -> Result<(), SeenError> {
        // What every process leaves behind is forgotten by the server anyway.
        if self.failure.is_some() { self.check() } else { Ok(()) }
    }

    pub(crate) fn commit(mut self) -> Result<u64, SeenError> {
        let Some(name) = self.session.take() else { return Ok(0) };
        let done = self
            .look_for_marker()
            .and_then(|()| session::commit(&mut self.link, &self.names, &name, self.ttl));
        done.map_err(|source| SeenError::Server { address: self.shown, source })
    }

    pub(crate) fn cancel(mut self) -> Result<u64, SeenError> {
        let Some(name) = self.session.take() else { return Err(SeenError::NoSession) };
        let done = self.look_for_marker().and_then(|()| session::cancel(&mut self.link, &self.names, &name));
        done.map_err(|source| SeenError::Server { address: self.shown, source })
    }
}

/// Whether any of some sets has each of so many keys, by their answers to `SMISMEMBER`.
fn any_has(answers: &[Value], keys: usize) -> Result<Vec<bool>, ServerError> {
    let mut is_known = vec![false; keys];
    for answer in answers {
        let flags = answer.as_sequence().filter(|flags| flags.len() == keys).ok_or(ServerError::Malformed)?;
        for (is_known, flag) in is_known.iter_mut().zip(flags) {
            *is_known |= integer(flag).ok_or(ServerError::Malformed)? != 0;
        }
    }
    Ok(is_known)
}

fn integer(value: &Value) -> Option<i64> {
    if let Value::Int(number) = value { Some(*number) } else { None }
}
