/*!
Sets on servers: whose keys there are, and how sessions end.
*/

use std::time::Duration;

use dedust_seen::server::{RulesVersion, SeenServer};
use dedust_seen::{SeenError, SeenOptions, SeenSet};
use serde::Serialize;

use super::args::{SeenForgetArgs, SeenServerArgs, SeenSessionArgs};
use crate::ExitStatus;
use crate::args::{PatienceArgs, ReportFormat};
use crate::number::counted;
use crate::printer::Printer;

/// One line of `--format json`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Record<'a> {
    /// The keys of some rules.
    Rules {
        /// Fingerprint of the rules.
        rules: &'a str,
        /// Whether these rules were used last.
        last: bool,
        /// Keys without those of open sessions.
        keys: u64,
    },
    /// A session that is open.
    Session {
        /// Fingerprint of the rules.
        rules: &'a str,
        /// Its name.
        session: &'a str,
        /// Its keys.
        keys: u64,
    },
    /// What was done.
    Done {
        /// The verb.
        verb: &'static str,
        /// Keys that are seen for all, or are gone.
        keys: u64,
    },
}

/// Connects to a server, with the patience that was asked for. Says that it is waited for if it does not answer at once.
pub(crate) fn patiently<T>(
    args: &PatienceArgs,
    options: SeenOptions,
    printer: &mut Printer,
    connect: impl Fn(&SeenOptions) -> Result<T, SeenError>,
) -> Result<T, SeenError> {
    let options = match args.patience {
        Some(patience) => options.patience(patience),
        None => options,
    };
    match connect(&options.clone().first_patience(Duration::ZERO)) {
        Err(error) if error.may_pass() && args.patience != Some(Duration::ZERO) => {
            printer.note(format_args!("{:#}; it is waited for", anyhow::Error::new(error)));
            connect(&options)
        }
        connected => connected,
    }
}

fn connect(args: &SeenServerArgs, printer: &mut Printer) -> Result<SeenServer, SeenError> {
    patiently(&args.patience, SeenSet::options(), printer, |options| {
        SeenServer::connect(&args.address, options)
    })
}

pub(super) fn list(args: &SeenServerArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    let mut server = connect(args, printer)?;
    for version in server.versions()? {
        print(&version, args.format, printer)?;
    }
    printer.finish()?;
    if let Some(seconds) = server.ttl() {
        printer.note(format_args!("keys are remembered for {}", counted(seconds, "second", "seconds")));
    }
    Ok(ExitStatus::Success)
}

fn print(version: &RulesVersion, format: ReportFormat, printer: &mut Printer) -> anyhow::Result<()> {
    let RulesVersion { rules, is_last, keys, sessions, .. } = version;
    if format == ReportFormat::Json {
        printer.json(&Record::Rules { rules, last: *is_last, keys: *keys })?;
        for session in sessions {
            printer.json(&Record::Session { rules, session: &session.name, keys: session.keys })?;
        }
        return Ok(());
    }
    let last = if *is_last { ", used last" } else { "" };
    printer.line(format_args!("rules {rules}: {}{last}", counted(*keys, "key", "keys")))?;
    for session in sessions {
        let keys = counted(session.keys, "key", "keys");
        printer.line(format_args!("  session {}: {keys}, open", session.name))?;
    }
    Ok(())
}

pub(super) fn commit(args: &SeenSessionArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    let mut server = connect(&args.server, printer)?;
    let keys = server.commit(&args.session)?;
    let what = format!("session {} committed at {}", args.session, server.address());
    done("commit", &what, keys, args.server.format, printer)
}

pub(super) fn cancel(args: &SeenSessionArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    let mut server = connect(&args.server, printer)?;
    let keys = server.cancel(&args.session)?;
    let what = format!("session {} cancelled at {}", args.session, server.address());
    done("cancel", &what, keys, args.server.format, printer)
}

pub(super) fn forget(args: &SeenForgetArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    let mut server = connect(&args.server, printer)?;
    let keys = server.forget(&args.rules)?;
    let what = format!("keys of the rules {} removed from {}", args.rules, server.address());
    done("forget", &what, keys, args.server.format, printer)
}

fn done(
    verb: &'static str,
    what: &str,
    keys: u64,
    format: ReportFormat,
    printer: &mut Printer,
) -> anyhow::Result<ExitStatus> {
    if format == ReportFormat::Json {
        printer.json(&Record::Done { verb, keys })?;
        printer.finish()?;
    }
    printer.note(format_args!("{what}: {}", counted(keys, "key", "keys")));
    Ok(ExitStatus::Success)
}
