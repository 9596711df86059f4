/*!
What the crawl says of canonical URLs: how many are alive, unmet and wrong, and with `evaluate --errors` which are wrong.

A wrong canonical URL is charged to the last rule that writes canonical URLs and changed the URL; to none if no such rule changed it. Compiled
rules do not say which rules write, so there it is the last that changed the URL. A URL that itself redirects or fails, and has a canonical URL
that does so too, is no error.
*/

use std::io;

use dedust::{Explanation, Normalizer};
use dedust_crawl::printable;
use dedust_eval::{CanonicalFates, EvaluatedUrl};
use dedust_learn::support::CanonicalFate;
use dedust_report::{JoiningRules, RuleRef};
use serde::Serialize;

use super::EvaluateArgs;
use super::charges::{Charge, Charges};
use super::errors::{Facts, KnownUrls};
use crate::args::ReportFormat;
use crate::named_rule::NamedRule;
use crate::number::{count, counted};
use crate::printer::Printer;
use crate::words;

/// One line of `--format json`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Record<'a> {
    /// What is charged to one rule.
    CanonicalErrors {
        /// None if no rule changed the URLs.
        #[serde(flatten)]
        rule: Option<NamedRule<'a>>,
        redirects: u64,
        fails: u64,
        other_page: u64,
    },
    /// A URL whose canonical URL does not show its page.
    WrongCanonical { url: String, canonical: String, fate: &'static str, seen: &'a Facts },
}

/// The numbers of a URL and of its canonical URL, and why this is wrong.
type WrongUrl = (u32, u32, CanonicalFate);

/// The figures, for people.
pub(super) fn print_counts(fates: CanonicalFates, printer: &mut Printer) -> io::Result<()> {
    let reasons = if fates.counts.wrong > 0 { format!(" ({})", reasons(&fates)) } else { String::new() };
    printer.line(format_args!("\ncanonical URLs: {}{reasons}", words::canonical(fates.counts)))
}

/// Warns of what is wrong, or not known.
pub(super) fn warn(fates: CanonicalFates, are_shown: bool, printer: &mut Printer) {
    if fates.counts.wrong > 0 {
        let see = if are_shown { "" } else { "; see `dedust evaluate --errors`" };
        let of = counted(fates.counts.wrong, "canonical URL is", "canonical URLs are");
        printer.warning(format_args!("{of} wrong in this crawl: {}{see}", reasons(&fates)));
    }
    if let Some(warning) = words::mostly_unmet(fates.counts) {
        printer.warning(warning);
    }
}

/// Prints the canonical URLs that are wrong, those rules first that write most of them.
pub(super) fn print(
    urls: &[EvaluatedUrl],
    known: &KnownUrls,
    normalizer: &Normalizer,
    joining: &JoiningRules<'_>,
    args: &EvaluateArgs,
    printer: &mut Printer,
) -> anyhow::Result<()> {
    let mut charges: Charges<CanonicalFates, WrongUrl> = Charges::new();
    for (number, url) in (0..).zip(urls) {
        let Some(canonical) = url.canonical.filter(|url| url.fate.is_wrong()) else { continue };
        let Some(other) = canonical.number else { continue };
        let rule = writer(&normalizer.explain(known.url(number))?, joining);
        charges.add(rule, (number, other, canonical.fate)).add(canonical.fate);
    }
    for (rule, Charge { counts: fates, errors: urls }) in charges.worst_first(|fates| fates.counts.wrong) {
        match args.format {
            ReportFormat::Text => {
                let name = rule.as_ref().map_or("no rule".into(), |rule| joining.name(rule));
                printer.line(format_args!(
                    "\n{name}\n  {}: {}",
                    counted(fates.counts.wrong, "wrong canonical URL", "wrong canonical URLs"),
                    reasons(&fates),
                ))?;
            }
            ReportFormat::Json => printer.json(&Record::CanonicalErrors {
                rule: rule.as_ref().map(|rule| NamedRule::of(rule, joining)),
                redirects: fates.redirects,
                fails: fates.fails,
                other_page: fates.other_page,
            })?,
        }
        for &(number, canonical, fate) in urls.iter().take(args.limit) {
            let (url, written) = (printable(known.url(number)), normalizer.explain(known.url(number))?);
            let (written, seen) = (written.canonical.to_string(), known.facts(canonical));
            match args.format {
                ReportFormat::Text => {
                    printer.line(format_args!("\n  {:<9}  {url}", "URL"))?;
                    printer.line(format_args!("  {:<9}  {written}", "canonical"))?;
                    printer.line(format_args!("  {:<9}  {}", name(fate), seen.outcome()))?;
                }
                ReportFormat::Json => {
                    let fate = name(fate);
                    printer.json(&Record::WrongCanonical { url, canonical: written, fate, seen })?;
                }
            }
        }
    }
    Ok(())
}

/// The rule that wrote the canonical URL of a URL.
fn writer(explanation: &Explanation, joining: &JoiningRules<'_>) -> Option<RuleRef> {
    let site = explanation.site.as_deref().filter(|_| explanation.canonical != explanation.safe)?;
    let mut changed = explanation.rules.iter().map(|&index| RuleRef { site: site.into(), index });
    changed.rfind(|rule| joining.is_fetchable(rule) != Some(false))
}

/// Why canonical URLs are wrong: `1,035 redirect, 2 fail`.
fn reasons(fates: &CanonicalFates) -> String {
    let kinds = [
        (fates.redirects, "redirects", "redirect"),
        (fates.fails, "fails", "fail"),
        (fates.other_page, "shows another page", "show another page"),
    ];
    let some = kinds.into_iter().filter(|(urls, ..)| *urls > 0);
    let some =
        some.map(|(urls, one, many)| format!("{} {}", count(urls), if urls == 1 { one } else { many }));
    some.collect::<Vec<_>>().join(", ")
}

fn name(fate: CanonicalFate) -> &'static str {
    match fate {
        CanonicalFate::Alive => "alive",
        CanonicalFate::Unmet => "unmet",
        CanonicalFate::Redirects => "redirects",
        CanonicalFate::Fails => "fails",
        CanonicalFate::OtherPage => "other_page",
    }
}
