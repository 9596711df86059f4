/*!
`evaluate --errors`: which pages are merged wrongly, by which rule, and what the crawl says of them.

Of the URLs of one key the first is fetched, and each other page among them is merged, wrongly by the labels of the crawl. It is
lost if each of its URLs is known to show something else than the first of its key, and then it is counted once. A wrong merge is
charged to the last rule without which the two URLs would have different keys.
*/

use std::cmp::Reverse;

use dedust::{Explanation, Normalizer};
use dedust_crawl::{CrawlRow, printable};
use dedust_eval::EvaluatedUrl;
use dedust_report::JoiningRules;
use foldhash::{HashMap, HashSet};
use serde::Serialize;

use super::EvaluateArgs;
use super::charges::{Charge, Charges};
use crate::args::ReportFormat;
use crate::named_rule::NamedRule;
use crate::number::counted;
use crate::printer::Printer;
use crate::words;

/// One line of `--format json`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Record<'a> {
    /// What is charged to one rule.
    RuleErrors {
        /// None for safe normalization.
        #[serde(flatten)]
        rule: Option<NamedRule<'a>>,
        #[serde(flatten)]
        counts: Counts,
    },
    /// Two URLs of one key that show different pages.
    WrongMerge {
        key: String,
        fetched: UrlRecord<'a>,
        merged: UrlRecord<'a>,
        is_lost: bool,
        evidence: Vec<String>,
    },
    /// All of them.
    Errors {
        #[serde(flatten)]
        counts: Counts,
        /// Pages that have several keys.
        pages_split: u64,
        /// The keys of such pages, less one for each.
        keys_too_many: u64,
    },
}

/// A URL, what is made of it and what the crawl says of it.
#[derive(Debug, Serialize)]
struct UrlRecord<'a> {
    url: String,
    canonical: String,
    /// The places of the rules that changed it.
    rules: Vec<usize>,
    #[serde(flatten)]
    facts: &'a Facts,
}

/// What the crawl says of a URL, in the row in which it came first.
#[derive(Debug, Default, Serialize)]
pub(super) struct Facts {
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<Box<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<Box<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<Box<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text_digest: Option<Box<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    canonical_link: Option<Box<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    redirect: Option<Box<str>>,
}

/// The distinct URLs of the input, by number.
#[derive(Default)]
pub(super) struct KnownUrls(Vec<(Box<[u8]>, Facts)>);

impl KnownUrls {
    /// Adds a URL, unless it was met before.
    pub(super) fn push(&mut self, number: u32, row: &CrawlRow) {
        if number as usize == self.0.len() {
            self.0.push((row.url().into(), Facts::of(row)));
        }
    }

    pub(super) fn url(&self, number: u32) -> &[u8] {
        &self.0[number as usize].0
    }

    pub(super) fn facts(&self, number: u32) -> &Facts {
        &self.0[number as usize].1
    }
}

/// A page that is merged with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WrongMerge {
    /// The first URL of the key.
    fetched: u32,
    /// The first URL of the other page with this key.
    merged: u32,
    /// How many URLs of that page have this key.
    urls: u64,
    page: u32,
    /// Whether all URLs of that page show something else than what is fetched. True of one merge of a page only.
    is_lost: bool,
}

/// How much is wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
struct Counts {
    pages_lost: u64,
    pages_merged: u64,
    urls_merged: u64,
}

impl Counts {
    fn add(&mut self, merge: &WrongMerge) {
        self.pages_lost += u64::from(merge.is_lost);
        self.pages_merged += 1;
        self.urls_merged += merge.urls;
    }

    fn in_words(&self) -> String {
        format!(
            "{} lost, {} merged with another, {}",
            counted(self.pages_lost, "page", "pages"),
            self.pages_merged,
            counted(self.urls_merged, "URL", "URLs"),
        )
    }
}

/// Prints what is wrong, worst rules first.
pub(super) fn print(
    urls: &[EvaluatedUrl],
    known: &KnownUrls,
    normalizer: &Normalizer,
    joining: &mut JoiningRules<'_>,
    args: &EvaluateArgs,
    printer: &mut Printer,
) -> anyhow::Result<()> {
    let mut charges: Charges<Counts, WrongMerge> = Charges::new();
    let mut all = Counts::default();
    for merge in wrong_merges(urls) {
        let rule = joining.last_of(&[known.url(merge.fetched), known.url(merge.merged)]);
        charges.add(rule, merge).add(&merge);
        all.add(&merge);
    }
    let (pages_split, keys_too_many) = split_pages(urls);
    if args.format == ReportFormat::Text {
        printer.line(format_args!("\nerrors: {}", all.in_words()))?;
        printer.line(format_args!(
            "missed: {} still with several keys, {} too many",
            counted(pages_split, "page", "pages"),
            counted(keys_too_many, "key", "keys"),
        ))?;
    }
    let weight = |counts: &Counts| (counts.pages_lost, counts.pages_merged, counts.urls_merged);
    for (rule, Charge { counts, errors: mut merges }) in charges.worst_first(weight) {
        merges.sort_by_key(|merge| (!merge.is_lost, Reverse(merge.urls)));
        merges.truncate(args.limit);
        match args.format {
            ReportFormat::Text => {
                let name = rule.as_ref().map_or("safe normalization".into(), |id| joining.name(id));
                printer.line(format_args!("\n{name}\n  {}", counts.in_words()))?;
            }
            ReportFormat::Json => printer.json(&Record::RuleErrors {
                rule: rule.as_ref().map(|rule| NamedRule::of(rule, joining)),
                counts,
            })?,
        }
        for merge in merges {
            print_merge(&merge, known, normalizer, args.format, printer)?;
        }
    }
    if args.format == ReportFormat::Json {
        printer.json(&Record::Errors { counts: all, pages_split, keys_too_many })?;
    }
    Ok(())
}

fn print_merge(
    merge: &WrongMerge,
    known: &KnownUrls,
    normalizer: &Normalizer,
    format: ReportFormat,
    printer: &mut Printer,
) -> anyhow::Result<()> {
    let fetched = normalizer.explain(known.url(merge.fetched))?;
    let merged = normalizer.explain(known.url(merge.merged))?;
    let evidence = differences(known.facts(merge.fetched), known.facts(merge.merged));
    if format == ReportFormat::Json {
        return Ok(printer.json(&Record::WrongMerge {
            key: fetched.key.to_string(),
            fetched: record(merge.fetched, &fetched, known),
            merged: record(merge.merged, &merged, known),
            is_lost: merge.is_lost,
            evidence,
        })?);
    }
    let fate = if merge.is_lost { "lost" } else { "merged" };
    printer.line("")?;
    let mut line = |name: &str, text: &str| printer.line(format_args!("  {name:<9}  {text}"));
    for (name, number, explanation) in [("fetched", merge.fetched, &fetched), (fate, merge.merged, &merged)] {
        line(name, &format!("{}{}", printable(known.url(number)), rules_in_words(&explanation.rules)))?;
    }
    line("canonical", &fetched.canonical.to_string())?;
    if fetched.canonical != merged.canonical {
        line("", &merged.canonical.to_string())?;
    }
    if !evidence.is_empty() {
        line("evidence", &evidence.join("; "))?;
    }
    Ok(())
}

fn record<'a>(number: u32, explanation: &Explanation, known: &'a KnownUrls) -> UrlRecord<'a> {
    UrlRecord {
        url: printable(known.url(number)),
        canonical: explanation.canonical.to_string(),
        rules: explanation.rules.clone(),
        facts: known.facts(number),
    }
}

fn rules_in_words(rules: &[usize]) -> String {
    let places: Vec<String> = rules.iter().map(ToString::to_string).collect();
    match rules.len() {
        0 => "  (no rule)".into(),
        1 => format!("  (rule {})", places[0]),
        _ => format!("  (rules {})", words::list(&places)),
    }
}

/// The pages that are merged with another, in the order in which they came.
fn wrong_merges(urls: &[EvaluatedUrl]) -> Vec<WrongMerge> {
    let mut first_by_key: HashMap<u128, (u32, u32)> = HashMap::default();
    // Those that are fetched, and those of which something is fetched that may be the same.
    let mut fetched_pages: HashSet<u32> = HashSet::default();
    let mut merges: Vec<WrongMerge> = Vec::new();
    let mut merge_by_key_and_page: HashMap<(u128, u32), usize> = HashMap::default();
    for (number, url) in urls.iter().enumerate() {
        let Some(page) = url.page else { continue };
        let number = number as u32;
        let (fetched, fetched_page) = *first_by_key.entry(url.key).or_insert((number, page));
        if fetched_page == page {
            fetched_pages.insert(page);
            continue;
        }
        if !url.is_other {
            fetched_pages.insert(page);
        }
        let at = *merge_by_key_and_page.entry((url.key, page)).or_insert(merges.len());
        match merges.get_mut(at) {
            Some(merge) => merge.urls += 1,
            None => merges.push(WrongMerge { fetched, merged: number, urls: 1, page, is_lost: false }),
        }
    }
    let mut lost: HashSet<u32> = HashSet::default();
    for merge in &mut merges {
        merge.is_lost = !fetched_pages.contains(&merge.page) && lost.insert(merge.page);
    }
    merges
}

/// Pages that have several keys, and how many keys too many they have.
fn split_pages(urls: &[EvaluatedUrl]) -> (u64, u64) {
    let mut keys_by_page: HashMap<u32, HashSet<u128>> = HashMap::default();
    for url in urls {
        if let Some(page) = url.page {
            keys_by_page.entry(page).or_default().insert(url.key);
        }
    }
    let several = keys_by_page.values().filter(|keys| keys.len() > 1);
    several.fold((0, 0), |(pages, keys), of_page| (pages + 1, keys + of_page.len() as u64 - 1))
}

/// What the crawl says of two URLs, in words.
fn differences(a: &Facts, b: &Facts) -> Vec<String> {
    let mut sentences = Vec::new();
    if let (Some(ours), Some(theirs)) = (a.status, b.status)
        && ours != theirs
    {
        sentences.push(format!("status {ours} and {theirs}"));
    }
    let hashes = [("digests", &a.digest, &b.digest), ("digests of the text", &a.text_digest, &b.text_digest)];
    for (name, ours, theirs) in hashes {
        if let (Some(ours), Some(theirs)) = (ours, theirs) {
            let differ = if ours == theirs { "are the same" } else { "differ" };
            sentences.push(format!("the {name} {differ}"));
        }
    }
    let texts = [
        ("labels", &a.cluster, &b.cluster),
        ("titles", &a.title, &b.title),
        ("canonical links", &a.canonical_link, &b.canonical_link),
        ("redirects", &a.redirect, &b.redirect),
    ];
    for (name, ours, theirs) in texts {
        match (ours, theirs) {
            (Some(ours), Some(theirs)) if ours == theirs => {
                sentences.push(format!("the {name} are the same"));
            }
            (Some(ours), Some(theirs)) => {
                let short = |text: &str| dedust_io::shorten(text.as_bytes()).to_string();
                sentences.push(format!("{name} `{}` and `{}`", short(ours), short(theirs)));
            }
            _ => {}
        }
    }
    sentences
}

impl Facts {
    /// How the request ended, in words: `status 301, redirects to http://a.example/`.
    pub(super) fn outcome(&self) -> String {
        let status = self.status.map(|status| format!("status {status}"));
        let redirect = self.redirect.as_ref().map(|target| format!("redirects to {target}"));
        let title = self.title.as_ref().map(|title| format!("title `{title}`"));
        status.into_iter().chain(redirect).chain(title).collect::<Vec<_>>().join(", ")
    }

    fn of(row: &CrawlRow) -> Self {
        let text = |value: Option<&str>| value.map(Into::into);
        let link = |value: Option<&[u8]>| value.map(|url| printable(url).into());
        Self {
            cluster: text(row.cluster()),
            status: row.status(),
            title: text(row.title()),
            digest: text(row.digest()),
            text_digest: text(row.text_digest()),
            canonical_link: link(row.canonical()),
            redirect: link(row.redirect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urls(rows: &[(u128, u32)]) -> Vec<EvaluatedUrl> {
        rows.iter()
            .map(|&(key, page)| EvaluatedUrl { key, page: Some(page), is_other: true, canonical: None })
            .collect()
    }

    #[test]
    fn a_page_is_lost_if_none_of_its_urls_is_fetched() {
        let merges = wrong_merges(&urls(&[(1, 10), (1, 20), (1, 20), (2, 30), (2, 20), (2, 40), (3, 40)]));
        let found: Vec<(u32, u32, u64, bool)> =
            merges.iter().map(|merge| (merge.fetched, merge.merged, merge.urls, merge.is_lost)).collect();
        assert_eq!(found, [(0, 1, 2, true), (3, 4, 1, false), (3, 5, 1, false)]);
    }

    #[test]
    fn a_page_is_not_lost_if_what_is_fetched_may_show_the_same() {
        let mut urls = urls(&[(1, 10), (1, 20), (2, 30), (2, 20), (3, 40), (3, 50)]);
        urls[3].is_other = false;
        let lost: Vec<(u32, bool)> =
            wrong_merges(&urls).iter().map(|merge| (merge.page, merge.is_lost)).collect();
        assert_eq!(lost, [(20, false), (20, false), (50, true)]);
    }

    #[test]
    fn a_page_of_several_keys_is_split() {
        assert_eq!(split_pages(&urls(&[(1, 10), (2, 10), (3, 10), (4, 20), (4, 20)])), (1, 2));
    }

    #[test]
    fn evidence_is_what_both_rows_have() {
        let title = |title: &str| Facts { title: Some(title.into()), status: Some(200), ..Facts::default() };
        assert_eq!(differences(&title("A"), &title("B")), ["titles `A` and `B`"]);
        assert_eq!(differences(&title("A"), &Facts::default()), [""; 0]);
    }
}
