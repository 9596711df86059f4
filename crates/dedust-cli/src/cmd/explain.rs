/*!
`dedust explain`: what is done to a URL, by which edits, and why these are trusted.
*/

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use dedust::errors::ParseUrlError;
use dedust::rules::{Change, Decision, Edit, Evidence, Fetched, Op, RefusedEdit, SiteRules, Verdict};
use dedust::support::{EditList, UrlParts};
use dedust::{Explanation, Normalizer, ParsedUrl, RuleSet, site_of};
use serde::Serialize;

use crate::ExitStatus;
use crate::args::{ExplainArgs, ReportFormat};
use crate::number::{count, counted};
use crate::observe::read_all;
use crate::printer::Printer;
use crate::rule_file::Watch;
use crate::{rule_file, words};

/// One line of `--format json`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Record<'a> {
    /// What is done to a URL.
    Explanation {
        /// The URL as given.
        input: &'a str,
        /// After safe normalization.
        safe: String,
        /// The site it belongs to: a registrable domain, or a host.
        site: &'a str,
        /// The site of the URL, if it shows the pages of `site`.
        #[serde(skip_serializing_if = "Option::is_none")]
        mirror: Option<&'a str>,
        /// How many rules that site has, unless they are compiled.
        #[serde(skip_serializing_if = "Option::is_none")]
        site_rules: Option<usize>,
        /// The hosts on which they hold, with and without `www`; empty for all.
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        hosts: &'a [Box<str>],
        /// The edits that changed it, in order.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        edits: Vec<EditRecord<'a>>,
        /// Edits that would have changed it and are off.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        off: Vec<OffRecord<'a>>,
        /// Edits that would have changed it and were not believed.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        refused: Vec<RefusedRecord<'a>>,
        /// Their places in the site's list, where no more is known: compiled rules hold no text.
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        compiled_edits: &'a [usize],
        /// For equality only.
        key: String,
        /// Can be fetched.
        canonical: String,
    },
    /// An argument that is no URL.
    Error {
        /// The argument.
        input: &'a str,
        /// Why not.
        error: String,
    },
}

/// An edit, for people who read JSON.
#[derive(Debug, Serialize)]
struct EditRecord<'a> {
    /// Its place in the site's list, from 0.
    index: usize,
    /// What `dedust rules` calls it.
    id: String,
    /// What it does, in words.
    edit: String,
    /// Whether what it writes can be fetched.
    fetchable: bool,
    /// Why it is trusted, as in the rule file.
    evidence: &'a Evidence,
    /// Who decided that it stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pinned: Option<&'a Decision>,
}

/// An edit that somebody turned off, for people who read JSON.
#[derive(Debug, Serialize)]
struct OffRecord<'a> {
    /// Its place in the site's list, from 0.
    index: usize,
    /// What `dedust rules` calls it.
    id: String,
    /// What it would do, in words.
    edit: String,
    /// Who decided that, when and why.
    off: &'a Decision,
}

/// An edit that was not believed, for people who read JSON.
#[derive(Debug, Serialize)]
struct RefusedRecord<'a> {
    /// What it would do, in words.
    edit: String,
    /// Why it is not made.
    reason: &'a str,
    /// Votes on it, and those of them against it.
    votes: u64,
    against: u64,
    /// Votes for it that are missing, if votes would help.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<u64>,
    /// What fetching pages said about it, if that was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    fetched: Option<FetchedRecord<'a>>,
}

/// What fetching pages said about such an edit.
#[derive(Debug, Serialize)]
struct FetchedRecord<'a> {
    #[serde(flatten)]
    verdict: &'a Verdict,
    /// Pairs of the same page that are missing, if they would help.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<u64>,
}

/// Hosts that are named to people.
const SHOWN_HOSTS: usize = 5;

/// A URL with all there is to say about it.
struct Case<'a> {
    input: &'a str,
    site: String,
    explanation: Explanation,
    site_rules: usize,
    /// The hosts on which they hold; empty for all.
    hosts: &'a [Box<str>],
    /// Those of them that are not applied, since they were refuted.
    refuted_rules: usize,
    /// Those of them that are off.
    off_rules: usize,
    /// Why the URL is taken for one of another site, if it is.
    mirror: Option<&'a Edit>,
    /// Edits that changed the URL or its key, with their places.
    edits: Vec<(usize, &'a Edit)>,
    /// Edits that would have concerned it and are off.
    off: Vec<(usize, &'a Edit, &'a Decision)>,
    /// Edits that would have concerned it and were not believed.
    refused: Vec<&'a RefusedEdit>,
    /// Whether the texts of rules are not at hand.
    is_compiled: bool,
}

/// Explains each URL.
pub(crate) fn run(args: &ExplainArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    printer.write_to(&args.output)?;
    let inputs = inputs_among(&args.urls);
    let from_stdin = args.urls.iter().any(|url| url == "-");
    let mut watch = Watch::new(&args.rules);
    let (rules, normalizer) = rule_file::open(&args.rules, from_stdin)?.compiled();
    let normalizer = rule_file::trusted(normalizer, &args.rules, &args.trust, printer);
    let is_input = |url: &&String| inputs.iter().any(|input| input.as_os_str() == url.as_str());
    let mut urls: Vec<String> = args.urls.iter().filter(|url| !is_input(url)).cloned().collect();
    if !inputs.is_empty() {
        read_all(&inputs, &args.read, printer, |seen| {
            urls.push(String::from_utf8_lossy(seen.url()).into_owned());
            Ok(())
        })?;
    }
    let mut status = ExitStatus::Success;
    for (at, input) in urls.iter().enumerate() {
        match (Case::new(input, rules.as_ref(), &normalizer), args.format) {
            (Ok(case), ReportFormat::Text) => {
                if at > 0 {
                    printer.line("")?;
                }
                case.print(printer)?;
            }
            (Ok(case), ReportFormat::Json) => printer.json(&case.record())?,
            (Err(error), format) => {
                if format == ReportFormat::Json {
                    let error = error.to_string();
                    printer.json(&Record::Error { input, error })?;
                }
                let problem = format!("`{}` is no URL", dedust_io::shorten(input.as_bytes()));
                printer.failure(&anyhow::Error::new(error).context(problem));
                status = ExitStatus::Failure;
            }
        }
    }
    watch.look(printer);
    Ok(status)
}

/// The arguments that are no URLs but files, folders, patterns or lists with URLs in them.
fn inputs_among(arguments: &[String]) -> Vec<PathBuf> {
    let is_input = |argument: &&String| {
        **argument == "-"
            || Path::new(argument.as_str()).exists()
            || (argument.starts_with('@') || argument.contains(['*', '?', '['])) && !argument.contains(':')
    };
    arguments.iter().filter(is_input).map(PathBuf::from).collect()
}

impl<'a> RefusedRecord<'a> {
    fn new(refused: &'a RefusedEdit) -> Self {
        let RefusedEdit { reason, votes, against, missing, fetched, .. } = refused;
        let fetched = fetched
            .as_ref()
            .map(|Fetched { verdict, missing, .. }| FetchedRecord { verdict, missing: *missing });
        Self {
            edit: refused.to_string(),
            reason,
            votes: *votes,
            against: *against,
            missing: *missing,
            fetched,
        }
    }
}

impl<'a> Case<'a> {
    fn new(
        input: &'a str,
        rules: Option<&'a RuleSet>,
        normalizer: &Normalizer,
    ) -> Result<Self, ParseUrlError> {
        let explanation = normalizer.explain(input)?;
        let site = match &explanation.site {
            Some(site) => site.to_string(),
            None => String::from_utf8_lossy(site_of(ParsedUrl::parse(input)?.host())).into_owned(),
        };
        let known = rules.and_then(|rules| rules.site(&site));
        Ok(Self {
            input,
            edits: explanation.edits.iter().filter_map(|&at| Some((at, known?.edits().get(at)?))).collect(),
            mirror: rules
                .zip(explanation.mirror.as_deref())
                .and_then(|(rules, name)| rules.site(name)?.applied().next())
                .map(|(_, edit)| edit),
            off: known.map_or_else(Vec::new, |known| off_for(&explanation, &site, known)),
            refused: known.map_or_else(Vec::new, |known| refused_for(&explanation, &site, known)),
            site_rules: known.map_or(0, |site| site.len()),
            hosts: known.map_or(&[], |site| site.hosts()),
            refuted_rules: known.map_or(0, refuted_rules),
            off_rules: known
                .map_or(0, |known| known.edits().iter().filter(|edit| edit.off.is_some()).count()),
            is_compiled: rules.is_none(),
            site,
            explanation,
        })
    }

    fn record(&self) -> Record<'_> {
        let Explanation { safe, key, canonical, edits, .. } = &self.explanation;
        Record::Explanation {
            input: self.input,
            safe: safe.to_string(),
            site: &self.site,
            mirror: self.explanation.mirror.as_deref(),
            site_rules: (!self.is_compiled).then_some(self.site_rules),
            hosts: self.hosts,
            edits: self
                .edits
                .iter()
                .map(|(index, edit)| EditRecord {
                    index: *index,
                    id: edit.id().to_string(),
                    edit: edit.to_string(),
                    fetchable: edit.fetchable,
                    evidence: &edit.evidence,
                    pinned: edit.pinned.as_deref(),
                })
                .collect(),
            off: self
                .off
                .iter()
                .map(|&(index, edit, off)| OffRecord {
                    index,
                    id: edit.id().to_string(),
                    edit: edit.to_string(),
                    off,
                })
                .collect(),
            refused: self.refused.iter().map(|edit| RefusedRecord::new(edit)).collect(),
            compiled_edits: if self.is_compiled { edits } else { &[] },
            key: key.to_string(),
            canonical: canonical.to_string(),
        }
    }

    fn print(&self, printer: &mut Printer) -> io::Result<()> {
        let Explanation { safe, key, canonical, edits, .. } = &self.explanation;
        printer.line(self.input)?;
        let mut line = |name: &str, text: &str| printer.line(format_args!("  {name:<9}  {text}"));
        line("safe form", &safe.to_string())?;
        line("site", &self.site_in_words())?;
        if let Some(hosts) = self.hosts_in_words() {
            line("hosts", &hosts)?;
        }
        if let Some(name) = &self.explanation.mirror {
            line("mirror", &format!("{name} shows the pages of {}", self.site))?;
        }
        if let Some(mirror) = self.mirror {
            line("", &words::shared_paths(&mirror.evidence))?;
            if !mirror.fetchable {
                line("", "in the key only: too few of its pages were seen there to fetch others there")?;
            }
        }
        if edits.is_empty() {
            line("edits", &self.why_no_edit())?;
        }
        if self.is_compiled && !edits.is_empty() {
            line(if edits.len() == 1 { "edit" } else { "edits" }, &without_text(edits))?;
        }
        for (index, edit) in &self.edits {
            line("edit", &self.named(*index, edit))?;
            for sentence in words::trust(&edit.evidence) {
                line("", &sentence)?;
            }
            for sentence in words::decisions(edit) {
                line("", &sentence)?;
            }
            if !edit.fetchable {
                line("", if forgets(edit) { FORGETS } else { NOT_SEEN })?;
            }
            if let Some(example) = edit.evidence.examples.first() {
                line("", &format!("e.g. {} = {}", example.url, example.duplicate))?;
            }
        }
        for (index, edit, off) in &self.off {
            line("off", &self.named(*index, edit))?;
            line("", &format!("turned off{off}"))?;
        }
        for refused in &self.refused {
            line("refused", &refused.to_string())?;
            for sentence in words::refused(refused) {
                line("", &sentence)?;
            }
        }
        line("key", &key.to_string())?;
        line("canonical", &canonical.to_string())
    }

    /// An edit by its place, and by the id that `dedust rules` takes.
    fn named(&self, index: usize, edit: &Edit) -> String {
        format!("{index} of {}, {}: {edit}", self.site_rules, edit.id())
    }

    fn site_in_words(&self) -> String {
        if self.site.is_empty() {
            "none: the URL has no host".into()
        } else if self.is_compiled {
            self.site.clone()
        } else {
            let rules = counted(self.site_rules as u64, "edit", "edits");
            let not_applied: Vec<String> = [(self.refuted_rules, "refuted"), (self.off_rules, "off")]
                .into_iter()
                .filter(|(number, _)| *number > 0)
                .map(|(number, state)| format!("{} of them {state}", count(number as u64)))
                .collect();
            let not_applied = if not_applied.is_empty() {
                String::new()
            } else {
                format!(", {}", words::list(&not_applied))
            };
            format!("{}, {rules}{not_applied}", self.site)
        }
    }

    /// Where the edits of the site hold, if it has any.
    fn hosts_in_words(&self) -> Option<String> {
        let has_edits = !self.is_compiled && self.site_rules > 0;
        match self.hosts {
            [] => None,
            hosts => has_edits.then(|| {
                let shown: Vec<String> =
                    hosts.iter().take(SHOWN_HOSTS).map(|host| host.to_string()).collect();
                match hosts.len().saturating_sub(SHOWN_HOSTS) {
                    0 => format!("its rules hold where they were seen to: on {}", words::list(&shown)),
                    more => format!(
                        "its rules hold where they were seen to: on {} and {more} more",
                        shown.join(", ")
                    ),
                }
            }),
        }
    }

    fn why_no_edit(&self) -> String {
        if self.explanation.site.is_none() && !self.hosts.is_empty() {
            "none: nothing was learned of this host, and too few others agree to speak for it".into()
        } else if self.explanation.mirror.is_some() {
            format!("none of {} concerns it", self.site)
        } else if self.site_rules == 0 && self.explanation.site.is_none() {
            "none: only the safe normalization applies, which never changes the page".into()
        } else {
            "none concerns it, as no URLs like it were proven to be duplicates; it stays in its safe form"
                .into()
        }
    }
}

const FORGETS: &str = "in the key only: a value that does not matter cannot be written";
const NOT_SEEN: &str = "in the key only: such URLs were not seen often enough to be fetched";

/// Whether an edit leaves a value open.
fn forgets(edit: &Edit) -> bool {
    edit.change.iter().any(|change| match change {
        Change::Forget(_) | Change::ForgetPath => true,
        Change::Write(target) => target.values().any(|op| *op == Op::Ignore),
        _ => false,
    })
}

/// What is known of compiled rules: their places in the site's list.
fn without_text(places: &[usize]) -> String {
    let places: Vec<String> = places.iter().map(ToString::to_string).collect();
    let places = words::list(&places);
    format!("{places}, counted from 0; compiled rules say no more, the rule file they were made from does")
}

/// Edits that would change the URL, had they been believed. A few.
fn refused_for<'a>(explanation: &Explanation, name: &str, site: &'a SiteRules) -> Vec<&'a RefusedEdit> {
    let Some(mut trial) = Trial::new(explanation, name, site) else { return Vec::new() };
    let would_change = |refused: &&RefusedEdit| trial.would_change(&refused.to_edit(Evidence::default()));
    // Some differ in what their sentences leave out.
    let mut said = BTreeSet::new();
    let is_said_first = |refused: &&RefusedEdit| said.insert(refused.to_string());
    site.refused().iter().filter(would_change).filter(is_said_first).take(3).collect()
}

/// Edits that would change the URL, were they not off.
fn off_for<'a>(
    explanation: &Explanation,
    name: &str,
    site: &'a SiteRules,
) -> Vec<(usize, &'a Edit, &'a Decision)> {
    let Some(mut trial) = Trial::new(explanation, name, site) else { return Vec::new() };
    let edits = site.edits().iter().enumerate();
    let off = edits.filter_map(|(index, edit)| Some((index, edit, edit.off.as_deref()?)));
    off.filter(|(_, edit, _)| trial.would_change(edit)).collect()
}

/// Tries edits that are not applied on a URL.
struct Trial {
    url: ParsedUrl,
    site_bytes: usize,
    parts: UrlParts,
}

impl Trial {
    /// `None` on a host where the rules of the site do not hold: such an edit would not be made either.
    fn new(explanation: &Explanation, name: &str, site: &SiteRules) -> Option<Self> {
        let holds = explanation.site.is_some() || site.applied().next().is_none();
        let url = ParsedUrl::parse(explanation.safe.as_bytes()).ok();
        let url = url.filter(|_| holds && explanation.mirror.is_none())?;
        Some(Self { url, site_bytes: name.len(), parts: UrlParts::default() })
    }

    /// Whether an edit alone would change the key.
    fn would_change(&mut self, edit: &Edit) -> bool {
        let Some(edits) = EditList::new([edit]) else { return false };
        let (mut before, mut after) = (Vec::new(), Vec::new());
        self.parts.read(&self.url, self.site_bytes, &edits) && {
            self.parts.write_key(&edits, &mut before);
            self.parts.apply(&edits, 0);
            self.parts.write_key(&edits, &mut after);
            before != after
        }
    }
}

fn refuted_rules(site: &SiteRules) -> usize {
    site.edits().iter().filter(|edit| edit.off.is_none() && !edit.is_applied()).count()
}
