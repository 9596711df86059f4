/*!
`evaluate --show SITE`: what was learned of a site, and what was considered and refused.
*/

use std::path::Path;

use dedust::rules::{Decision, Evidence};
use serde::Serialize;

use crate::args::ReportFormat;
use crate::failure::refuse;
use crate::number::counted;
use crate::printer::Printer;
use crate::rule_file::{self, Rules};
use crate::words;

/// One line of `--format json`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Record<'a> {
    /// Something that was learned or written by hand. It is applied unless it is `off` or was refuted.
    Accepted {
        /// The site.
        site: &'a str,
        /// What, in words.
        text: String,
        /// Why it is trusted.
        evidence: &'a Evidence,
        /// Who turned it off.
        #[serde(skip_serializing_if = "Option::is_none")]
        off: Option<&'a Decision>,
        /// Who decided that it stays.
        #[serde(skip_serializing_if = "Option::is_none")]
        pinned: Option<&'a Decision>,
    },
    /// Something that is not.
    Refused {
        /// The site.
        site: &'a str,
        /// What, in words.
        text: String,
        /// Why not.
        reason: &'a str,
        /// Votes on it.
        votes: u64,
        /// Those of them against it.
        against: u64,
    },
}

/// Prints all candidates of a site that the rule file knows.
pub(super) fn site(
    path: &Path,
    name: &str,
    format: ReportFormat,
    printer: &mut Printer,
) -> anyhow::Result<()> {
    let Rules::Plain(rules) = rule_file::open(path, false)? else {
        return refuse(
            "compiled rules do not say what they were learned from",
            "give --show the rule file they were made from",
        );
    };
    let site = rule_file::site(&rules, name)?;
    if format == ReportFormat::Json {
        for rule in site.entries() {
            printer.json(&Record::Accepted {
                site: name,
                text: rule.to_string(),
                evidence: rule.evidence(),
                off: rule.off(),
                pinned: rule.pinned(),
            })?;
        }
        for refused in site.refused() {
            printer.json(&Record::Refused {
                site: name,
                text: refused.to_string(),
                reason: &refused.reason,
                votes: refused.votes,
                against: refused.against,
            })?;
        }
        return Ok(());
    }
    printer.line(format_args!("\n{} of {name}:", counted(site.len() as u64, "rule", "rules")))?;
    for (index, rule) in site.entries().enumerate() {
        printer.line(format_args!("  {index:>3}  {rule}"))?;
        printer.line(format_args!("       {}", words::record(rule.evidence())))?;
        for sentence in words::decisions(rule) {
            printer.line(format_args!("       {sentence}"))?;
        }
        if let Some(example) = rule.evidence().examples.first() {
            printer.line(format_args!("       e.g. {} = {}", example.url, example.duplicate))?;
        }
    }
    if !site.refused().is_empty() {
        printer.line("\nconsidered and refused, those with most votes for them first:")?;
    }
    for refused in site.refused() {
        printer.line(format_args!("       {refused}"))?;
        for sentence in words::refused(refused) {
            printer.line(format_args!("       {sentence}"))?;
        }
    }
    Ok(())
}
