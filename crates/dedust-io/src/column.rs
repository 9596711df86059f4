/*!
The columns of an observation: their names, and what each may hold.

One table for all formats, so that a JSON key, a CSV heading and an error message agree. Holds no values (see
[`crate::Observation`]).
*/

use std::fmt;

/// A column that readers know. All others are ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Column {
    /// The URL as met by the crawler. The only required column.
    Url,
    /// Explicit duplicate label, text or number.
    Cluster,
    /// Another name of [`Column::Cluster`], used by rows without one.
    Page,
    /// Target of `rel=canonical`.
    Canonical,
    /// Target of the redirect.
    Redirect,
    /// URLs that were redirected to this one, in the order in which they were asked for.
    RedirectedFrom,
    /// Hash of the body.
    Digest,
    /// Hash of the text of the body.
    TextDigest,
    /// Similarity hash of the text, 16 hex digits.
    Simhash,
    /// Title of the page.
    Title,
    /// Size of the body in bytes.
    Size,
    /// HTTP status.
    Status,
    /// Media type.
    Mime,
    /// When the URL was fetched, as written in the input.
    Time,
    /// Whether only the beginning of the body was kept, so that its hash says nothing of the page.
    Truncated,
    /// The part of a Common Crawl index that the row belongs to.
    Subset,
}

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Kept as bytes.
    Address,
    /// Any number of addresses, each kept as bytes.
    Addresses,
    /// Kept as text.
    Text,
    /// Text or a number, kept as text.
    Label,
    Simhash,
    Size,
    Status,
    /// Yes or no; any text but a few is a yes.
    Flag,
}

impl Column {
    /// Every known column, in the order of the documentation.
    pub const ALL: [Column; 16] = [
        Column::Url,
        Column::Cluster,
        Column::Page,
        Column::Canonical,
        Column::Redirect,
        Column::RedirectedFrom,
        Column::Digest,
        Column::TextDigest,
        Column::Simhash,
        Column::Title,
        Column::Size,
        Column::Status,
        Column::Mime,
        Column::Time,
        Column::Truncated,
        Column::Subset,
    ];

    /// The name in a JSON key or a heading.
    pub fn name(self) -> &'static str {
        match self {
            Column::Url => "url",
            Column::Cluster => "cluster",
            Column::Page => "page",
            Column::Canonical => "canonical",
            Column::Redirect => "redirect",
            Column::RedirectedFrom => "redirected_from",
            Column::Digest => "digest",
            Column::TextDigest => "text_digest",
            Column::Simhash => "simhash",
            Column::Title => "title",
            Column::Size => "size",
            Column::Status => "status",
            Column::Mime => "mime",
            Column::Time => "time",
            Column::Truncated => "truncated",
            Column::Subset => "subset",
        }
    }

    /// The column of this name, if it is known. Names are lower case.
    pub fn from_name(name: &str) -> Option<Column> {
        Some(match name {
            "url" => Column::Url,
            "cluster" => Column::Cluster,
            "page" => Column::Page,
            "canonical" => Column::Canonical,
            "redirect" => Column::Redirect,
            "redirected_from" => Column::RedirectedFrom,
            "digest" => Column::Digest,
            "text_digest" => Column::TextDigest,
            "simhash" => Column::Simhash,
            "title" => Column::Title,
            "size" => Column::Size,
            "status" => Column::Status,
            "mime" => Column::Mime,
            "time" => Column::Time,
            "truncated" => Column::Truncated,
            "subset" => Column::Subset,
            _ => return None,
        })
    }

    /// What a value must be, in words for a message.
    pub fn expected(self) -> &'static str {
        match self.kind() {
            Kind::Address | Kind::Text => "text in UTF-8",
            Kind::Addresses => "a list of URLs",
            Kind::Label => "text or a number",
            Kind::Simhash => "16 hex digits",
            Kind::Size => "a whole number of bytes",
            Kind::Status => "a whole number from 0 to 65535",
            Kind::Flag => "true or false",
        }
    }

    pub(crate) fn kind(self) -> Kind {
        match self {
            Column::Url | Column::Canonical | Column::Redirect => Kind::Address,
            Column::RedirectedFrom => Kind::Addresses,
            Column::Cluster | Column::Page | Column::Time => Kind::Label,
            Column::Digest | Column::TextDigest | Column::Title | Column::Mime | Column::Subset => Kind::Text,
            Column::Simhash => Kind::Simhash,
            Column::Size => Kind::Size,
            Column::Status => Kind::Status,
            Column::Truncated => Kind::Flag,
        }
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_found_by_its_name() {
        for (index, column) in Column::ALL.into_iter().enumerate() {
            assert_eq!(Column::from_name(column.name()), Some(column));
            assert_eq!(column as usize, index, "ALL is in the order of the enum");
        }
        assert_eq!(Column::from_name("uri"), None);
        assert_eq!(Column::from_name("URL"), None);
    }
}
