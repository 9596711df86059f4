/*!
Answers lines: some whole lines of a body in, one line for each of them out.

Every line gets one line, in order, so that a client can lay the two side by side. A line that is no URL is data: an empty line in text, an
error in JSON, and the lines after it are answered as ever.
*/

use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::Arc;

use bytes::Bytes;
use dedust::errors::ParseUrlError;
use dedust::{ExplainedUrl, Scratch};
use dedust_live::Verdict;
use dedust_live::errors::LiveError;
use dedust_seen::{KeyHasher, SeenKey};
use prometheus_client::metrics::counter::Counter;
use serde::Serialize;

use crate::format::Format;
use crate::lines::{MAX_LINE_BYTES, split};
use crate::live::Live;
use crate::live_rules::LoadedRules;
use crate::row::Row;
use crate::seen::{Seen, SeenFailed};

thread_local! {
    /// Buffers of the thread, which are large, and are never held while something is waited for.
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// What is asked about each line.
#[derive(Clone)]
pub(crate) enum Verb {
    /// Its canonical URL.
    Normalize,
    /// Its key.
    Keys,
    /// Whether its key is new, and from now on it is not.
    Seen(Seen),
    /// Whether a live crawl fetches it.
    Admit(Live),
    /// All there is to say about it.
    Explain,
}

/// Answers the lines of one request.
pub(crate) struct Answering {
    pub(crate) verb: Verb,
    pub(crate) sent: Format,
    pub(crate) wanted: Format,
    pub(crate) rules: Arc<LoadedRules>,
    pub(crate) lines: Counter,
    pub(crate) bad_lines: Counter,
}

/// A line of JSON. Bytes that are not UTF-8 are written as U+FFFD.
#[derive(Debug, Default, Serialize)]
struct Record<'a> {
    input: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    canonical: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duplicate: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Cow<'a, str>>,
}

/// The answer of a live crawl.
#[derive(Debug, Serialize)]
struct Admitted<'a> {
    url: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Cow<'a, str>>,
}

/// Why lines are not answered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AnswerError {
    #[error(transparent)]
    Seen(#[from] SeenFailed),
    #[error("the state of the live crawl cannot be used")]
    Live(#[from] LiveError),
}

/// A line about whose key the set is asked.
struct Asked {
    input: String,
    /// The key, and whether a member of the URL's own redirect chain has it; or why the line is no URL.
    key: Result<(String, bool), String>,
}

impl Answering {
    /// Lines that are answered without a break.
    pub(crate) fn piece_bytes(&self) -> usize {
        match self.verb {
            // Takes longer, and others are to be answered too.
            Verb::Explain => 4 << 10,
            _ => 64 << 10,
        }
    }

    /// Answers whole lines.
    pub(crate) async fn answer(&self, lines: Bytes) -> Result<Vec<u8>, AnswerError> {
        match &self.verb {
            Verb::Normalize | Verb::Keys => {
                Ok(SCRATCH.with_borrow_mut(|scratch| self.rewrite(&lines, scratch)))
            }
            Verb::Explain => Ok(self.explain(&lines)),
            Verb::Admit(live) => tokio::task::block_in_place(|| self.admit(&lines, live)),
            Verb::Seen(seen) => {
                let hasher = seen.hasher();
                let (asked, keys) = SCRATCH.with_borrow_mut(|scratch| self.ask(&lines, &hasher, scratch));
                let is_new = seen.insert(keys, self.rules.normalizer.fingerprint()).await?;
                Ok(self.tell(&asked, &is_new))
            }
        }
    }

    /// Answers a line of which only the beginning is known.
    pub(crate) fn answer_too_long(&self, start: &[u8]) -> Vec<u8> {
        self.lines.inc();
        let mut out = Vec::new();
        let problem = format!("longer than {MAX_LINE_BYTES} bytes");
        self.write_bad(&mut out, String::from_utf8_lossy(start), problem.into());
        out
    }

    fn rewrite(&self, lines: &[u8], scratch: &mut Scratch) -> Vec<u8> {
        let mut out = Vec::with_capacity(lines.len() + lines.len() / 8);
        let normalizer = &self.rules.normalizer;
        let is_key = matches!(self.verb, Verb::Keys);
        if (self.sent, self.wanted) == (Format::Text, Format::Text) {
            let (mut count, mut bad) = (0, 0);
            let each = |_: &[u8], result: Result<&[u8], ParseUrlError>| {
                count += 1;
                bad += u64::from(result.is_err());
                out.extend_from_slice(result.unwrap_or_default());
                out.push(b'\n');
            };
            match is_key {
                true => normalizer.each_key(split(lines), scratch, each),
                false => normalizer.each_canonical(split(lines), scratch, each),
            }
            self.lines.inc_by(count);
            self.bad_lines.inc_by(bad);
            return out;
        }
        self.each_row(lines, &mut out, |row, out| {
            let result = match is_key {
                true => normalizer.key_with(&row.url, scratch),
                false => normalizer.normalize_with(&row.url, scratch),
            };
            match (result, self.wanted) {
                (Ok(text), Format::Text) => {
                    out.extend_from_slice(text);
                    out.push(b'\n');
                }
                (Ok(text), Format::Ndjson) => {
                    let text = Some(String::from_utf8_lossy(text));
                    let (canonical, key) = if is_key { (None, text) } else { (text, None) };
                    let input = String::from_utf8_lossy(&row.url);
                    push_json(out, &Record { input, canonical, key, ..Record::default() });
                }
                (Err(error), _) => {
                    self.write_bad(out, String::from_utf8_lossy(&row.url), error.to_string().into())
                }
            }
        });
        out
    }

    fn explain(&self, lines: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let LoadedRules { rules, normalizer } = &*self.rules;
        self.each_row(lines, &mut out, |row, out| {
            let input = String::from_utf8_lossy(&row.url);
            match ExplainedUrl::new(&input, rules.as_ref(), normalizer) {
                Ok(explained) => push_json(out, &explained),
                Err(error) => self.write_bad(out, input.clone(), error.to_string().into()),
            }
        });
        out
    }

    /// Asks a live crawl about some lines.
    fn admit(&self, lines: &[u8], live: &Live) -> Result<Vec<u8>, AnswerError> {
        let (mut rows, mut out) = (Vec::new(), Vec::new());
        for line in split(lines) {
            self.lines.inc();
            rows.push(self.row(line).map(|row| row.url.into_owned()));
        }
        let mut rest = rows.iter();
        let urls = rows.iter().filter_map(|row| row.as_deref().ok());
        live.admit(urls, |answer| {
            let url = self.write_bad_rows(&mut rest, &mut out);
            match (answer, self.wanted) {
                (Ok((verdict, _)), Format::Text) => {
                    out.extend_from_slice(verdict.name().as_bytes());
                    out.push(b'\n');
                }
                (Ok((verdict, key)), Format::Ndjson) => {
                    let (url, key) = (String::from_utf8_lossy(url), Some(String::from_utf8_lossy(key)));
                    push_json(&mut out, &Admitted { url, verdict: Some(verdict), key, error: None });
                }
                (Err(error), _) => self.write_bad(&mut out, String::from_utf8_lossy(url), error.into()),
            }
        })?;
        self.write_bad_rows(&mut rest, &mut out);
        Ok(out)
    }

    /// Answers rows that are none, up to the next that is one, which is handed out.
    fn write_bad_rows<'r>(
        &self,
        rows: &mut impl Iterator<Item = &'r Result<Vec<u8>, &'static str>>,
        out: &mut Vec<u8>,
    ) -> &'r [u8] {
        for row in rows {
            match row {
                Ok(url) => return url,
                Err(problem) => self.write_bad(out, Cow::Borrowed(""), (*problem).into()),
            }
        }
        &[]
    }

    /// Makes the keys of some lines.
    fn ask(&self, lines: &[u8], hasher: &KeyHasher, scratch: &mut Scratch) -> (Vec<Asked>, Vec<SeenKey>) {
        let (mut asked, mut keys) = (Vec::new(), Vec::new());
        let normalizer = &self.rules.normalizer;
        // Only JSON repeats them.
        let text = |bytes: &[u8]| match self.wanted {
            Format::Ndjson => String::from_utf8_lossy(bytes).into_owned(),
            Format::Text => String::new(),
        };
        for line in split(lines) {
            self.lines.inc();
            let row = match self.row(line) {
                Ok(row) => row,
                Err(problem) => {
                    asked.push(Asked { input: text(line), key: Err(problem.into()) });
                    continue;
                }
            };
            let key = normalizer.key_with(&row.url, scratch).map(<[u8]>::to_vec);
            let key = key.map_err(|error| error.to_string()).map(|key| {
                keys.push(hasher.hash(&key));
                let is_same = |url: &Cow<'_, str>| {
                    normalizer.key_with(url.as_bytes(), scratch).is_ok_and(|other| other == key)
                };
                (text(&key), row.chain.iter().any(is_same))
            });
            asked.push(Asked { input: text(&row.url), key });
        }
        (asked, keys)
    }

    /// Says of each line what the set said of its key.
    fn tell(&self, asked: &[Asked], is_new: &[bool]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut is_new = is_new.iter();
        for Asked { input, key } in asked {
            let input = Cow::Borrowed(&**input);
            let (key, is_own) = match key {
                Ok((key, is_own)) => (key, *is_own),
                Err(problem) => {
                    self.write_bad(&mut out, input, problem.into());
                    continue;
                }
            };
            let is_new = is_new.next().is_some_and(|is_new| *is_new);
            match self.wanted {
                Format::Text => out.extend_from_slice(match (is_new, is_own) {
                    (true, _) => b"new\n",
                    (false, true) => b"chain\n",
                    (false, false) => b"seen\n",
                }),
                Format::Ndjson => {
                    let (new, duplicate) = (Some(is_new), Some(!is_new && !is_own));
                    let key = Some(Cow::Borrowed(&**key));
                    push_json(&mut out, &Record { input, key, new, duplicate, ..Record::default() });
                }
            }
        }
        out
    }

    /// Hands out the rows of some lines, and answers lines that are none.
    fn each_row(&self, lines: &[u8], out: &mut Vec<u8>, mut each: impl FnMut(&Row<'_>, &mut Vec<u8>)) {
        for line in split(lines) {
            self.lines.inc();
            match self.row(line) {
                Ok(row) => each(&row, out),
                Err(problem) => self.write_bad(out, String::from_utf8_lossy(line), problem.into()),
            }
        }
    }

    fn row<'l>(&self, line: &'l [u8]) -> Result<Row<'l>, &'static str> {
        match self.sent {
            Format::Text => Ok(Row::text(line)),
            Format::Ndjson => Row::json(line),
        }
    }

    /// Answers a line that is no URL.
    fn write_bad(&self, out: &mut Vec<u8>, input: Cow<'_, str>, problem: Cow<'_, str>) {
        self.bad_lines.inc();
        match (self.wanted, &self.verb) {
            (Format::Text, Verb::Seen(_) | Verb::Admit(_)) => out.extend_from_slice(b"error\n"),
            (Format::Text, _) => out.push(b'\n'),
            (Format::Ndjson, Verb::Admit(_)) => {
                push_json(out, &Admitted { url: input, verdict: None, key: None, error: Some(problem) });
            }
            (Format::Ndjson, _) => {
                push_json(out, &Record { input, error: Some(problem), ..Record::default() });
            }
        }
    }
}

fn push_json(out: &mut Vec<u8>, record: &impl Serialize) {
    serde_json::to_writer(&mut *out, record)
        .expect("texts, numbers and names of parts can be written to memory");
    out.push(b'\n');
}
