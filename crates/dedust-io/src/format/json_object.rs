/*!
A row that is an object of JSON, one key per column.

Values go from the JSON parser straight into the [`Observation`], without a tree or a map in between. Unknown keys are
skipped over, null is absent, a repeated key counts with its last value. Of nested values, lists of URLs are read and what some tools
say of their fetches.
*/

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::bad_row::{BadRowReason, SourcePosition, shorten, shorten_quoted};
use crate::column::Kind;
use crate::names::{Layout, Names};
use crate::observation::{WrongValue, line_hash};
use crate::{Column, Observation, Preset};

/// Names that are remembered of those that are not used.
const MAX_IGNORED_NAMES: usize = 64;

/// Rows whose names are looked at: each new row costs time, and tells less.
const ROWS_WITH_NAMES: u32 = 1000;

/// The keys of the rows so far.
#[derive(Debug, Default)]
pub(super) struct Keys {
    names: Names,
    /// In the order in which they were met, used or not.
    met: Vec<Box<str>>,
    rows: u32,
}

impl Keys {
    pub(super) fn new(names: Names) -> Self {
        Self { names, ..Self::default() }
    }

    /// The tool that is known to write such keys.
    pub(super) fn preset(&self) -> Option<Preset> {
        self.names.preset()
    }

    /// Which keys are used as which columns, of those that were met so far.
    pub(super) fn layout(&self) -> Layout {
        self.names.layout(self.met.iter().map(|name| &**name))
    }

    fn column_of(&mut self, name: &str) -> Option<Column> {
        if self.rows <= ROWS_WITH_NAMES
            && self.met.len() < MAX_IGNORED_NAMES
            && !self.met.iter().any(|met| **met == *name)
        {
            self.met.push(name.into());
        }
        self.names.column_of(name)
    }
}

/// The keys of the object on a line; none if it is no object.
pub(super) fn keys_of(row: &[u8]) -> Vec<String> {
    let mut keys = Keys::default();
    let mut observation = Observation::new();
    let file = "".into();
    let position = SourcePosition { file: &file, location: crate::Location::default() };
    // Whatever is wrong with the row is reported when it is read.
    let _ = parse(row, position, &mut keys, &mut observation);
    keys.met.into_iter().map(Into::into).collect()
}

/// Reads one line that is not blank.
pub(super) fn parse(
    row: &[u8],
    position: SourcePosition<'_>,
    keys: &mut Keys,
    observation: &mut Observation,
) -> Result<(), BadRowReason> {
    if row.trim_ascii_start().first() != Some(&b'{') {
        return Err(BadRowReason::NotAnObject);
    }
    // Checked here once for the whole row, which is faster than string by string.
    let row = std::str::from_utf8(row)
        .map_err(|error| BadRowReason::NotUtf8 { column: error.valid_up_to() + 1 })?;
    let mut json = serde_json::Deserializer::from_str(row);
    keys.rows = keys.rows.saturating_add(1);
    let mut object = Object { observation, position, keys, wrong_url: None, has_url: false };
    json.deserialize_map(&mut object)
        .and_then(|()| json.end())
        .map_err(|error| BadRowReason::InvalidJson { column: error.column(), problem: problem(&error) })?;
    match object {
        Object { wrong_url: Some(found), .. } => Err(BadRowReason::WrongUrl { found }),
        Object { has_url: false, .. } => Err(BadRowReason::NoUrl),
        Object { observation, .. } if observation.url().is_empty() => Err(BadRowReason::EmptyUrl),
        _ => Ok(()),
    }
}

/// The parser's message without the position, which it counts within the line.
fn problem(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match message.rfind(" at line ") {
        Some(at) => message[..at].to_owned(),
        None => message,
    }
}

struct Object<'a> {
    observation: &'a mut Observation,
    position: SourcePosition<'a>,
    keys: &'a mut Keys,
    has_url: bool,
    wrong_url: Option<String>,
}

impl Object<'_> {
    fn wrong(&mut self, column: Column, value: String) {
        if column == Column::Url {
            self.wrong_url = Some(value);
        } else {
            self.observation.push_bad_column(self.position.bad_column(column, value));
        }
    }

    fn set_text(&mut self, column: Column, value: &str) {
        if column == Column::Url {
            self.has_url = true;
        }
        if self.observation.set_text(column, value) == Err(WrongValue) {
            self.wrong(column, shorten_quoted(value.as_bytes()));
        }
    }

    /// The hashes of a list. What is neither a number nor a text is left out, and said once.
    fn set_lines<'de, A: SeqAccess<'de>>(&mut self, column: Column, seq: &mut A) -> Result<(), A::Error> {
        let mut lines = Vec::new();
        let mut wrong = None;
        while let Some(element) = seq.next_element::<&RawValue>()? {
            let text = element.get();
            match text.as_bytes()[0] {
                b'0'..=b'9' => lines.push(line_hash(text)),
                b'"' => lines.extend(serde_json::from_str::<String>(text).ok().as_deref().map(line_hash)),
                _ => wrong = Some(shorten(text.as_bytes())),
            }
        }
        self.observation.set_lines(lines);
        if let Some(value) = wrong {
            self.wrong(column, value);
        }
        Ok(())
    }

    /// A label as written: numbers keep all their digits.
    fn set_label(&mut self, column: Column, raw: &str) {
        match raw.as_bytes()[0] {
            b'"' if !raw.contains('\\') => self.set_text(column, &raw[1..raw.len() - 1]),
            b'"' => match serde_json::from_str::<String>(raw) {
                Ok(text) => self.set_text(column, &text),
                Err(_) => self.wrong(column, shorten(raw.as_bytes())),
            },
            b'-' | b'0'..=b'9' => self.set_text(column, raw),
            b'n' => {}
            b'[' => self.wrong(column, "a list".to_owned()),
            b'{' => self.wrong(column, "an object".to_owned()),
            _ => self.wrong(column, shorten(raw.as_bytes())),
        }
    }
}

impl<'de> Visitor<'de> for &mut Object<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(column) = map.next_key_seed(Key(self.keys))? {
            match column {
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
                Some(column) if column.kind() == Kind::Label => {
                    self.set_label(column, map.next_value::<&RawValue>()?.get());
                }
                Some(column) => map.next_value_seed(Value { object: self, column })?,
            }
        }
        Ok(())
    }
}

/// A key: its column, if known.
struct Key<'a>(&'a mut Keys);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = Option<Column>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = Option<Column>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.column_of(name))
    }
}

/// The value of a known column, of whatever type.
struct Value<'a, 'b> {
    object: &'a mut Object<'b>,
    column: Column,
}

impl<'de> DeserializeSeed<'de> for Value<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        self.object.set_text(self.column, value);
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        if self.object.observation.set_number(self.column, value) == Err(WrongValue) {
            self.object.wrong(self.column, value.to_string());
        }
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.object.wrong(self.column, value.to_string());
        Ok(())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<(), E> {
        // Whole numbers below 2^53 are exact; data frames write integers so where a column has gaps.
        if value.fract() == 0.0 && (0.0..9_007_199_254_740_992.0).contains(&value) {
            return self.visit_u64(value as u64);
        }
        self.object.wrong(self.column, value.to_string());
        Ok(())
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        if self.column.kind() == Kind::Flag {
            self.object.observation.set_flag(self.column, value);
            return Ok(());
        }
        self.object.wrong(self.column, value.to_string());
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        if self.column.kind() == Kind::Addresses {
            let mut urls = Vec::new();
            while let Some(element) = seq.next_element::<&RawValue>()? {
                match serde_json::from_str::<String>(element.get()) {
                    Ok(url) => urls.push(url),
                    Err(_) => self.object.wrong(self.column, shorten(element.get().as_bytes())),
                }
            }
            let urls = urls.iter().map(String::as_bytes);
            self.object.observation.set_addresses(self.column, urls);
            return Ok(());
        }
        if self.column.kind() == Kind::Hashes {
            return self.object.set_lines(self.column, &mut seq);
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        self.object.wrong(self.column, "a list".to_owned());
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Value { object, column } = self;
        let nested = object.keys.names.preset().and_then(|preset| preset.nested_column(column));
        while let Some(name) = map.next_key::<Cow<'_, str>>()? {
            match nested.and_then(|column_of| column_of(&name)) {
                Some(column) => map.next_value_seed(Value { object: &mut *object, column })?,
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        if nested.is_none() {
            object.wrong(column, "an object".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Location;

    fn read(row: &str) -> Result<Observation, BadRowReason> {
        let file: Arc<str> = "x.jsonl".into();
        let mut observation = Observation::new();
        let position = SourcePosition { file: &file, location: Location::Line(1) };
        parse(row.as_bytes(), position, &mut Keys::default(), &mut observation)?;
        Ok(observation)
    }

    /// The bad columns of a row that has only one column besides the URL.
    fn bad_columns(column: &str, value: &str) -> Vec<String> {
        let observation = read(&format!(r#"{{"url":"u","{column}":{value}}}"#)).unwrap();
        observation.bad_columns().iter().map(|bad| format!("{} {}", bad.column, bad.value)).collect()
    }

    #[test]
    fn all_columns_are_read() {
        let row = r#"{"url":"http://a.example/","cluster":"c","canonical":"http://a.example/1","redirect":"/r",
            "digest":"d","text_digest":"t","simhash":"00000000000000ff","title":"T \u00e4 \"q\"","size":12,
            "status":200,"mime":"text/html","time":"2024-01-02","words":[1,{"a":null}]}"#;
        let observation = read(row).unwrap();
        assert_eq!(observation.url(), b"http://a.example/");
        assert_eq!(observation.cluster(), Some("c"));
        assert_eq!(observation.canonical(), Some(&b"http://a.example/1"[..]));
        assert_eq!(observation.redirect(), Some(&b"/r"[..]));
        assert_eq!(observation.digest(), Some("d"));
        assert_eq!(observation.text_digest(), Some("t"));
        assert_eq!(observation.simhash(), Some(255));
        assert_eq!(observation.title(), Some("T ä \"q\""));
        assert_eq!(observation.size(), Some(12));
        assert_eq!(observation.status(), Some(200));
        assert_eq!(observation.mime(), Some("text/html"));
        assert_eq!(observation.time(), Some("2024-01-02"));
        assert_eq!(observation.bad_columns(), []);
    }

    #[test]
    fn labels_are_kept_as_written() {
        for (value, label) in [
            ("7", Some("7")),
            ("-7", Some("-7")),
            ("\"7\"", Some("7")),
            ("340282366920938463463374607431768211457", Some("340282366920938463463374607431768211457")),
            ("1.50", Some("1.50")),
            (r#""a\u0062\"""#, Some("ab\"")),
            ("\"\"", None),
            ("null", None),
        ] {
            let observation = read(&format!(r#"{{"page": {value} ,"url":"u"}}"#)).unwrap();
            assert_eq!(observation.cluster(), label, "{value}");
            assert_eq!(observation.bad_columns(), []);
        }
    }

    #[test]
    fn a_wrong_optional_column_is_absent_and_reported() {
        assert_eq!(bad_columns("status", "\"abc\""), ["status \"abc\""]);
        assert_eq!(bad_columns("status", "70000"), ["status 70000"]);
        assert_eq!(bad_columns("size", "-1"), ["size -1"]);
        assert_eq!(bad_columns("size", "1.5"), ["size 1.5"]);
        assert_eq!(bad_columns("simhash", "\"ff\""), ["simhash \"ff\""]);
        assert_eq!(bad_columns("simhash", "255"), ["simhash 255"]);
        assert_eq!(bad_columns("title", "1984"), ["title 1984"]);
        assert_eq!(bad_columns("title", "[1,[2]]"), ["title a list"]);
        assert_eq!(bad_columns("redirect", "{\"to\":{}}"), ["redirect an object"]);
        assert_eq!(bad_columns("cluster", "true"), ["cluster true"]);
        assert_eq!(bad_columns("cluster", "[1]"), ["cluster a list"]);
        assert_eq!(bad_columns("cluster", "{}"), ["cluster an object"]);
        assert_eq!(bad_columns("cluster", r#""\ud800""#), [r#"cluster "\ud800""#]);
    }

    #[test]
    fn lists_of_urls_are_read() {
        let redirected_from = |value: &str| -> Vec<String> {
            let observation = read(&format!(r#"{{"redirected_from":{value},"url":"u"}}"#)).unwrap();
            observation.redirected_from().map(|url| String::from_utf8_lossy(url).into_owned()).collect()
        };
        assert_eq!(
            redirected_from(r#"["http://a/1","http://a/\u0032,http://c/"]"#),
            ["http://a/1", "http://a/2,http://c/"]
        );
        assert_eq!(redirected_from(r#""http://a/1,http://a/2""#), ["http://a/1", "http://a/2"]);
        assert_eq!(redirected_from(r#"["", "http://a/\n1"]"#), ["http://a/1"]);
        assert_eq!(redirected_from("[]"), [""; 0]);
        assert_eq!(bad_columns("redirected_from", "[17]"), ["redirected_from 17"]);
        assert_eq!(bad_columns("redirected_from", "{}"), ["redirected_from an object"]);
    }

    #[test]
    fn hashes_of_lines_are_numbers_or_texts() {
        let lines =
            |value: &str| read(&format!(r#"{{"lines":{value},"url":"u"}}"#)).unwrap().lines().to_vec();
        assert_eq!(lines("[7,18446744073709551615]"), [7, u64::MAX]);
        assert_eq!(lines(r#"["7","8"]"#), [7, 8]);
        assert_eq!(lines(r#""7 8,9""#), [7, 8, 9]);
        assert_eq!(lines(r#"["ab"]"#), lines(r#"["a\u0062"]"#));
        assert_ne!(lines(r#"["ab"]"#), lines(r#"["ac"]"#));
        assert_eq!(lines("[]"), [0; 0]);
        assert_eq!(lines("[1,null,2]"), [1, 2]);
        assert_eq!(bad_columns("lines", "[1,{}]"), ["lines {}"]);
        assert_eq!(bad_columns("lines", "true"), ["lines true"]);
    }

    #[test]
    fn numbers_may_be_text_or_whole_floats() {
        for value in ["200", "\"200\"", "200.0", "2e2"] {
            assert_eq!(bad_columns("status", value), [""; 0]);
            let observation = read(&format!(r#"{{"url":"u","status":{value},"size":{value}}}"#)).unwrap();
            assert_eq!((observation.status(), observation.size()), (Some(200), Some(200)), "{value}");
        }
    }

    #[test]
    fn null_and_empty_are_absent() {
        for value in ["null", "\"\""] {
            for column in Column::ALL.into_iter().filter(|&column| column != Column::Url) {
                let observation = read(&format!(r#"{{"url":"u","{column}":{value}}}"#)).unwrap();
                let shown = format!("{observation:?}");
                assert_eq!(shown, "Observation { line: 0, url: \"u\" }", "{column} {value}");
            }
        }
    }

    #[test]
    fn a_missing_or_wrong_url_is_a_bad_row() {
        let wrong = |found: &str| Some(BadRowReason::WrongUrl { found: found.to_owned() });
        for (row, reason) in [
            ("{}", Some(BadRowReason::NoUrl)),
            (r#"{"uri":"u"}"#, Some(BadRowReason::NoUrl)),
            (r#"{"url":null}"#, Some(BadRowReason::NoUrl)),
            (r#"{"url":""}"#, Some(BadRowReason::EmptyUrl)),
            (r#"{"url":17}"#, wrong("17")),
            (r#"{"url":["u"]}"#, wrong("a list")),
            (r#"{"u\u0072l":"u"}"#, None),
            (r#"["u"]"#, Some(BadRowReason::NotAnObject)),
            ("http://a.example/", Some(BadRowReason::NotAnObject)),
        ] {
            assert_eq!(read(row).err(), reason, "{row}");
        }
    }

    #[test]
    fn invalid_json_says_where() {
        for (row, column, problem) in [
            (r#"{"url":"u""#, 10, "EOF while parsing an object"),
            (r#"{"url":u}"#, 8, "expected value"),
            (r#"{"url":"u"} {"url":"v"}"#, 13, "trailing characters"),
            (r#"{"url":"\ud800"}"#, 15, "unexpected end of hex escape"),
            (r#"{url:"u"}"#, 2, "key must be a string"),
        ] {
            let problem = problem.to_owned();
            assert_eq!(read(row).err(), Some(BadRowReason::InvalidJson { column, problem }), "{row}");
        }
        let file: Arc<str> = "x.jsonl".into();
        let result = parse(
            b"{\"url\":\"caf\xe9\"}",
            SourcePosition { file: &file, location: Location::Line(1) },
            &mut Keys::default(),
            &mut Observation::new(),
        );
        assert_eq!(result, Err(BadRowReason::NotUtf8 { column: 12 }));
    }

    #[test]
    fn deep_nesting_is_a_bad_row_or_skipped() {
        let deep = "[".repeat(1 << 20);
        assert!(matches!(read(&format!("{{\"title\":{deep}")), Err(BadRowReason::InvalidJson { .. })));
        let closed = format!("{deep}{}", "]".repeat(1 << 20));
        assert_eq!(read(&format!("{{\"url\":\"u\",\"other\":{closed}}}")).unwrap().url(), b"u");
    }
}
