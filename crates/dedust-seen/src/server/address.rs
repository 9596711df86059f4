/*!
The address of a set: a URL in, the server and the prefix out. What is shown of it has no user, password and options.
*/

use std::fmt;

use percent_encoding::percent_decode_str;
use redis::{ConnectionAddr, ConnectionInfo, IntoConnectionInfo as _, RedisConnectionInfo};
use url::Url;

use crate::error::ServerError;

const DEFAULT_PORT: u16 = 6379;
/// More than anyone needs, and less than hurts in every command.
const MAX_PREFIX: usize = 100;

/// Where a set is.
#[derive(Clone)]
pub(crate) struct Address {
    is_tls: bool,
    host: String,
    port: u16,
    user: Option<String>,
    password: Option<String>,
    database: i64,
    pub(crate) prefix: String,
}

impl Address {
    /// Reads `redis://[USER:PASSWORD@]HOST[:PORT]/PREFIX[?db=NUMBER]`.
    pub(crate) fn parse(text: &str) -> Result<Self, ServerError> {
        let fail = |problem| ServerError::Address { problem };
        if !text.contains("://") {
            return Err(fail("it lacks `://` behind the scheme (a folder is written ./NAME)"));
        }
        let url = Url::parse(text).map_err(|_| fail("it is no URL"))?;
        let is_tls = match url.scheme() {
            "redis" => false,
            "rediss" => true,
            _ => return Err(fail("its scheme is neither redis nor rediss")),
        };
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or(fail("it names no host"))?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let prefix = url.path().trim_start_matches('/').to_owned();
        if prefix.is_empty() {
            return Err(fail("it has no prefix, which names the set"));
        }
        if prefix.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(fail("a number is no prefix (a database is chosen with ?db=NUMBER)"));
        }
        if !prefix.bytes().all(is_plain) || prefix.len() > MAX_PREFIX {
            return Err(fail("its prefix is not made of at most 100 letters, digits, `.`, `_`, `-` and `:`"));
        }
        let mut database = 0;
        for (name, value) in url.query_pairs() {
            match &*name {
                "db" => {
                    let number = value.parse::<u16>().map_err(|_| fail("its db is no number"))?;
                    database = number.into();
                }
                _ => return Err(fail("it has an option other than db")),
            }
        }
        if url.fragment().is_some() {
            return Err(fail("it has a fragment (write # as %23 in a password)"));
        }
        let decoded = |text: &str| percent_decode_str(text).decode_utf8().map(|text| text.into_owned());
        let user = decoded(url.username()).map_err(|_| fail("its user name is not UTF-8"))?;
        let password = url.password().map(decoded).transpose();
        let password = password.map_err(|_| fail("its password is not UTF-8"))?;
        let user = Some(user).filter(|user| !user.is_empty());
        if user.is_some() && password.is_none() {
            return Err(fail("it has a user without a password"));
        }
        let port = url.port().unwrap_or(DEFAULT_PORT);
        Ok(Self { is_tls, host, port, user, password, database, prefix })
    }

    /// As the client wants it.
    pub(super) fn connection_info(&self) -> Result<ConnectionInfo, ServerError> {
        let (host, port) = (self.host.clone(), self.port);
        let address = match self.is_tls {
            true => ConnectionAddr::TcpTls { host, port, insecure: false, tls_params: None },
            false => ConnectionAddr::Tcp(host, port),
        };
        let mut settings = RedisConnectionInfo::default().set_db(self.database);
        if let Some(user) = &self.user {
            settings = settings.set_username(user);
        }
        if let Some(password) = &self.password {
            settings = settings.set_password(password);
        }
        let problem = "it cannot be connected to";
        let info = address.into_connection_info().map_err(|_| ServerError::Address { problem })?;
        Ok(info.set_redis_settings(settings))
    }

    pub(super) fn is_tls(&self) -> bool {
        self.is_tls
    }

    pub(super) fn has_password(&self) -> bool {
        self.password.is_some()
    }
}

impl fmt::Display for Address {
    /// Leaves out user, password and options.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_tls { "rediss" } else { "redis" };
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        write!(f, "{scheme}://{host}:{}/{}", self.port, self.prefix)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Schemes, of this program and of others, of addresses of servers and sockets.
const SCHEMES: [&str; 10] =
    ["redis", "rediss", "valkey", "valkeys", "unix", "unixs", "tcp", "tls", "http", "https"];

/// Whether a text is meant as an address, good or bad: with `://` whatever the scheme, with a scheme that is known, in any letter case
/// and however it goes on; or with a user or password before `@`. A path that starts with `/`, `.` or a drive is a folder, but for one with two
/// slashes and a `@`.
pub(crate) fn is_meant(text: &str) -> bool {
    let text = text.trim_start();
    if text.contains("://") || text.starts_with("//") && text.contains('@') {
        return true;
    }
    let is_drive = matches!(text.as_bytes(), [_, b':', b'/' | b'\\', ..]);
    if text.starts_with(['/', '.']) || is_drive {
        return false;
    }
    let has_user = text.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'));
    has_user || text.split_once(':').is_some_and(|(scheme, _)| is_known(scheme))
}

/// Whether a scheme is that of a server or a socket. Also `redis+unix`, `redis-sentinel` and the like.
fn is_known(scheme: &str) -> bool {
    let scheme = scheme.to_ascii_lowercase();
    scheme.split(['+', '-']).any(|part| SCHEMES.contains(&part))
}

/// An address that may not be one, without what could be a password: all before the last `@`, options, and a host with a port that is none.
pub(crate) fn shown(text: &str) -> String {
    if let Ok(address) = Address::parse(text) {
        return address.to_string();
    }
    let text = text.trim_start();
    let is_scheme =
        |scheme: &str| scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let (scheme, rest) = text
        .split_once("://")
        .filter(|(scheme, _)| is_scheme(scheme))
        .or_else(|| text.split_once(':').filter(|(scheme, _)| is_known(scheme)))
        .unwrap_or(("redis", text));
    // The end of a password with a `@`, `?` or `#` of its own must not be taken for a host, so the last `@` counts.
    let (user, place) = rest.rsplit_once('@').map_or(("", rest), |(_, place)| ("...@", place));
    let place = place.split(['?', '#']).next().unwrap_or_default();
    let host = place.trim_start_matches('/').split('/').next().unwrap_or_default();
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    let may_be_password = match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        Some((_, port)) => !port.strip_prefix(':').is_none_or(is_port),
        None => host.split_once(':').is_some_and(|(host, port)| host.is_empty() || !is_port(port)),
    };
    if user.is_empty() && may_be_password {
        return format!("{scheme}://...");
    }
    format!("{scheme}://{user}{place}")
}

/// Whether a byte may be in a prefix.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"._-:".contains(&byte)
}

/// Checks the name of a session.
pub(super) fn check_session(name: &str) -> Result<(), ServerError> {
    let is_good = (1..=64).contains(&name.len()) && name.bytes().all(|byte| is_plain(byte) && byte != b':');
    if is_good { Ok(()) } else { Err(ServerError::SessionName { name: name.into() }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        let address = Address::parse("rediss://crawler:p%40ss@db.example:7000/news:2026?db=3").unwrap();
        assert_eq!(address.to_string(), "rediss://db.example:7000/news:2026");
        assert_eq!((address.user.as_deref(), address.password.as_deref()), (Some("crawler"), Some("p@ss")));
        assert_eq!((address.database, address.is_tls), (3, true));
        let address = Address::parse("redis://:secret@[::1]/crawl").unwrap();
        assert_eq!(address.to_string(), "redis://[::1]:6379/crawl");
        assert_eq!((address.host.as_str(), address.user), ("::1", None));
    }

    #[test]
    fn what_is_no_address_is_refused_and_shown_without_its_password() {
        for (text, problem, shown_as) in [
            ("redis://:secret@host", "no prefix", "redis://...@host"),
            ("redis://:secret@host/0", "a number is no prefix", "redis://...@host/0"),
            ("redis://:secret@host:port/crawl", "no URL", "redis://...@host:port/crawl"),
            ("redis://:sec/ret@host/crawl", "", "redis://...@host/crawl"),
            ("redis://:sec?ret@host/crawl", "", "redis://...@host/crawl"),
            ("redis://a:sec@re/t@host/crawl", "prefix", "redis://...@host/crawl"),
            ("redis://:secret@host/crawl?ttl=secret", "option other than db", "redis://...@host/crawl"),
            ("redis://host/crawl?db=-1", "db is no number", "redis://host/crawl"),
            ("redis://user@host/crawl", "user without a password", "redis://...@host/crawl"),
            ("http://host/crawl", "scheme", "http://host/crawl"),
            ("redis:///crawl", "no host", "redis:///crawl"),
        ] {
            let error = Address::parse(text).unwrap_err().to_string();
            assert!(error.contains(problem), "{text}: {error}");
            assert!(!error.contains("sec"), "{error}");
            assert_eq!(shown(text), shown_as);
        }
    }

    #[test]
    fn what_is_meant_as_an_address_is_no_folder_and_is_shown_without_its_password() {
        for (text, shown_as) in [
            ("redis:/:sesame@host/p", "redis://...@host/p"),
            ("redis::sesame@host/p", "redis://...@host/p"),
            ("redis::sesame", "redis://..."),
            ("redis://:sesame", "redis://..."),
            ("redis:/:sesame", "redis://..."),
            ("redis:///:sesame/p", "redis://..."),
            ("redis:\\\\:sesame@host\\p", "redis://...@host\\p"),
            ("rediss:/user:sesame@host/p", "rediss://...@host/p"),
            ("REDIS:/:sesame@host/p", "REDIS://...@host/p"),
            (" redis:/:sesame@host/p", "redis://...@host/p"),
            ("unix:/run/redis.sock?password=sesame", "unix:///run/redis.sock"),
            ("redis+unix:/run/redis.sock", "redis+unix:///run/redis.sock"),
            ("redis-sentinel:/:sesame@host/p", "redis-sentinel://...@host/p"),
            ("valkey:/:sesame@host/p", "valkey://...@host/p"),
            ("//:sesame@host/p", "redis://...@host/p"),
            (":sesame@host/p", "redis://...@host/p"),
            ("user:sesame@host:6379/p", "redis://...@host:6379/p"),
        ] {
            assert!(is_meant(text), "{text}");
            let error = Address::parse(text).unwrap_err().to_string();
            assert!(!error.contains("sesame") && error.contains("expected redis://"), "{text}: {error}");
            assert_eq!(shown(text), shown_as, "{text}");
        }
        // In capitals it is one.
        assert!(is_meant("REDIS://:sesame@host/p"));
        assert_eq!(Address::parse("REDIS://:sesame@host/p").unwrap().to_string(), "redis://host:6379/p");
        for folder in [
            "seen",
            "/var/seen",
            "./redis:x",
            "../a:b@c",
            "/a:b@c",
            "redis",
            "2026:11",
            "C:\\seen\\a@b",
            "a@b",
            "",
        ] {
            assert!(!is_meant(folder), "{folder}");
        }
    }

    #[test]
    fn names_of_sessions_are_plain() {
        for name in ["2026-11", "a.b_c", &"x".repeat(64)] {
            check_session(name).unwrap();
        }
        for name in ["", "a:b", "a b", "é", "a\n", &"x".repeat(65)] {
            check_session(name).unwrap_err();
        }
    }
}
