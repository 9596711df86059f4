/*!
`dedup --shadow`: rules on trial see the same URLs, and what they would have left out is counted. What is printed does not depend on them.

A URL counts if it was printed and the rules on trial give it the key of a URL before it. It counts for the rules on trial that change it or the URL before
it, less those that the rules in use make too.
*/

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use dedust::rules::Example;
use dedust::{Explanation, Normalizer, RuleSet};
use dedust_seen::{SeenKey, SeenSet};
use serde::Serialize;

use super::args::{DedupArgs, DedupFormat};
use crate::line_source::{is_dash, name_of};
use crate::number::{count, counted, percent_of};
use crate::printer::Printer;
use crate::rule_file::{self, Rules};

/// Bytes of URLs that are remembered to be shown beside those that would have been left out.
const REMEMBERED_BYTES: usize = 16 << 20;
/// Memory for a URL that is remembered, beside its text.
const ENTRY_BYTES: usize = 64;
/// Pairs that are shown of a rule, and of all rules.
const SHOWN_PAIRS: usize = 2;
const ALL_PAIRS: usize = 1000;
/// Rules that are shown to people; programs get all.
const SHOWN_RULES: usize = 20;

/// Rules on trial, and what they would have done.
pub(super) struct Shadow {
    pub(super) normalizer: Normalizer,
    /// With their texts, unless they are compiled.
    rules: Option<RuleSet>,
    in_use: Option<RuleSet>,
    name: String,
    /// Whether keys of earlier runs are known to the rules in use, and not to those on trial.
    has_past: bool,
    seen: SeenSet,
    is_new: Vec<bool>,
    /// The first URLs, by the keys on trial.
    first_urls: HashMap<SeenKey, Box<[u8]>>,
    remembered_bytes: usize,
    figures: Figures,
    by_rule: BTreeMap<(Box<str>, usize), ByRule>,
    pairs: usize,
}

/// What the rules on trial would have done, for `--format json`.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(tag = "type", rename = "shadow")]
struct Figures {
    /// URLs that were printed.
    printed: u64,
    /// Those of them that would have been left out.
    left_out: u64,
    /// URLs that were left out and would have been printed. Not counted with `--seen`.
    kept: u64,
}

/// URLs that a rule would have left out.
#[derive(Debug, Default)]
struct ByRule {
    left_out: u64,
    examples: Vec<Example>,
}

/// The same for `--format json`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "shadow_rule")]
struct Record<'a> {
    site: &'a str,
    /// Its place in the list of its site, from 0.
    index: usize,
    /// Its id and what it does; `null` for compiled rules.
    id: Option<String>,
    rule: Option<String>,
    left_out: u64,
    examples: &'a [Example],
}

impl Shadow {
    /// Opens the rules on trial.
    pub(super) fn open(
        path: &Path,
        args: &DedupArgs,
        from_stdin: bool,
        printer: &mut Printer,
    ) -> anyhow::Result<Self> {
        let (rules, normalizer) = rule_file::open(path, from_stdin)?.compiled();
        // Whether a rule on trial is in use already is known only of a rule file that can be read twice.
        let in_use = match is_dash(&args.rules) {
            true => None,
            false => match rule_file::open(&args.rules, false)? {
                Rules::Plain(rules) => Some(rules),
                Rules::Compiled(_) => None,
            },
        };
        Ok(Self {
            normalizer: rule_file::trusted(normalizer, path, &args.trust, printer),
            rules,
            in_use,
            name: name_of(path),
            has_past: args.seen.is_some(),
            seen: SeenSet::in_memory()?,
            is_new: Vec::new(),
            first_urls: HashMap::new(),
            remembered_bytes: 0,
            figures: Figures::default(),
            by_rule: BTreeMap::new(),
            pairs: 0,
        })
    }

    /// Counts URLs by their keys on trial, and by whether they were printed.
    pub(super) fn count<'t>(
        &mut self,
        keys: &[SeenKey],
        is_printed: &[bool],
        url_of: impl Fn(usize) -> &'t [u8],
    ) -> anyhow::Result<()> {
        let mut is_new = std::mem::take(&mut self.is_new);
        self.seen.insert_batch(keys, &mut is_new)?;
        for (index, (&is_new, &is_printed)) in is_new.iter().zip(is_printed).enumerate() {
            self.figures.printed += u64::from(is_printed);
            match (is_printed, is_new) {
                (_, true) => {
                    self.figures.kept += u64::from(!is_printed && !self.has_past);
                    self.remember(keys[index], url_of(index));
                }
                (true, false) => self.leave_out(keys[index], url_of(index)),
                (false, false) => {}
            }
        }
        self.is_new = is_new;
        Ok(())
    }

    fn remember(&mut self, key: SeenKey, url: &[u8]) {
        let bytes = url.len() + ENTRY_BYTES;
        if self.remembered_bytes + bytes <= REMEMBERED_BYTES {
            self.remembered_bytes += bytes;
            self.first_urls.insert(key, url.into());
        }
    }

    fn leave_out(&mut self, key: SeenKey, url: &[u8]) {
        self.figures.left_out += 1;
        let first = self.first_urls.get(&key);
        let explained =
            [Some(url), first.map(|first| &**first)].map(|url| self.normalizer.explain(url?).ok());
        let mut rules: Vec<(Box<str>, usize)> =
            explained.iter().flatten().flat_map(|explanation| self.rules_of(explanation)).collect();
        rules.sort_unstable();
        rules.dedup();
        if rules.iter().any(|rule| !self.is_in_use(rule)) {
            rules.retain(|rule| !self.is_in_use(rule));
        }
        let text = |url: &[u8]| String::from_utf8_lossy(url).into();
        let pair = first.map(|first| Example { url: text(url), duplicate: text(first) });
        for rule in rules {
            let by_rule = self.by_rule.entry(rule).or_default();
            by_rule.left_out += 1;
            if let Some(pair) = &pair
                && by_rule.examples.len() < SHOWN_PAIRS
                && self.pairs < ALL_PAIRS
            {
                self.pairs += 1;
                by_rule.examples.push(pair.clone());
            }
        }
    }

    /// The rules that change a URL, and the mirror that it was moved by.
    fn rules_of(&self, explanation: &Explanation) -> Vec<(Box<str>, usize)> {
        let mirror = explanation.mirror.iter().map(|site| (site.clone(), 0));
        let site = explanation.site.clone();
        let rules = explanation.rules.iter().filter_map(|&index| Some((site.clone()?, index)));
        mirror.chain(rules).collect()
    }

    /// Whether the rules in use have a rule on trial too.
    fn is_in_use(&self, (site, index): &(Box<str>, usize)) -> bool {
        let rule = self.rules.as_ref().and_then(|rules| rules.site(site)?.entry(*index));
        let in_use = self.in_use.as_ref().and_then(|rules| rules.site(site));
        rule.zip(in_use).is_some_and(|(rule, site)| {
            site.entries().any(|other| other.is_applied() && other.says_same(rule))
        })
    }

    /// Says what the rules on trial would have done.
    pub(super) fn report(&self, format: DedupFormat, printer: &mut Printer) -> anyhow::Result<()> {
        let mut records: Vec<Record<'_>> = self.by_rule.iter().map(|rule| self.record(rule)).collect();
        if format == DedupFormat::Json {
            records.iter().try_for_each(|record| printer.json(record))?;
            return Ok(printer.json(&self.figures)?);
        }
        let Figures { printed, left_out, kept } = self.figures;
        printer.note(format_args!(
            "with {}, {} of {} would have been left out too, {}",
            self.name,
            count(left_out),
            counted(printed, "printed URL", "printed URLs"),
            percent_of(left_out, printed),
        ));
        if kept > 0 {
            printer.note(format_args!(
                "and {} would have been printed that were left out",
                counted(kept, "URL", "URLs")
            ));
        }
        records.sort_by_key(|record| std::cmp::Reverse(record.left_out));
        for Record { site, index, id, rule, left_out, examples } in records.iter().take(SHOWN_RULES) {
            let rule = match (id, rule) {
                (Some(id), Some(rule)) => format!("{id}, {rule}"),
                _ => format!("rule {index}"),
            };
            printer.note(format_args!("  {} by {site} {rule}", count(*left_out)));
            for Example { url, duplicate } in *examples {
                printer.note(format_args!("    {url}\n    = {duplicate}"));
            }
        }
        if let Some(more) = records.len().checked_sub(SHOWN_RULES).filter(|more| *more > 0) {
            printer.note(format_args!("  and {}", counted(more as u64, "more rule", "more rules")));
        }
        Ok(())
    }

    fn record<'a>(&self, (rule, counts): (&'a (Box<str>, usize), &'a ByRule)) -> Record<'a> {
        let (site, index) = (&*rule.0, rule.1);
        let known = self.rules.as_ref().and_then(|rules| rules.site(site)?.entry(index));
        Record {
            site,
            index,
            id: known.map(|rule| rule.id().to_string()),
            rule: known.map(|rule| rule.to_string()),
            left_out: counts.left_out,
            examples: &counts.examples,
        }
    }
}
