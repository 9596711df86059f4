/*!
What a person can do about a failure.

Errors of the libraries say what is wrong; [`remedy`] adds the way out where the command line has one. A [`Refusal`]
is an error of the command line itself, with its remedy.
*/

use std::io;
use std::path::Path;

use dedust::errors::{LoadRulesError, OpenRulesError};
use dedust_io::{ReadError, WriteError};
use dedust_learn::errors::{InvalidOption, TrainError};
use dedust_seen::SeenError;
use dedust_seen::server::ServerError;
use dedust_validate::errors::StateError;

/// What to do about `--sync` where the set is on a server.
pub(crate) const SYNC_OF_SERVERS: &str =
    "leave it out; the server's own settings say what it keeps, as appendonly and appendfsync of Redis";

/// Why a command cannot do what it was asked to, and what to do instead.
#[derive(Debug)]
pub(crate) struct Refusal {
    message: String,
    remedy: String,
}

impl Refusal {
    /// A refusal in words.
    pub(crate) fn new(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { message: message.into(), remedy: remedy.into() }
    }

    /// A refusal of an option, which may be one of rules to keep.
    pub(crate) fn of_option(error: &InvalidOption, rules: Option<&Path>) -> Self {
        let remedy = match rules {
            Some(rules) => format!("give another value, or correct `options` in {}", rules.display()),
            None => "correct it, or leave it out".into(),
        };
        Self::new(format!("{} {}", option_name(&error.name), error.problem), remedy)
    }
}

/// Refuses to go on, in words.
pub(crate) fn refuse<T>(message: impl Into<String>, remedy: impl Into<String>) -> anyhow::Result<T> {
    Err(Refusal::new(message, remedy).into())
}

/// The name of an option by that of its field.
pub(crate) fn option_name(field: &str) -> String {
    format!("--{}", field.replace('_', "-"))
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}

/// What to do about an error; nothing where the message itself says it all.
pub(crate) fn remedy(error: &anyhow::Error) -> Option<String> {
    // Also one that has a cause, which the chain of causes does not show by its type.
    if let Some(refusal) = error.downcast_ref::<Refusal>() {
        return Some(refusal.remedy.clone());
    }
    // Whatever was written, and whoever wrote it.
    let kinds = error.chain().filter_map(|cause| Some(cause.downcast_ref::<io::Error>()?.kind()));
    if let Some(remedy) = kinds.into_iter().find_map(full_remedy) {
        return Some(remedy.into());
    }
    error.chain().find_map(|cause| {
        if let Some(refusal) = cause.downcast_ref::<Refusal>() {
            return Some(refusal.remedy.clone());
        }
        if let Some(error) = cause.downcast_ref::<LoadRulesError>() {
            return rules_remedy(error).map(Into::into);
        }
        if cause.is::<OpenRulesError>() {
            return Some(
                "make it again from the rule file: dedust compile RULES -o RULES.bin --force".into(),
            );
        }
        if let Some(WriteError::Create { path, .. }) = cause.downcast_ref::<WriteError>() {
            return Some(create_remedy(path).into());
        }
        if let Some(error) = cause.downcast_ref::<SeenError>() {
            return seen_remedy(error).map(Into::into);
        }
        if let Some(TrainError::Refused { .. }) = cause.downcast_ref() {
            return Some("this is a fault of dedust, not of the input; another --method may do".into());
        }
        if let Some(StateError::Malformed { .. }) = cause.downcast_ref() {
            return Some("name another file with --state, or remove this one to start anew".into());
        }
        match cause.downcast_ref::<ReadError>()? {
            ReadError::Open { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                Some("check the name; `-` reads standard input".into())
            }
            ReadError::Truncated { .. } | ReadError::Damaged { .. } => {
                Some("to go on with what can be read, unpack the file: zcat FILE | dedust ... -".into())
            }
            _ => None,
        }
    })
}

fn rules_remedy(error: &LoadRulesError) -> Option<&'static str> {
    Some(match error {
        LoadRulesError::Malformed(_) => {
            "RULES, the file that `dedust learn -o RULES` writes, is the first argument"
        }
        LoadRulesError::UnsupportedVersion { .. } => {
            "upgrade dedust, or learn the rules again with this version"
        }
        LoadRulesError::UnknownField { .. } => {
            "remove it, or correct its name; a newer version of dedust may know it"
        }
        LoadRulesError::SiteTooLong { .. } => "remove this site from the file, or learn it again",
        LoadRulesError::TooMuchMemory { .. } => {
            "put the sites into several files, or allow more: dedust compile RULES -o RULES.bin --memory MB"
        }
        LoadRulesError::RepeatedSite { .. } => "keep one of the two in the file",
        LoadRulesError::MalformedSite { .. }
        | LoadRulesError::MalformedRule { .. }
        | LoadRulesError::InvalidSite { .. } => {
            "correct or remove it in the file (rules are counted from 0), or learn the rules again"
        }
        _ => return None,
    })
}

fn seen_remedy(error: &SeenError) -> Option<&'static str> {
    Some(match error {
        SeenError::InUse { .. } => "wait until it ends, or give each process a folder of its own",
        SeenError::Foreign { .. } => "name an empty folder, or one that is not there yet",
        SeenError::UnsupportedVersion { .. } => {
            "use the version of dedust that wrote it, or start with a new folder"
        }
        SeenError::NoSet { .. } => "name the folder of `dedust dedup --seen`",
        SeenError::NotAFile { .. } => "remove it, or put back the file from a copy",
        SeenError::Damaged { path, .. } if path.ends_with("SEEN") => {
            "put this file back from a copy, or start with a new folder: all pages will be new once more"
        }
        SeenError::Missing { .. } | SeenError::Damaged { .. } => {
            "put the folder back from a copy, or keep what can be read: dedust seen repair DIR"
        }
        SeenError::Server { source, .. } => return server_remedy(source),
        _ => return None,
    })
}

fn server_remedy(error: &ServerError) -> Option<&'static str> {
    Some(match error {
        ServerError::Connect { .. } => {
            "check host and port, and that the server is running: redis-cli -h HOST -p PORT ping; --patience says how long it is waited for"
        }
        ServerError::Address { .. } => {
            "give a folder as ./NAME, or an address as redis://:PASSWORD@HOST/PREFIX, with special characters as %40"
        }
        ServerError::Lost { .. } => {
            "run it again when the server is back; what it was asked for last may count as seen, unless the session is cancelled"
        }
        ServerError::WrongPassword | ServerError::NoPassword => {
            "give them as redis://USER:PASSWORD@HOST/PREFIX, or redis://:PASSWORD@HOST/PREFIX, with special characters as %40"
        }
        ServerError::NotAllowed { .. } => {
            "give the user these rights: ~PREFIX:* +@read +@write +@transaction +@connection"
        }
        ServerError::WrongType | ServerError::Foreign { .. } => "choose another prefix",
        ServerError::Full => "raise maxmemory of the server, or remove keys of old rules: dedust seen forget",
        ServerError::Malformed => {
            "check host and port: Redis 6.2 or newer, Valkey or Kvrocks is expected there"
        }
        ServerError::OtherTtl { .. } => "leave --ttl out, or choose another prefix",
        ServerError::MadeAnew => "run it again: all pages are new once more",
        ServerError::NoSet => "check the prefix; `dedust dedup --seen URL` makes a set",
        ServerError::NoSession { .. } | ServerError::NoVersion { .. } => {
            "see what there is: dedust seen list URL"
        }
        _ => return None,
    })
}

fn full_remedy(kind: io::ErrorKind) -> Option<&'static str> {
    Some(match kind {
        io::ErrorKind::StorageFull => "make room on that disk, or write to another one",
        io::ErrorKind::QuotaExceeded => "remove files of yours from that disk, or have your quota raised",
        io::ErrorKind::FileTooLarge => {
            "raise the limit on the length of files (ulimit -f), or write to another disk"
        }
        io::ErrorKind::ReadOnlyFilesystem => "write to another disk: this one may only be read",
        _ => return None,
    })
}

fn create_remedy(path: &Path) -> &'static str {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            "the folder must exist; create it with `mkdir -p`"
        }
        _ => "choose a folder that you may write to",
    }
}
