/*!
`rules show`: all that the file knows of a site, or of one of its rules.
*/

use std::io;

use dedust::rules::{Promise, SiteEntry, SiteRules};
use serde::Serialize;

use super::args::ShowArgs;
use super::select::refusal;
use crate::ExitStatus;
use crate::args::ReportFormat;
use crate::number::{count, counted};
use crate::printer::Printer;
use crate::{rule_file, words};
use dedust_report::rule_state::{state, trust};

/// One line of `--format json`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "rule")]
struct Record<'a> {
    /// The site.
    site: &'a str,
    /// By what it says.
    id: String,
    /// Its place in the list of its site, from 0.
    index: usize,
    /// Whether URLs are changed by it.
    applied: bool,
    /// The hosts on which it holds, with and without `www`; empty for all.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    hosts: &'a [Box<str>],
    /// As in the file.
    rule: SiteEntry<'a>,
}

/// Shows a site or a rule.
pub(super) fn run(args: &ShowArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    let rules = rule_file::load(&args.rules, false)?;
    let site = rule_file::site(&rules, &args.site)?;
    let indexes = match &args.id {
        Some(id) => site.rules_with_id(&args.site, id).map_err(|error| refusal(error, &rules))?,
        None => (0..site.len()).collect(),
    };
    if args.format == ReportFormat::Json {
        for (index, rule) in indexes.into_iter().filter_map(|index| Some((index, site.entry(index)?))) {
            let (id, applied) = (rule.id().to_string(), rule.is_applied());
            printer.json(&Record { site: &args.site, id, index, applied, hosts: site.hosts(), rule })?;
        }
        return Ok(ExitStatus::Success);
    }
    if args.id.is_none() {
        print_site(&args.site, site, printer)?;
    }
    let entries = indexes.into_iter().filter_map(|index| Some((index, site.entry(index)?)));
    for (at, (index, entry)) in entries.enumerate() {
        if at > 0 || args.id.is_none() {
            printer.line("")?;
        }
        print_entry(index, entry, printer)?;
    }
    if args.id.is_none() && !site.refused().is_empty() {
        printer.line("\nconsidered and not believed:")?;
        for refused in site.refused() {
            printer.line(format_args!("  {refused}"))?;
            for sentence in words::refused(refused) {
                printer.line(format_args!("    {sentence}"))?;
            }
        }
    }
    Ok(ExitStatus::Success)
}

fn print_site(name: &str, site: &SiteRules, printer: &mut Printer) -> io::Result<()> {
    let applied = site.entries().filter(|entry| entry.is_applied()).count() as u64;
    let rules = counted(site.len() as u64, "rule", "rules");
    printer.line(format_args!("{name}: {rules}, {} applied", count(applied)))?;
    if !site.hosts().is_empty() {
        printer.line(format_args!("  on {} alone, with and without www", site.hosts().join(", ")))?;
    }
    if site.summary().urls > 0 {
        let urls = counted(site.summary().urls, "URL", "URLs");
        printer.line(format_args!("  learned from {urls} of {} known pages", count(site.summary().pages)))?;
    }
    match (site.promise(), site.summary().promise) {
        (Some(Promise { lost, pages }), _) => printer.line(format_args!(
            "  at most {} of {} are expected to be merged wrongly, 95 % confidence",
            count(lost),
            counted(pages, "page", "pages"),
        )),
        (None, Some(_)) => printer.line(
            "  nothing is promised: a rule is applied that was written by hand, or pinned although it was refuted",
        ),
        (None, None) => Ok(()),
    }
}

fn print_entry(index: usize, entry: SiteEntry<'_>, printer: &mut Printer) -> io::Result<()> {
    printer.line(format_args!("{}  rule {index}, {}, {}", entry.id(), trust(entry), state(entry)))?;
    let mut line = |text: &str| printer.line(format_args!("  {text}"));
    line(&entry.to_string())?;
    for sentence in words::decisions(entry).iter().chain(&words::trust(entry.evidence())) {
        line(sentence)?;
    }
    line(if entry.fetchable() { "in keys and canonical URLs" } else { "in keys only" })?;
    for example in &entry.evidence().examples {
        line(&format!("e.g. {} = {}", example.url, example.duplicate))?;
    }
    Ok(())
}
