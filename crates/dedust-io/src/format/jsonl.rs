/*!
JSON Lines: one object per line. A JSON array may have its objects on lines of their own, too.

Documents that span lines are not read (see [`crate::Unsupported`]).
*/

use std::io;

use serde::de::IgnoredAny;

use super::entry::{
    AddedValues, CopyRows, CurrentRow, FormatEntry, LineFormat, LineParser, Opening, Parsed, RowFormat,
    split_end,
};
use super::json_object::{Keys, keys_of, parse};
use super::sniff::Sign;
use crate::names::{Layout, NamedColumn, Names};
use crate::{Preset, ReadError};

pub(super) static LINES: FormatEntry = FormatEntry {
    name: "JSON Lines",
    expected: EXPECTED,
    names_tool: false,
    sign: Sign::Form(|beginning| beginning.line.starts_with(b"{")),
    extensions: &["jsonl", "ndjson", "json"],
    rows: RowFormat::Lines(LineFormat {
        needs_host: false,
        parser: |opening| Ok(Box::new(JsonRows::new(&opening, |line| line)?)),
        copy: Some(&CopyJson),
    }),
};

/// Comes out as JSON Lines.
pub(super) static ARRAY: FormatEntry = FormatEntry {
    name: "a JSON array",
    expected: EXPECTED,
    names_tool: false,
    // Arrays of another form are refused before.
    sign: Sign::Form(|beginning| beginning.line.starts_with(b"[")),
    extensions: &[],
    rows: RowFormat::Lines(LineFormat {
        needs_host: false,
        parser: |opening| Ok(Box::new(JsonRows::new(&opening, array_element)?)),
        copy: Some(&CopyJson),
    }),
};

const EXPECTED: &str = "one object per line with at least a url, such as {\"url\":\"http://a.example/\"}";

/// Rows by whose keys a tool is recognised.
const NAMED_ROWS: usize = 20;

struct JsonRows {
    keys: Keys,
    /// The object on a line; nothing where there is none.
    object_on: fn(&[u8]) -> &[u8],
}

impl JsonRows {
    fn new(opening: &Opening<'_>, object_on: fn(&[u8]) -> &[u8]) -> Result<Self, ReadError> {
        Ok(Self { keys: Keys::new(names_in(opening.lines.start(), opening.named)?), object_on })
    }
}

impl LineParser for JsonRows {
    fn parse(&mut self, row: CurrentRow<'_>) -> io::Result<Parsed> {
        let object = (self.object_on)(row.lines.row());
        Ok((!object.is_empty()).then(|| parse(object, row.position, &mut self.keys, row.observation)))
    }

    fn preset(&self) -> Option<Preset> {
        self.keys.preset()
    }

    fn layout(&self) -> Option<Layout> {
        Some(self.keys.layout())
    }

    fn row_in<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        (self.object_on)(text)
    }
}

/// Whether a text, which starts with a bracket, is a JSON array with one object per line.
pub(super) fn is_array_of_lines(text: &[u8]) -> bool {
    let Some(rest) = text.strip_prefix(b"[") else { return false };
    let object = rest.trim_ascii_start().split(|&byte| byte == b'\n').next().unwrap_or_default();
    let object = array_element(object);
    object.first() == Some(&b'{') && serde_json::from_slice::<IgnoredAny>(object).is_ok()
}

/// What stands on a line of an array without brackets and commas; nothing on its first and last line.
fn array_element(line: &[u8]) -> &[u8] {
    let line = line.trim_ascii();
    let line = line.strip_prefix(b"[").unwrap_or(line).trim_ascii_start();
    let line = line.strip_suffix(b"]").unwrap_or(line).trim_ascii_end();
    line.strip_suffix(b",").unwrap_or(line).trim_ascii_end()
}

/// The names of the first objects of a text.
fn names_in(start: &[u8], named: &[NamedColumn]) -> Result<Names, ReadError> {
    let mut names: Vec<String> = Vec::new();
    let lines = start.split(|&byte| byte == b'\n').map(array_element).filter(|line| !line.is_empty());
    for key in lines.take(NAMED_ROWS).flat_map(keys_of) {
        if !names.contains(&key) {
            names.push(key);
        }
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Names::resolve(&names, named, None)
}

/// Adds two keys to each object.
struct CopyJson;

impl CopyRows for CopyJson {
    fn extend(&self, text: &[u8], added: &AddedValues<'_>, out: &mut Vec<u8>) {
        extend(text, added, out);
    }
}

/// Writes a row that ends with an object, with two keys more.
pub(super) fn extend(text: &[u8], added: &AddedValues<'_>, out: &mut Vec<u8>) {
    let (row, end) = split_end(text);
    let row = row.trim_ascii_end();
    // Every row that is held is an object.
    let open = row.strip_suffix(b"}").unwrap_or(row).trim_ascii_end();
    out.extend_from_slice(open);
    if !open.ends_with(b"{") {
        out.push(b',');
    }
    for (index, (name, value)) in added.names.into_iter().zip(added.values).enumerate() {
        if index > 0 {
            out.push(b',');
        }
        push_json(name, out);
        out.push(b':');
        match value {
            Some(value) => push_json(&String::from_utf8_lossy(value), out),
            None => out.extend_from_slice(b"null"),
        }
    }
    out.push(b'}');
    out.extend_from_slice(end);
}

fn push_json(text: &str, out: &mut Vec<u8>) {
    if text.bytes().all(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\') {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    } else {
        // Memory takes all that is written.
        let _ = serde_json::to_writer(out, text);
    }
}
