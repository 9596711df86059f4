/*!
Opens the set of `dedup --seen`, says what became of it since, and makes it anew where rules have changed.
*/

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use dedust::{Normalizer, Scratch};
use dedust_seen::{Durability, SeenKey, SeenLocation, SeenOptions, SeenSet, SeenStats};

use super::args::DedupArgs;
use super::piece::{seen_key, shows_page};
use crate::cmd::seen::patiently;
use crate::failure::{SYNC_OF_SERVERS, refuse};
use crate::number::counted;
use crate::observe::read_all;
use crate::printer::Printer;

/// Keys that are put into a set at a time.
const KEYS_AT_ONCE: usize = 1 << 16;

/// Opens the set, and tells what is worth knowing of it.
pub(super) fn open(
    args: &DedupArgs,
    normalizer: &Normalizer,
    printer: &mut Printer,
) -> anyhow::Result<SeenSet> {
    let options = SeenSet::options().rules(normalizer.fingerprint());
    match &args.seen {
        None => Ok(SeenSet::in_memory()?),
        Some(SeenLocation::Folder(folder)) => open_folder(args, folder, options, normalizer, printer),
        Some(SeenLocation::Server(address)) => connect(args, address, options, normalizer, printer),
    }
}

fn open_folder(
    args: &DedupArgs,
    folder: &Path,
    options: SeenOptions,
    normalizer: &Normalizer,
    printer: &mut Printer,
) -> anyhow::Result<SeenSet> {
    if args.session.is_some() || args.ttl.is_some() {
        let option = if args.session.is_some() { "--session" } else { "--ttl" };
        let problem = format!("{option} is for sets on servers, and {} is a folder", folder.display());
        return refuse(problem, "leave it out, or name a server: --seen redis://HOST/PREFIX");
    }
    let durability = if args.sync { Durability::Power } else { Durability::Process };
    let options = options.durability(durability);
    if !args.rekey.is_empty() {
        rekey(args, folder, &options, normalizer, printer)?;
    }
    let seen = options.open(folder)?;
    let stats = seen.stats();
    let name = folder.display();
    printer.detail(format_args!("{} in {name}", counted(stats.keys, "key", "keys")));
    if stats.cut_bytes > 0 {
        let bytes = counted(stats.cut_bytes, "byte", "bytes");
        printer.warning(format_args!(
            "{bytes} at the end of logs in {name} were no whole records, as after a loss of power, and were cut off: \
             URLs that were printed last may be printed once more"
        ));
    }
    if let Some(unanswered) = stats.unanswered_keys {
        let urls = counted(unanswered, "URL", "URLs");
        printer.warning(format_args!(
            "the last run with {name} was cut off: {urls} of its last batch may not have been printed, and count as \
             seen"
        ));
    }
    if stats.rules_changed && stats.keys > 0 {
        printer.warning(format_args!(
            "the rules have changed since {name} was last used: pages whose key is another one now are new once more"
        ));
        printer.hint("to avoid that, give the URLs that were printed so far: --rekey FILE");
    }
    Ok(seen)
}

/// Connects to a set on a server.
fn connect(
    args: &DedupArgs,
    address: &str,
    mut options: SeenOptions,
    normalizer: &Normalizer,
    printer: &mut Printer,
) -> anyhow::Result<SeenSet> {
    let name = dedust_seen::server::shown_address(address);
    if args.sync {
        let problem = format!("--sync is for folders, and {name} is a server");
        return refuse(problem, SYNC_OF_SERVERS);
    }
    if let Some(ttl) = args.ttl {
        options = options.ttl(ttl);
    }
    let mut is_filled = false;
    if !args.rekey.is_empty() {
        // Not in a session: what was printed before counts as seen, whatever becomes of this crawl.
        let connected =
            patiently(&args.patience, options.clone(), printer, |options| options.connect(address));
        let mut filling = Filling::new(connected?);
        filling.fill(args, normalizer, printer)?;
        let keys = filling.set.stats().keys;
        filling.set.close()?;
        printer.note(format_args!("{name} has {} of these rules now", counted(keys, "key", "keys")));
        is_filled = true;
    }
    if let Some(session) = &args.session {
        options = options.session(session);
    }
    let seen = patiently(&args.patience, options, printer, |options| options.connect(address))?;
    let stats = seen.stats();
    printer.detail(format_args!("{} in {name}", counted(stats.keys, "key", "keys")));
    if stats.rules_changed && !is_filled {
        printer.warning(format_args!(
            "{name} was last used with other rules. Keys of each rules are apart: these have {}, and pages that were met \
             with the others are new once more",
            counted(stats.keys, "key", "keys")
        ));
        printer.hint("to avoid that, give the URLs that were printed so far: --rekey FILE");
    }
    Ok(seen)
}

/// Says what is to be known of a set on a server at the end.
pub(super) fn report_server(args: &DedupArgs, stats: &SeenStats, printer: &mut Printer) {
    let Some(location @ SeenLocation::Server(_)) = &args.seen else { return };
    if stats.unconfirmed_keys > 0 {
        printer.warning(format_args!(
            "answers of {location} for {} were lost with the connection: they count as new, and some of these pages may have \
             been printed before",
            counted(stats.unconfirmed_keys, "key", "keys")
        ));
    }
    if stats.removals > 0 {
        printer.warning(format_args!(
            "{location} was removed while it was used, or lost by its server, and was made again with the same secret: pages that \
             were met before are new once more"
        ));
    }
    if let Some(session) = &args.session {
        printer.note(format_args!(
            "session {session} stays open; `dedust seen commit` keeps what was printed, `dedust seen cancel` forgets it"
        ));
    }
}

/// Makes the set anew from the URLs of `--rekey`, beside the old one, and then puts it in its place.
fn rekey(
    args: &DedupArgs,
    folder: &Path,
    options: &SeenOptions,
    normalizer: &Normalizer,
    printer: &mut Printer,
) -> anyhow::Result<()> {
    // Held open for its lock, so that no other process adds to it.
    let old = if folder.exists() { Some(SeenSet::open(folder)?) } else { None };
    let new_folder = Beside(beside(folder, "new"));
    let old_folder = beside(folder, "old");
    for path in [&new_folder.0, &old_folder] {
        if path.exists() {
            let problem = format!("{} is in the way, as after a run that was cut off", path.display());
            return refuse(problem, "look into it, then remove it");
        }
    }
    let mut filling = Filling::new(options.open(&new_folder.0)?);
    filling.fill(args, normalizer, printer)?;
    let keys = filling.set.stats().keys;
    filling.set.close()?;
    if old.is_some() {
        fs::rename(folder, &old_folder).with_context(|| format!("cannot rename {}", folder.display()))?;
    }
    fs::rename(&new_folder.0, folder)
        .with_context(|| format!("cannot rename {} to {}", new_folder.0.display(), folder.display()))?;
    if let Some(old) = old {
        let before = counted(old.stats().keys, "key", "keys");
        drop(old);
        fs::remove_dir_all(&old_folder).with_context(|| format!("cannot remove {}", old_folder.display()))?;
        printer.note(format_args!(
            "{} made anew: {}, {before} before",
            folder.display(),
            counted(keys, "key", "keys")
        ));
    }
    Ok(())
}

/// A set that is being made.
struct Filling {
    set: SeenSet,
    keys: Vec<SeenKey>,
    is_new: Vec<bool>,
}

impl Filling {
    fn new(set: SeenSet) -> Self {
        Self { set, keys: Vec::new(), is_new: Vec::new() }
    }

    /// Puts the URLs of `--rekey` into the set.
    fn fill(
        &mut self,
        args: &DedupArgs,
        normalizer: &Normalizer,
        printer: &mut Printer,
    ) -> anyhow::Result<()> {
        let mut scratch = Scratch::default();
        let mut failed = Ok(());
        read_all(&args.rekey, &args.read, printer, |row| {
            let key = normalizer.key_with(row.url(), &mut scratch)?;
            self.keys.push(seen_key(&self.set.hasher(), key, shows_page(row)));
            if self.keys.len() == KEYS_AT_ONCE && failed.is_ok() {
                failed = self.insert();
            }
            Ok(())
        })?;
        failed?;
        self.insert()
    }

    fn insert(&mut self) -> anyhow::Result<()> {
        self.set.insert_batch(&self.keys, &mut self.is_new)?;
        self.keys.clear();
        Ok(())
    }
}

/// A folder that is removed when dropped, if it is still there.
struct Beside(PathBuf);

impl Drop for Beside {
    fn drop(&mut self) {
        // After a rename there is nothing of this name, and a failure to clean up has no one to tell.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// `.NAME.SUFFIX` beside a folder.
fn beside(folder: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(folder.file_name().unwrap_or("seen".as_ref()));
    name.push(".");
    name.push(suffix);
    folder.with_file_name(name)
}
