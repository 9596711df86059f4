/*!
Groups as text, as JSON Lines or as CSV.
*/

use std::io::{self, Write};

use dedust::{Normalizer, Scratch};
use dedust_crawl::printable;
use dedust_report::{Group, Groups, JoiningRules, RuleRef, Totals, UrlStore};
use serde::Serialize;

use super::args::{GroupsArgs, GroupsFormat};
use crate::named_rule::NamedRule;
use crate::number::{count, counted, percent_of};
use crate::printer::Escaped;
use crate::table::Table;

/// Groups and URLs of each that are shown as text.
const SHOWN_GROUPS: usize = 20;
const SHOWN_URLS: usize = 5;

/// One line of `--format jsonl`: `{"type":"group",..}` for every group, then `{"type":"total",..}`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Record<'a> {
    /// URLs of one key.
    Group {
        key: &'a str,
        canonical: &'a str,
        /// How many canonical URLs its URLs have.
        canonical_urls: usize,
        urls: usize,
        bytes_saved: u64,
        /// URLs that safe normalization alone makes the same as one before them.
        safe_duplicates: u64,
        /// Those that join its URLs.
        rules: Vec<NamedRule<'a>>,
        members: Vec<Member>,
    },
    /// All groups, those that were left out too.
    Total {
        urls: u64,
        keys: u64,
        /// Keys of several URLs.
        groups: u64,
        duplicates: u64,
        safe_duplicates: u64,
        bytes: u64,
        bytes_saved: u64,
        safe_bytes_saved: u64,
        /// URLs whose size is not known.
        sizes_unknown: u64,
    },
}

/// A URL of a group.
#[derive(Debug, Serialize)]
struct Member {
    url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
}

/// A group, ready to be written.
struct Shown<'g> {
    key: String,
    canonical: String,
    /// How many canonical URLs its URLs have.
    canonical_urls: usize,
    members: &'g [u32],
    rules: Vec<RuleRef>,
}

/// Writes groups.
pub(super) struct Writer<'a, W> {
    args: &'a GroupsArgs,
    store: &'a UrlStore<'a>,
    normalizer: &'a Normalizer,
    scratch: Scratch,
    joining: JoiningRules<'a>,
    out: W,
}

impl<'a, W: Write> Writer<'a, W> {
    pub(super) fn new(
        args: &'a GroupsArgs,
        store: &'a UrlStore<'a>,
        normalizer: &'a Normalizer,
        joining: JoiningRules<'a>,
        out: W,
    ) -> Self {
        Self { args, store, normalizer, scratch: Scratch::default(), joining, out }
    }

    /// Writes all groups, and what they come to.
    pub(super) fn write(&mut self, groups: &Groups) -> io::Result<()> {
        match self.args.format {
            GroupsFormat::Text => self.write_text(groups),
            GroupsFormat::Jsonl => self.write_jsonl(groups),
            GroupsFormat::Csv => self.write_csv(groups),
        }
    }

    fn write_text(&mut self, groups: &Groups) -> io::Result<()> {
        let shown = if self.args.all { usize::MAX } else { SHOWN_GROUPS };
        for group in groups.list.iter().take(shown) {
            let shown = self.shown(group, groups);
            self.write_block(&shown, group)?;
        }
        if groups.list.len() > shown {
            let more = counted((groups.list.len() - shown) as u64, "more group", "more groups");
            writeln!(self.out, "{more}, which --all shows\n")?;
        }
        writeln!(self.out, "{}", table(&groups.totals))
    }

    fn write_block(&mut self, shown: &Shown<'_>, group: &Group) -> io::Result<()> {
        let mut line = |name: &str, text: &str| {
            writeln!(self.out, "{}", Escaped(format_args!("  {name:<9}  {text}").to_string().trim_end()))
        };
        let urls = counted(shown.members.len() as u64, "URL", "URLs");
        let saved = match group.saved_bytes {
            0 => String::new(),
            bytes => format!(", {} saved", counted(bytes, "byte", "bytes")),
        };
        let chosen = match shown.canonical_urls {
            1 => String::new(),
            several => format!(", chosen of {several}"),
        };
        line("group", &format!("{urls}{saved}"))?;
        line("canonical", &format!("{}{chosen}", shown.canonical))?;
        line("key", &shown.key)?;
        if shown.rules.is_empty() && shown.members.len() > 1 {
            line("joined by", "safe normalization")?;
        }
        for id in &shown.rules {
            line("joined by", &self.joining.name(id))?;
        }
        let limit = if self.args.all { usize::MAX } else { SHOWN_URLS };
        for (at, &number) in shown.members.iter().take(limit).enumerate() {
            line(if at == 0 { "first" } else { "" }, &printable(self.store.url(number)))?;
        }
        if shown.members.len() > limit {
            line("", &format!("and {} more", count((shown.members.len() - limit) as u64)))?;
        }
        writeln!(self.out)
    }

    fn write_jsonl(&mut self, groups: &Groups) -> io::Result<()> {
        for group in &groups.list {
            let shown = self.shown(group, groups);
            let rules = shown.rules.iter().map(|rule| NamedRule::of(rule, &self.joining));
            let members = shown.members.iter().map(|&number| Member {
                url: printable(self.store.url(number)),
                bytes: self.store.size(number),
            });
            let record = Record::Group {
                key: &shown.key,
                canonical: &shown.canonical,
                canonical_urls: shown.canonical_urls,
                urls: shown.members.len(),
                bytes_saved: group.saved_bytes,
                safe_duplicates: group.safe_duplicates,
                rules: rules.collect(),
                members: members.collect(),
            };
            serde_json::to_writer(&mut self.out, &record)?;
            self.out.write_all(b"\n")?;
        }
        serde_json::to_writer(&mut self.out, &total(&groups.totals))?;
        self.out.write_all(b"\n")
    }

    fn write_csv(&mut self, groups: &Groups) -> io::Result<()> {
        self.out.write_all(b"group,urls,url,bytes,first,canonical,key,rules\n")?;
        for (index, group) in groups.list.iter().enumerate() {
            let shown = self.shown(group, groups);
            let names = shown.rules.iter().map(|id| format!("{}#{}", id.site, id.index));
            let rules = names.collect::<Vec<_>>().join(" ");
            for (at, &number) in shown.members.iter().enumerate() {
                let fields = [
                    (index + 1).to_string(),
                    shown.members.len().to_string(),
                    printable(self.store.url(number)),
                    self.store.size(number).map_or_else(String::new, |size| size.to_string()),
                    (at == 0).to_string(),
                    shown.canonical.clone(),
                    shown.key.clone(),
                    rules.clone(),
                ];
                let fields: Vec<String> = fields.iter().map(|field| quoted(field)).collect();
                writeln!(self.out, "{}", fields.join(","))?;
            }
        }
        Ok(())
    }

    fn shown<'g>(&mut self, group: &Group, groups: &'g Groups) -> Shown<'g> {
        let members = groups.members(group);
        let urls: Vec<&[u8]> = members.iter().map(|&number| self.store.url(number)).collect();
        let canonical = self.store.canonical_of(members.iter().copied(), &mut self.scratch);
        let key = urls.first().and_then(|url| self.normalizer.key_with(url, &mut self.scratch).ok());
        Shown {
            key: key.map_or_else(String::new, printable),
            canonical: printable(&canonical.url),
            canonical_urls: canonical.of,
            rules: self.joining.of(&urls),
            members,
        }
    }
}

/// A field of CSV, in quotes where it needs them.
fn quoted(field: &str) -> String {
    if field.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

fn total(totals: &Totals) -> Record<'static> {
    Record::Total {
        urls: totals.urls,
        keys: totals.keys,
        groups: totals.groups,
        duplicates: totals.duplicates(),
        safe_duplicates: totals.safe_duplicates,
        bytes: totals.bytes,
        bytes_saved: totals.saved_bytes,
        safe_bytes_saved: totals.safe_bytes,
        sizes_unknown: totals.urls - totals.sized,
    }
}

fn table(totals: &Totals) -> String {
    let headings: &[&str] = match totals.sized {
        0 => &["", "URLs", "share"],
        _ => &["", "URLs", "share", "bytes", "share"],
    };
    let mut table = Table::new(headings);
    let mut row = |name: &str, urls: u64, bytes: u64| {
        let mut cells = vec![name.to_owned(), count(urls), percent_of(urls, totals.urls)];
        if totals.sized > 0 {
            cells.extend([count(bytes), percent_of(bytes, totals.bytes)]);
        }
        table.push(cells);
    };
    let duplicates = totals.duplicates();
    row("all", totals.urls, totals.bytes);
    row("duplicates", duplicates, totals.saved_bytes);
    row("  by safe normalization alone", totals.safe_duplicates, totals.safe_bytes);
    row(
        "  by rules",
        duplicates - totals.safe_duplicates,
        totals.saved_bytes.saturating_sub(totals.safe_bytes),
    );
    let unknown = match (totals.sized, totals.urls - totals.sized) {
        (0, _) | (_, 0) => String::new(),
        (_, unknown) => format!("\nThe sizes of {} are not known.", counted(unknown, "URL", "URLs")),
    };
    format!("{}\n\n{table}{unknown}", summary(totals))
}

/// The figures in one sentence.
pub(super) fn summary(totals: &Totals) -> String {
    let saved = match totals.saved_bytes {
        0 => String::new(),
        bytes => format!(", {} saved", counted(bytes, "byte", "bytes")),
    };
    format!(
        "{} of {} in {}: {}, {} of them by safe normalization alone{saved}",
        counted(totals.duplicates() + totals.groups, "URL", "URLs"),
        count(totals.urls),
        counted(totals.groups, "group", "groups"),
        counted(totals.duplicates(), "duplicate", "duplicates"),
        count(totals.safe_duplicates),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_with_commas_and_quotes_are_quoted() {
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("say \"a\""), "\"say \"\"a\"\"\"");
        assert_eq!(quoted("http://a.example/"), "http://a.example/");
    }
}
