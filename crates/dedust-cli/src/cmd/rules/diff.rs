/*!
`rules diff`: in which rules two rule files differ, and which URLs have other keys.

Exits as `diff` does: 0 if nothing differs, 1 if something does.
*/

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use dedust::errors::ParseUrlError;
use dedust::rules::{SiteEntry, SiteRules};
use dedust::support::RuleIndex;
use dedust::{Normalizer, ParsedUrl, RuleSet, site_of};
use dedust_io::Observation;
use serde::Serialize;

use super::args::DiffArgs;
use crate::args::ReportFormat;
use crate::line_source::reads_stdin;
use crate::number::{count, counted};
use crate::observe::{self, SHOWN};
use crate::printer::Printer;
use crate::{ExitStatus, rule_file};
use dedust_report::rule_state::state;

/// URLs that are shown to people; programs get all.
const SHOWN_URLS: usize = 20;

/// One line of `--format json`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Record<'a> {
    /// A rule that one file alone has, or that has another state.
    Rule {
        site: &'a str,
        id: String,
        /// What it does, in words.
        rule: String,
        /// Its state in the first file; `null` if that does not have it.
        before: Option<String>,
        /// Its state in the second file.
        after: Option<String>,
    },
    /// A site whose rules hold on other hosts, or are made in another order.
    Site {
        site: &'a str,
        /// `hosts` or `order`.
        differs: &'a str,
    },
    /// A URL with another key.
    Url {
        input: String,
        /// Its key by the first file.
        before: String,
        /// Its key by the second file.
        after: String,
    },
    /// URLs of a site.
    Urls {
        site: &'a str,
        urls: u64,
        /// Those with another key.
        changed: u64,
    },
}

/// Compares two files.
pub(super) fn run(args: &DiffArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    let urls_on_stdin = reads_stdin(&args.urls);
    let first = rule_file::load(&args.first, urls_on_stdin)?;
    let second = rule_file::load(&args.second, urls_on_stdin)?;
    let mut differs = compare_rules(&first, &second, args.format, printer)?;
    if !args.urls.is_empty() {
        let compiled = |rules: &RuleSet, path, printer: &mut Printer| {
            rule_file::trusted(Normalizer::compile(rules), path, &args.trust, printer)
        };
        let mut keys = Keys {
            before: compiled(&first, &args.first, printer),
            after: compiled(&second, &args.second, printer),
            shown: 0,
            by_site: BTreeMap::new(),
        };
        keys.compare(args, printer)?;
        differs |= keys.report(args.format, printer)?;
    }
    Ok(if differs { ExitStatus::No } else { ExitStatus::Success })
}

fn compare_rules(
    first: &RuleSet,
    second: &RuleSet,
    format: ReportFormat,
    printer: &mut Printer,
) -> anyhow::Result<bool> {
    let names: BTreeSet<&str> = first.sites().chain(second.sites()).map(|(name, _)| name).collect();
    let none = SiteRules::default();
    let mut differs = false;
    for site in names {
        let (before, after) = (first.site(site).unwrap_or(&none), second.site(site).unwrap_or(&none));
        let records = differences(site, before, after);
        if records.is_empty() {
            continue;
        }
        differs = true;
        if format == ReportFormat::Text {
            printer.line(site)?;
        }
        for record in &records {
            match format {
                ReportFormat::Text => printer.line(format_args!("  {}", in_words(record)))?,
                ReportFormat::Json => printer.json(record)?,
            }
        }
    }
    Ok(differs)
}

/// In what the rules of a site differ.
fn differences<'a>(site: &'a str, before: &SiteRules, after: &SiteRules) -> Vec<Record<'a>> {
    let record = |before: Option<SiteEntry<'_>>, after: Option<SiteEntry<'_>>| {
        let entry = before.or(after)?;
        let (before, after) = (before.map(described), after.map(described));
        let (id, rule) = (entry.id().to_string(), entry.to_string());
        (before != after).then_some(Record::Rule { site, id, rule, before, after })
    };
    let mut records = Vec::new();
    let mut indexes = Vec::new();
    // A list may have a rule twice.
    let mut is_met = vec![false; after.len()];
    let index = RuleIndex::new(after.rules());
    for rule in before.rules() {
        let same = index.indexes_of(after.rules(), rule).into_iter().find(|&index| !is_met[index]);
        if let Some(index) = same {
            is_met[index] = true;
            indexes.push(index);
        }
        records.extend(record(Some(rule.into()), same.and_then(|index| after.entry(index))));
    }
    if let SiteRules::Mirror(mirror) = before {
        let mirror = SiteEntry::from(&**mirror);
        let same = after.entries().next().filter(|entry| entry.says_same(mirror));
        is_met.iter_mut().for_each(|is_met| *is_met = same.is_some());
        records.extend(record(Some(mirror), same));
    }
    let new = after.entries().zip(&is_met).filter(|(_, is_met)| !**is_met);
    records.extend(new.filter_map(|(entry, _)| record(None, Some(entry))));
    if !indexes.is_sorted() {
        records.push(Record::Site { site, differs: "order" });
    }
    let have_rules = !before.rules().is_empty() && !after.rules().is_empty();
    if before.hosts() != after.hosts() && have_rules {
        records.push(Record::Site { site, differs: "hosts" });
    }
    records
}

/// What of a rule is compared, beside what it says.
fn described(entry: SiteEntry<'_>) -> String {
    format!("{}{}", state(entry), if entry.fetchable() { "" } else { ", in keys only" })
}

fn in_words(record: &Record<'_>) -> String {
    match record {
        Record::Rule { id, rule, before: Some(before), after: None, .. } => {
            format!("- {id} {before}: {rule}")
        }
        Record::Rule { id, rule, before: None, after: Some(after), .. } => format!("+ {id} {after}: {rule}"),
        Record::Rule { id, rule, before, after, .. } => {
            let text = |state: &Option<String>| state.clone().unwrap_or_default();
            format!("~ {id} {} -> {}: {rule}", text(before), text(after))
        }
        Record::Site { differs, .. } if *differs == "order" => {
            "~ the same rules are made in another order".into()
        }
        _ => "~ the rules hold on other hosts".into(),
    }
}

/// Keys by both files.
struct Keys {
    before: Normalizer,
    after: Normalizer,
    shown: usize,
    /// URLs, and those of them with another key.
    by_site: BTreeMap<Box<str>, (u64, u64)>,
}

impl Keys {
    fn compare(&mut self, args: &DiffArgs, printer: &mut Printer) -> anyhow::Result<()> {
        let mut observation = Observation::new();
        for path in dedust_io::expand(&args.urls)? {
            let mut reader = observe::open(&path, &args.read)?.observations()?;
            let mut bad = 0;
            while let Some(row) = reader.read(&mut observation)? {
                let problem = match row {
                    Ok(()) => {
                        let compared = self.compare_url(observation.url(), args.format, printer)?;
                        compared.err().map(|error| {
                            let (file, location) = (reader.name(), observation.location());
                            let url = dedust_io::shorten(observation.url());
                            format!("{file}{location}: {error}, left out: {url}")
                        })
                    }
                    Err(bad) => Some(bad.to_string()),
                };
                if let Some(problem) = problem {
                    bad += 1;
                    if bad <= SHOWN {
                        printer.warning(problem);
                    }
                }
            }
            if bad > 0 {
                let rows = counted(bad as u64, "row", "rows");
                printer.warning(format_args!("{rows} of {} skipped", reader.name()));
            }
            reader.check()?;
        }
        Ok(())
    }

    /// Compares the keys of a URL, if it is one.
    fn compare_url(
        &mut self,
        url: &[u8],
        format: ReportFormat,
        printer: &mut Printer,
    ) -> io::Result<Result<(), ParseUrlError>> {
        let parsed = match ParsedUrl::parse(url) {
            Ok(parsed) => parsed,
            Err(error) => return Ok(Err(error)),
        };
        let (before, after) = match (self.before.key(url), self.after.key(url)) {
            (Ok(before), Ok(after)) => (before, after),
            (Err(error), _) | (_, Err(error)) => return Ok(Err(error)),
        };
        let site = String::from_utf8_lossy(site_of(parsed.host())).into_owned();
        let (urls, changed) = self.by_site.entry(site.into()).or_default();
        *urls += 1;
        if before == after {
            return Ok(Ok(()));
        }
        *changed += 1;
        let input = String::from_utf8_lossy(url).into_owned();
        let (before, after) = (before.to_string(), after.to_string());
        match format {
            ReportFormat::Json => printer.json(&Record::Url { input, before, after })?,
            ReportFormat::Text if self.shown < SHOWN_URLS => {
                printer.line(format_args!("{input}\n  - {before}\n  + {after}"))?;
            }
            ReportFormat::Text => {}
        }
        self.shown += 1;
        Ok(Ok(()))
    }

    /// Says how many keys changed. `true` if any did.
    fn report(&self, format: ReportFormat, printer: &mut Printer) -> anyhow::Result<bool> {
        if format == ReportFormat::Text && self.shown > SHOWN_URLS {
            let more = (self.shown - SHOWN_URLS) as u64;
            printer.line(format_args!("and {} with other keys", counted(more, "more URL", "more URLs")))?;
        }
        for (site, &(urls, changed)) in self.by_site.iter().filter(|(_, (_, changed))| *changed > 0) {
            match format {
                ReportFormat::Json => printer.json(&Record::Urls { site, urls, changed })?,
                ReportFormat::Text => {
                    let urls = counted(urls, "URL", "URLs");
                    printer.line(format_args!("{site}: {} of {urls} have other keys", count(changed)))?;
                }
            }
        }
        printer.finish()?;
        let total = |of: fn(&(u64, u64)) -> u64| self.by_site.values().map(of).sum::<u64>();
        let (urls, changed) = (total(|counts| counts.0), total(|counts| counts.1));
        printer.note(format_args!("{} of {} have other keys", count(changed), counted(urls, "URL", "URLs")));
        Ok(changed > 0)
    }
}
