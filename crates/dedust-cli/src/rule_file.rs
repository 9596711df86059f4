/*!
Opens the rules that a command was given, plain or compiled, with errors that name the file.
*/

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use dedust::errors::{InvalidRule, InvalidSite, LoadRulesError};
use dedust::rules::{Rule, SiteRules};
use dedust::{LeftOutReason, Normalizer, RuleSet};
use dedust_io::{Compression, FileStamp, OutputFile, WriteError};

use crate::args::TrustArgs;
use crate::failure::{Refusal, refuse};
use crate::line_source::{is_dash, name_of};
use crate::number::counted;
use crate::printer::Printer;

/// Rules as they were given.
pub(crate) enum Rules {
    /// With evidence.
    Plain(RuleSet),
    /// Ready to be applied.
    Compiled(Normalizer),
}

impl Rules {
    /// The rules ready to be applied, and with evidence where they have it.
    pub(crate) fn compiled(self) -> (Option<RuleSet>, Normalizer) {
        match self {
            Self::Plain(rules) => {
                let normalizer = Normalizer::compile(&rules);
                (Some(rules), normalizer)
            }
            Self::Compiled(normalizer) => (None, normalizer),
        }
    }
}

/// Opens the rules at `path`, or on standard input for `-` unless the URLs are there. Plain ones are checked; gzip and
/// zstd are fine for them.
pub(crate) fn open(path: &Path, urls_on_stdin: bool) -> anyhow::Result<Rules> {
    open_with(path, urls_on_stdin, |file| RuleSet::load(file).map(Rules::Plain), Rules::Compiled)
}

/// Opens rules as [`open`] does; `load` reads plain rules, `take` takes compiled ones.
fn open_with<T>(
    path: &Path,
    urls_on_stdin: bool,
    load: impl FnOnce(dedust_io::Text) -> Result<T, LoadRulesError>,
    take: impl FnOnce(Normalizer) -> T,
) -> anyhow::Result<T> {
    if urls_on_stdin && is_dash(path) {
        return refuse(
            "both the rules and the URLs are to come from standard input",
            "name the file of at least one",
        );
    }
    let cannot_use = || format!("cannot use the rules in {}", name_of(path));
    if holds_compiled(path) {
        return Normalizer::open(path).with_context(cannot_use).map(take);
    }
    load(dedust_io::open_text(path)?).with_context(cannot_use)
}

/// Whether there is a file of compiled rules at `path`; false also when it cannot be read, which is reported later.
pub(crate) fn holds_compiled(path: &Path) -> bool {
    !is_dash(path) && dedust::holds_compiled(path)
}

/// The rules at `path`, ready to be applied, as far as the user trusts them. Warns of what is not applied.
pub(crate) fn normalizer(
    path: &Path,
    trust: &TrustArgs,
    urls_on_stdin: bool,
    printer: &mut Printer,
) -> anyhow::Result<Normalizer> {
    let normalizer = open_with(path, urls_on_stdin, Normalizer::compile_from, |compiled| compiled)?;
    Ok(trusted(normalizer, path, trust, printer))
}

/// Leaves out mirrors unless the user trusts them. Warns of what is not applied of the rules at `path`.
pub(crate) fn trusted(
    normalizer: Normalizer,
    path: &Path,
    trust: &TrustArgs,
    printer: &mut Printer,
) -> Normalizer {
    warn_of_left_out(path, &normalizer, printer);
    if trust.trust_mirrors {
        return normalizer;
    }
    let mirrors = normalizer.mirror_count();
    if mirrors > 0 {
        let name = name_of(path);
        let are = if mirrors == 1 { "is" } else { "are" };
        printer.warning(format_args!(
            "{} in {name} {are} not applied: URLs of one domain would become URLs of another",
            counted(mirrors, "mirror", "mirrors")
        ));
        printer.hint("if you learned these rules yourself, or trust whoever did, add --trust-mirrors");
    }
    // Also where the header of a compiled file says that there are none.
    normalizer.without_mirrors()
}

/// Says how many sites of the rules at `path` are not applied, and why. Names the first few where their names are known.
pub(crate) fn warn_of_left_out(path: &Path, normalizer: &Normalizer, printer: &mut Printer) {
    let name = name_of(path);
    let all = normalizer.left_out();
    if all.is_empty() && normalizer.left_out_count() > 0 {
        printer.warning(format_args!(
            "{} left out when {name} was compiled; URLs of such a site stay as they are",
            counted(normalizer.left_out_count(), "site was", "sites were"),
        ));
        printer.hint("compile the rule file again to see which they are, and why");
        return;
    }
    let reasons = [
        (
            LeftOutReason::TooLarge,
            "too large to be compiled",
            "remove some rules of these sites, or learn them again from fewer URLs",
        ),
        (
            LeftOutReason::NoOriginal,
            "mirrors of each other, in a circle or in a row of more than eight",
            "remove one of these mirrors from the file, or name the original in each of them",
        ),
        (
            LeftOutReason::Crowded,
            "having hashes like very many others",
            "such names do not come about by chance; look where the file is from",
        ),
    ];
    for (reason, text, remedy) in reasons {
        let sites = all.iter().filter(|left_out| left_out.reason == reason).map(|left_out| &*left_out.site);
        let sites: Vec<&str> = sites.collect();
        if sites.is_empty() {
            continue;
        }
        printer.warning(format_args!(
            "{} of {name} left out as {text}: {}; URLs of such a site stay as they are",
            counted(sites.len() as u64, "site", "sites"),
            first_few(&sites),
        ));
        printer.hint(remedy);
    }
}

/// The first of some names.
fn first_few(names: &[&str]) -> String {
    const NAMED: usize = 5;
    let more = if names.len() > NAMED { ", ..." } else { "" };
    names[..names.len().min(NAMED)].join(", ") + more
}

/// The rules at `path` for a command that needs their evidence.
pub(crate) fn load(path: &Path, urls_on_stdin: bool) -> anyhow::Result<RuleSet> {
    match open(path, urls_on_stdin)? {
        Rules::Plain(rules) => Ok(rules),
        Rules::Compiled(_) => refuse(
            format!("{} holds compiled rules, which have no evidence", name_of(path)),
            "name the rule file that they were compiled from",
        ),
    }
}

/// The rules of a site, for a command that was given its name.
pub(crate) fn site<'r>(rules: &'r RuleSet, name: &str) -> Result<&'r SiteRules, Refusal> {
    rules.site(name).ok_or_else(|| unknown_site(rules, name))
}

/// Says that a site is not in the file, and which are.
pub(crate) fn unknown_site(rules: &RuleSet, name: &str) -> Refusal {
    let names: Vec<&str> = rules.sites().take(5).map(|(name, _)| name).collect();
    Refusal::new(
        format!("the rule file has no site `{name}`"),
        format!("sites are named by their registrable domain, here {}", names.join(", ")),
    )
}

/// Refuses a file that rules cannot be written back to, before any work is done.
pub(crate) fn check_rewritable(path: &Path) -> anyhow::Result<()> {
    if is_dash(path) {
        let problem = "the rules come from standard input, so that they cannot be changed";
        return refuse(problem, "name a file");
    }
    if !holds_compiled(path) && dedust_io::open_text(path)?.origin().compression() != Compression::None {
        let problem = format!("{} is compressed, and rules are written plain", name_of(path));
        return refuse(problem, "unpack it first, with gunzip or unzstd");
    }
    Ok(())
}

/// Writes rules in place of those at `path`: all of them, or none.
pub(crate) fn rewrite(path: &Path, rules: &RuleSet) -> Result<(), WriteError> {
    OutputFile::create(path, true)?.write_whole(|output| rules.save(output))
}

/// Why a site cannot have some rules, which are named by what they do.
pub(crate) fn refused_with(site: &str, rules: &[Rule], error: InvalidSite) -> Refusal {
    let indexes = match &error {
        InvalidSite::Rule { index, source: InvalidRule::NeverMade { by, .. } } => vec![*by, *index],
        InvalidSite::Rule { index, .. } => vec![*index],
        _ => Vec::new(),
    };
    let named = indexes.into_iter().filter_map(|index| Some((index, rules.get(index)?)));
    let named: Vec<String> =
        named.map(|(index, rule)| format!("rule {index} is {} ({rule})", rule.id())).collect();
    let remedy = match named.is_empty() {
        true => "nothing was written".into(),
        false => format!("nothing was written; {}", named.join(", ")),
    };
    Refusal::new(format!("the rules of `{site}` would be refused: {:#}", anyhow::Error::new(error)), remedy)
}

/// Looks whether the file that rules were read from is still there as it was, and says once if it is not.
pub(crate) struct Watch {
    path: PathBuf,
    /// None for what is no file, and after a change was reported.
    stamp: Option<FileStamp>,
}

impl Watch {
    /// To be called before the file is read.
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.into(), stamp: FileStamp::of(path) }
    }

    /// Warns if the file has changed. The rules in use are those that were read.
    pub(crate) fn look(&mut self, printer: &mut Printer) {
        if self.stamp.is_none() || self.stamp == FileStamp::of(&self.path) {
            return;
        }
        self.stamp = None;
        let name = name_of(&self.path);
        printer.warning(format_args!(
            "{name} was changed, replaced or removed; the rules that were read from it are applied until the end"
        ));
        printer.hint("start the command again to use new rules");
    }
}
