/*!
`dedust explain`: what is done to a URL, by which rules, and why these are trusted.
*/

use std::io;
use std::path::{Path, PathBuf};

use dedust::rules::{Change, Rule};
use dedust::{ExplainedUrl, Explanation};
use serde::Serialize;

use crate::ExitStatus;
use crate::args::{OutputArgs, ReadArgs, ReportFormat, TrustArgs};
use crate::number::{count, counted};
use crate::observe::read_all;
use crate::printer::Printer;
use crate::rule_file::Watch;
use crate::{help, rule_file, words};

/// Options of `explain`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help::EXPLAIN)]
pub(crate) struct ExplainArgs {
    /// Rules from `dedust learn`
    pub(crate) rules: PathBuf,
    /// URLs to explain, or files and folders with URLs, of any format; `-` is standard input
    #[arg(required = true, value_name = "URL")]
    pub(crate) urls: Vec<String>,
    /// How inputs are read.
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
    /// Where it goes.
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// How far the rules are trusted.
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
}

/// A line of `--format json` about an argument that is no URL. Of a URL it is what [`ExplainedUrl`] says.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "error")]
struct ErrorRecord<'a> {
    /// The argument.
    input: &'a str,
    /// Why not.
    error: String,
}

/// Hosts that are named to people.
const SHOWN_HOSTS: usize = 5;

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
        match (ExplainedUrl::new(input, rules.as_ref(), &normalizer), args.format) {
            (Ok(case), ReportFormat::Text) => {
                if at > 0 {
                    printer.line("")?;
                }
                Case(case).print(printer)?;
            }
            (Ok(case), ReportFormat::Json) => printer.json(&case)?,
            (Err(error), format) => {
                if format == ReportFormat::Json {
                    let error = error.to_string();
                    printer.json(&ErrorRecord { input, error })?;
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

/// Prints one for people.
struct Case<'a>(ExplainedUrl<'a>);

impl Case<'_> {
    fn print(&self, printer: &mut Printer) -> io::Result<()> {
        let Explanation { safe, key, canonical, rules, .. } = &self.0.explanation;
        printer.line(self.0.input)?;
        let mut line = |name: &str, text: &str| printer.line(format_args!("  {name:<9}  {text}"));
        line("safe form", &safe.to_string())?;
        line("site", &self.site_in_words())?;
        if let Some(hosts) = self.hosts_in_words() {
            line("hosts", &hosts)?;
        }
        if let Some(name) = &self.0.explanation.mirror {
            line("mirror", &format!("{name} shows the pages of {}", self.0.site))?;
        }
        if let Some(mirror) = self.0.mirror {
            line("", &words::shared_paths(&mirror.evidence))?;
            if !mirror.fetchable {
                line("", "in the key only: too few of its pages were seen there to fetch others there")?;
            }
        }
        if rules.is_empty() {
            line("rules", &self.why_no_rule())?;
        }
        if self.0.is_compiled && !rules.is_empty() {
            line(if rules.len() == 1 { "rule" } else { "rules" }, &without_text(rules))?;
        }
        for (index, rule) in &self.0.rules {
            line("rule", &self.named(*index, rule))?;
            for sentence in words::trust(&rule.evidence) {
                line("", &sentence)?;
            }
            for sentence in words::decisions(*rule) {
                line("", &sentence)?;
            }
            if !rule.fetchable {
                line("", if forgets(rule) { FORGETS } else { NOT_SEEN })?;
            }
            if let Some(example) = rule.evidence.examples.first() {
                line("", &format!("e.g. {} = {}", example.url, example.duplicate))?;
            }
        }
        for (index, rule, off) in &self.0.off {
            line("off", &self.named(*index, rule))?;
            line("", &format!("turned off{off}"))?;
        }
        for refused in &self.0.refused {
            line("refused", &refused.to_string())?;
            for sentence in words::refused(refused) {
                line("", &sentence)?;
            }
        }
        line("key", &key.to_string())?;
        line("canonical", &canonical.to_string())
    }

    /// A rule by its index, and by the id that `dedust rules` takes.
    fn named(&self, index: usize, rule: &Rule) -> String {
        format!("{index} of {}, {}: {rule}", self.0.site_rules, rule.id())
    }

    fn site_in_words(&self) -> String {
        if self.0.site.is_empty() {
            "none: the URL has no host".into()
        } else if self.0.is_compiled {
            self.0.site.clone()
        } else {
            let rules = counted(self.0.site_rules as u64, "rule", "rules");
            let not_applied: Vec<String> = [(self.0.refuted_rules, "refuted"), (self.0.off_rules, "off")]
                .into_iter()
                .filter(|(number, _)| *number > 0)
                .map(|(number, state)| format!("{} of them {state}", count(number as u64)))
                .collect();
            let not_applied = if not_applied.is_empty() {
                String::new()
            } else {
                format!(", {}", words::list(&not_applied))
            };
            format!("{}, {rules}{not_applied}", self.0.site)
        }
    }

    /// Where the rules of the site hold, if it has any.
    fn hosts_in_words(&self) -> Option<String> {
        let has_rules = !self.0.is_compiled && self.0.site_rules > 0;
        match self.0.hosts {
            [] => None,
            hosts => has_rules.then(|| {
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

    fn why_no_rule(&self) -> String {
        if self.0.explanation.site.is_none() && !self.0.hosts.is_empty() {
            "none: nothing was learned of this host, and too few others agree to speak for it".into()
        } else if self.0.explanation.mirror.is_some() {
            format!("none of {} concerns it", self.0.site)
        } else if self.0.site_rules == 0 && self.0.explanation.site.is_none() {
            "none: only the safe normalization applies, which never changes the page".into()
        } else {
            "none concerns it, as no URLs like it were proven to be duplicates; it stays in its safe form"
                .into()
        }
    }
}

const FORGETS: &str = "in the key only: a value that does not matter cannot be written";
const NOT_SEEN: &str = "in the key only: such URLs were not seen often enough to be fetched";

/// Whether a rule leaves a value open.
fn forgets(rule: &Rule) -> bool {
    rule.change.iter().any(|change| matches!(change, Change::Forget(_) | Change::ForgetPath))
}

/// What is known of compiled rules: their indexes in the site's list.
fn without_text(indexes: &[usize]) -> String {
    let indexes: Vec<String> = indexes.iter().map(ToString::to_string).collect();
    let indexes = words::list(&indexes);
    format!("{indexes}, counted from 0; compiled rules say no more, the rule file they were made from does")
}
