/*!
`dedust serve`: rules in, answers to crawlers and people out, over HTTP, until it is stopped.
*/

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use clap::ValueEnum;
use dedust_seen::SeenLocation;
use dedust_serve::{Event, Level, Log, RulesError, ServeError, ServeOptions, Server};

use crate::args::{PatienceArgs, TrustArgs};
use crate::failure::{self, Refusal, SYNC_OF_SERVERS};
use crate::help;
use crate::method::Method;
use crate::printer::{Messages, Printer};
use crate::{ExitStatus, is_broken_pipe};

/// Where the token is taken from, if it is not to be a new one each time.
const TOKEN: &str = "DEDUST_TOKEN";

/// What `serve --live` does.
const LIVE: &str = "Tell crawlers which URLs to fetch while they crawl, and learn from what they fetched: POST /v1/crawl/admit and /v1/crawl/observe, GET /v1/crawl/returned and /v1/crawl. STATE is a folder, for one process at a time; what was answered is in it, also after the process was killed. The rules of now are in STATE/rules.json and are served like those of RULES";

/// Options of `serve`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help::SERVE)]
pub(crate) struct ServeArgs {
    /// Rules from `dedust learn`, plain or compiled; loaded again when the file changes
    #[arg(required_unless_present = "live", conflicts_with = "live")]
    pub(crate) rules: Option<PathBuf>,
    /// Crawls that the page can learn from again, of any format
    #[arg(value_name = "CRAWL")]
    pub(crate) crawl: Vec<PathBuf>,
    /// Where to listen; port 0 is any that is free
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7007")]
    pub(crate) listen: SocketAddr,
    /// Listen also where other machines can connect
    #[arg(long, long_help = help::PUBLIC)]
    pub(crate) public: bool,
    /// A name by which the server may be called, beside localhost and addresses; may be given again
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,
    /// Learn from a crawl while it goes on, for /v1/crawl: the folder of its state, made if it is not there
    #[arg(long, value_name = "STATE", long_help = LIVE)]
    pub(crate) live: Option<PathBuf>,
    /// Rules that serve a live crawl until a site has its own
    #[arg(long = "rules", value_name = "FILE", requires = "live")]
    pub(crate) known_rules: Option<PathBuf>,
    /// Share of the skipped URLs that a live crawl may fetch to find out whether rules hold
    #[arg(long, value_name = "SHARE", default_value_t = 0.05, requires = "live")]
    pub(crate) audit: f64,
    /// The set of seen pages, for /v1/seen: a folder, or redis://HOST:PORT/PREFIX
    #[arg(long, value_name = "DIR|URL", long_help = help::SEEN_PLACE)]
    pub(crate) seen: Option<SeenLocation>,
    /// Have keys outlive a loss of power before they are acknowledged
    #[arg(long, requires = "seen")]
    pub(crate) sync: bool,
    /// How the log is written to standard error
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    pub(crate) log: LogFormat,
    /// MB that a request may send
    #[arg(long, value_name = "MB", default_value_t = 1000, hide_short_help = true)]
    pub(crate) max_body: u32,
    /// Connections at a time
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..), hide_short_help = true)]
    pub(crate) max_connections: u32,
    /// Seconds that requests have to end when the server is stopped
    #[arg(long, value_name = "SECONDS", default_value_t = 10, hide_short_help = true)]
    pub(crate) grace: u32,
    /// How far the rules are trusted.
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    /// How long the server of the set is waited for.
    #[command(flatten)]
    pub(crate) patience: PatienceArgs,
}

/// How the log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people
    Text,
    /// JSON Lines, for programs
    Json,
}

/// Serves until it is stopped.
pub(crate) fn run(
    args: &ServeArgs,
    threads: Option<u16>,
    printer: &mut Printer,
) -> anyhow::Result<ExitStatus> {
    let format = args.log;
    let messages = printer.queued_messages(move |messages, dropped| {
        let message = format!("{dropped} messages were dropped, since standard error took no more");
        let remedy = "read it faster, or leave out -v, which logs each request";
        print(
            &Event::new(Level::Warning, "messages_dropped", message, Some(remedy.into())),
            format,
            messages,
        );
    });
    let messages = messages.context("cannot start threads")?;
    let log = Log::new(move |event| print(event, format, &messages));
    report_panics(log.clone());
    match serve(args, threads, log.clone(), printer) {
        Err(error) if format == LogFormat::Json && !is_broken_pipe(&error) => {
            let remedy = failure::remedy(&error).map(Into::into);
            log.tell(&Event::new(Level::Error, "failed", format!("{error:#}"), remedy));
            Ok(ExitStatus::Failure)
        }
        outcome => outcome,
    }
}

/// Has panics told as other events, which no reader of standard error can hold up.
fn report_panics(log: Log) {
    std::panic::set_hook(Box::new(move |panic| {
        let remedy = "this is a fault of dedust; please report it";
        log.tell(&Event::new(Level::Error, "panicked", panic.to_string(), Some(remedy.into())));
    }));
}

/// Serves until it is stopped, and tells the log all that is no data.
fn serve(
    args: &ServeArgs,
    threads: Option<u16>,
    log: Log,
    printer: &mut Printer,
) -> anyhow::Result<ExitStatus> {
    let mut options = match (&args.live, &args.rules) {
        (Some(state), _) => ServeOptions::live(state),
        (None, rules) => ServeOptions::new(rules.clone().unwrap_or_default()),
    };
    options.known_rules.clone_from(&args.known_rules);
    options.audit = args.audit;
    options.crawl.clone_from(&args.crawl);
    options.learner = |method| Method::of_name(method)?.learner(None, 0).ok();
    options.tree = super::report::TREE;
    options.listen = args.listen;
    options.public = args.public;
    options.hosts.clone_from(&args.host);
    options.seen.clone_from(&args.seen);
    options.seen_patience = args.patience.patience.unwrap_or(options.seen_patience);
    options.sync = args.sync;
    options.trust_mirrors = args.trust.trust_mirrors;
    options.token = std::env::var(TOKEN).ok().filter(|token| !token.is_empty());
    options.threads = threads.map(usize::from);
    options.signals = true;
    options.limits.body_bytes = u64::from(args.max_body) * 1_000_000;
    options.limits.connections = args.max_connections as usize;
    options.limits.stop = Duration::from_secs(args.grace.into());
    options.log = log.clone();
    let (is_chosen, is_short) = (options.token.is_some(), options.has_short_token());
    let server = Server::open(options).map_err(explained)?;
    if is_short {
        let message = format!("the token of {TOKEN} can be guessed by whoever is on this machine");
        let remedy = format!("choose one of 16 characters or more, or leave {TOKEN} unset for a random one");
        log.tell(&Event::new(Level::Warning, "token", message, Some(remedy.into())));
    }
    let address = server.address();
    if !address.ip().is_loopback() {
        let message = format!(
            "{address} can be reached from other machines: they can read all rules, and nothing is encrypted"
        );
        let remedy = "put a proxy with TLS and authentication in front of it, and a firewall around it";
        log.tell(&Event::new(Level::Warning, "public", message, Some(remedy.into())));
    }
    let message = match is_chosen {
        true => format!("the token for changes is that of {TOKEN}"),
        false => format!("token for changes: {}", server.token()),
    };
    log.tell(&Event::new(Level::Note, "token", message, None));
    // The one line of data, for scripts that start a server on any free port.
    printer.line(format_args!("http://{address}/"))?;
    printer.finish()?;
    server.run().map_err(explained)?;
    Ok(ExitStatus::Success)
}

/// An error with a remedy.
fn explained(error: ServeError) -> anyhow::Error {
    let remedy = match &error {
        ServeError::Listen { address, source } => match source.kind() {
            io::ErrorKind::AddrInUse => {
                format!(
                    "another program listens there; end it, or choose another port: --listen {}:0 takes any",
                    address.ip()
                )
            }
            io::ErrorKind::PermissionDenied => "ports below 1024 need rights; choose one above".into(),
            _ => "choose an address of this machine, such as 127.0.0.1".into(),
        },
        ServeError::NotLoopback { .. } => {
            "add --public if other machines are to connect, or listen on 127.0.0.1".into()
        }
        ServeError::SyncOfServer { .. } => SYNC_OF_SERVERS.into(),
        ServeError::ShortToken { .. } => {
            format!("choose a longer one, or leave {TOKEN} unset for a random one")
        }
        ServeError::Live(error) if error.remedy().is_some() => error.remedy().unwrap_or_default().into(),
        // These have remedies of their own.
        _ => {
            return match error {
                ServeError::Rules(RulesError::Read(error)) => error.into(),
                ServeError::Seen(error) => error.into(),
                error => error.into(),
            };
        }
    };
    let cause = std::error::Error::source(&error).map(ToString::to_string);
    let refusal = Refusal::new(error.to_string(), remedy);
    match cause {
        Some(cause) => anyhow::Error::new(Cause(cause)).context(refusal),
        None => refusal.into(),
    }
}

/// Why the system refused.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Cause(String);

/// Prints an event.
fn print(event: &Event, format: LogFormat, messages: &Messages) {
    let is_shown = match event.level {
        Level::Detail => messages.shows_details(),
        Level::Note | Level::Warning => messages.shows_notes(),
        Level::Error => true,
    };
    match format {
        LogFormat::Json if is_shown => messages.write(json_line(event)),
        LogFormat::Json => {}
        LogFormat::Text => {
            let text = &event.message;
            match event.level {
                Level::Detail => messages.detail(text),
                Level::Note => messages.note(text),
                Level::Warning => messages.warning(text),
                Level::Error => messages.error(text),
            }
            if let Some(remedy) = &event.remedy {
                messages.hint(remedy);
            }
        }
    }
}

/// An event as JSON. Control characters are escaped: also those that JSON leaves as they are, and a terminal does not.
fn json_line(event: &Event) -> String {
    let text = serde_json::to_string(event).unwrap_or_default();
    text.chars().fold(String::with_capacity(text.len()), |mut line, character| {
        match character.is_control() {
            true => line.push_str(&format!("\\u{:04x}", u32::from(character))),
            false => line.push(character),
        }
        line
    })
}
