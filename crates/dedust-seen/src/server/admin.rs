/*!
A set on a server as those who look after it see it: whose keys are there, which sessions are open, and how each of them ends.

Takes an address, needs no rules, and asks for no keys.
*/

use redis::pipe;

use super::address::{self, Address};
use super::link::Link;
use super::marker::Marker;
use super::names::Names;
use super::session;
use super::set::now;
use crate::error::{SeenError, ServerError};
use crate::options::SeenOptions;

/// The keys of some rules.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RulesVersion {
    /// Fingerprint of the rules, in hexadecimal digits; `no-rules` if they are not known.
    pub rules: String,
    /// Whether these rules were used last.
    pub is_last: bool,
    /// Keys without those of open sessions.
    pub keys: u64,
    /// Sessions that are open, by name.
    pub sessions: Vec<OpenSession>,
}

/// A session that was neither committed nor cancelled.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenSession {
    /// Its name.
    pub name: String,
    /// Its keys.
    pub keys: u64,
}

/// A set on a server, to be looked after.
pub struct SeenServer {
    shown: String,
    prefix: String,
    link: Link,
    ttl: u64,
}

impl SeenServer {
    /// Connects to a set, which must be there. Its server is waited for as [`SeenOptions::patience`] and
    /// [`first_patience`](SeenOptions::first_patience) say.
    pub fn connect(address: &str, options: &SeenOptions) -> Result<Self, SeenError> {
        let shown = address::shown(address);
        let open = || {
            let address = Address::parse(address)?;
            let mut link = Link::new(&address, options.server.patience)?;
            let name = Names::new(&address.prefix, "").marker();
            let found =
                link.run(|connection, _| redis::cmd("GET").arg(&name).query::<Option<Vec<u8>>>(connection))?;
            let ttl = Marker::decode(&found.ok_or(ServerError::NoSet)?)?.ttl;
            Ok(Self { shown: address.to_string(), prefix: address.prefix, link, ttl })
        };
        open().map_err(|source| SeenError::Server { address: shown, source })
    }

    /// The address, without user and password.
    pub fn address(&self) -> &str {
        &self.shown
    }

    /// Seconds that keys are remembered at least; none if for good.
    pub fn ttl(&self) -> Option<u64> {
        (self.ttl > 0).then_some(self.ttl)
    }

    /// Whose keys are there, by fingerprint.
    pub fn versions(&mut self) -> Result<Vec<RulesVersion>, SeenError> {
        self.work(|set| {
            let any = Names::new(&set.prefix, "");
            let last = set.link.run(|connection, _| {
                redis::cmd("GET").arg(any.last_rules()).query::<Option<String>>(connection)
            })?;
            let mut found = Vec::new();
            for names in set.all_names()? {
                let current = names.current_sets(set.ttl, now());
                let mut count = pipe();
                for set in &current.found_in {
                    count.cmd("SCARD").arg(set);
                }
                let keys = set.link.run(|connection, _| count.query::<Vec<u64>>(connection))?.iter().sum();
                let sessions = set.sessions(&names)?;
                let is_last = last.as_deref() == Some(names.version());
                found.push(RulesVersion { rules: names.version().into(), is_last, keys, sessions });
            }
            Ok(found)
        })
    }

    /// Commits a session: see [`SeenSet::commit`](crate::SeenSet::commit). Returns how many keys it had.
    pub fn commit(&mut self, session: &str) -> Result<u64, SeenError> {
        self.end(session, |set, names| session::commit(&mut set.link, names, session, set.ttl))
    }

    /// Cancels a session: see [`SeenSet::cancel`](crate::SeenSet::cancel). Returns how many keys it had.
    pub fn cancel(&mut self, session: &str) -> Result<u64, SeenError> {
        self.end(session, |set, names| session::cancel(&mut set.link, names, session))
    }

    /// Removes the keys of rules that are not used any more, with their open sessions. Returns how many keys there were.
    pub fn forget(&mut self, rules: &str) -> Result<u64, SeenError> {
        self.work(|set| {
            let versions = set.all_names()?;
            let none = || ServerError::NoVersion { version: rules.into() };
            let names = versions.iter().find(|names| names.version() == rules).ok_or_else(none)?;
            let sessions = set.members(&names.sessions())?;
            let mut gone: Vec<String> = sessions.iter().map(|name| names.session(name)).collect();
            gone.extend(names.current_sets(set.ttl, now()).found_in);
            let mut remove = pipe();
            for key in &gone {
                remove.cmd("SCARD").arg(key).cmd("UNLINK").arg(key).ignore();
            }
            let counts = set.link.run(|connection, _| remove.query::<Vec<u64>>(connection))?;
            let mut last = pipe();
            last.cmd("UNLINK").arg(names.sessions()).ignore();
            last.cmd("SREM").arg(names.versions()).arg(rules).ignore();
            set.link.run(|connection, _| last.query::<()>(connection))?;
            Ok(counts.iter().sum())
        })
    }

    fn end(
        &mut self,
        session: &str,
        mut end: impl FnMut(&mut Self, &Names) -> Result<u64, ServerError>,
    ) -> Result<u64, SeenError> {
        self.work(|set| {
            address::check_session(session)?;
            let mut keys = 0;
            // Crawls with two rules may have the same name.
            for names in set.all_names()? {
                let is_open = set.sessions(&names)?.iter().any(|open| open.name == session);
                if is_open {
                    keys += end(set, &names)?;
                }
            }
            if keys == 0 { Err(ServerError::NoSession { name: session.into() }) } else { Ok(keys) }
        })
    }

    /// Sessions that have keys.
    fn sessions(&mut self, names: &Names) -> Result<Vec<OpenSession>, ServerError> {
        let mut members: Vec<String> = self.members(&names.sessions())?;
        members.sort();
        let mut open = Vec::new();
        for name in members {
            let session = names.session(&name);
            let keys =
                self.link.run(|connection, _| redis::cmd("SCARD").arg(&session).query::<u64>(connection))?;
            if keys > 0 {
                open.push(OpenSession { name, keys });
            }
        }
        Ok(open)
    }

    /// The names of each version.
    fn all_names(&mut self) -> Result<Vec<Names>, ServerError> {
        let mut versions = self.members(&Names::new(&self.prefix, "").versions())?;
        versions.sort();
        Ok(versions.into_iter().map(|version| Names::new(&self.prefix, version)).collect())
    }

    fn members(&mut self, set: &str) -> Result<Vec<String>, ServerError> {
        self.link.run(|connection, _| redis::cmd("SMEMBERS").arg(set).query(connection))
    }

    fn work<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, ServerError>) -> Result<T, SeenError> {
        work(self).map_err(|source| SeenError::Server { address: self.shown.clone(), source })
    }
}
