/*!
`rules show`: all that the file knows of a site, or of one of its edits.
*/

use std::io;

use dedust::rules::{Edit, Promise, SiteRules};
use serde::Serialize;

use super::args::ShowArgs;
use super::select::refusal;
use crate::ExitStatus;
use crate::args::ReportFormat;
use crate::number::{count, counted};
use crate::printer::Printer;
use crate::{rule_file, words};
use dedust_report::edit_state::{state, trust};

/// One line of `--format json`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "edit")]
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
    edit: &'a Edit,
}

/// Shows a site or an edit.
pub(super) fn run(args: &ShowArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    let rules = rule_file::load(&args.rules, false)?;
    let site = rule_file::site(&rules, &args.site)?;
    let indexes = match &args.id {
        Some(id) => site.edits_with_id(&args.site, id).map_err(|error| refusal(error, &rules))?,
        None => (0..site.len()).collect(),
    };
    if args.format == ReportFormat::Json {
        for index in indexes {
            let edit = &site.edits()[index];
            let (id, applied) = (edit.id().to_string(), edit.is_applied());
            printer.json(&Record { site: &args.site, id, index, applied, hosts: site.hosts(), edit })?;
        }
        return Ok(ExitStatus::Success);
    }
    if args.id.is_none() {
        print_site(&args.site, site, printer)?;
    }
    for (at, index) in indexes.into_iter().enumerate() {
        if at > 0 || args.id.is_none() {
            printer.line("")?;
        }
        print_edit(index, site, printer)?;
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
    let applied = site.applied().count() as u64;
    let edits = counted(site.len() as u64, "edit", "edits");
    printer.line(format_args!("{name}: {edits}, {} applied", count(applied)))?;
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
            "  nothing is promised: an edit is applied that was written by hand, or pinned although it was refuted",
        ),
        (None, None) => Ok(()),
    }
}

fn print_edit(index: usize, site: &SiteRules, printer: &mut Printer) -> io::Result<()> {
    let edit = &site.edits()[index];
    printer.line(format_args!("{}  edit {index}, {}, {}", edit.id(), trust(edit), state(edit)))?;
    let mut line = |text: &str| printer.line(format_args!("  {text}"));
    line(&edit.to_string())?;
    for sentence in words::decisions(edit).iter().chain(&words::trust(&edit.evidence)) {
        line(sentence)?;
    }
    line(if edit.fetchable { "in keys and canonical URLs" } else { "in keys only" })?;
    for example in &edit.evidence.examples {
        line(&format!("e.g. {} = {}", example.url, example.duplicate))?;
    }
    Ok(())
}
