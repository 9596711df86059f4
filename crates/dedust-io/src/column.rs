/*!
The columns of an observation: their names, and what each may hold.

One table for all formats, so that a JSON key, a CSV heading and an error message agree. Holds no values (see
[`crate::Observation`]).
*/

use std::fmt;

/// Makes [`Column`] of a table: each column with its name in a JSON key or a heading, and what its values are.
macro_rules! columns {
    ($($(#[$attribute:meta])* $column:ident = $name:literal, $kind:ident;)*) => {
        /// A column that readers know. All others are ignored.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Column {
            $($(#[$attribute])* $column,)*
        }

        impl Column {
            /// Every known column, in the order of the documentation.
            pub const ALL: [Column; [$($name),*].len()] = [$(Column::$column),*];

            /// The name in a JSON key or a heading.
            pub fn name(self) -> &'static str {
                match self {
                    $(Column::$column => $name,)*
                }
            }

            /// The column of this name, if it is known. Names are lower case.
            pub fn from_name(name: &str) -> Option<Column> {
                match name {
                    $($name => Some(Column::$column),)*
                    _ => None,
                }
            }

            pub(crate) fn kind(self) -> Kind {
                match self {
                    $(Column::$column => Kind::$kind,)*
                }
            }
        }
    };
}

columns! {
    /// The URL as met by the crawler. The only required column.
    Url = "url", Address;
    /// Explicit duplicate label, text or number.
    Cluster = "cluster", Label;
    /// Another name of [`Column::Cluster`], used by rows without one.
    Page = "page", Label;
    /// Target of `rel=canonical`.
    Canonical = "canonical", Address;
    /// Target of the redirect.
    Redirect = "redirect", Address;
    /// URLs that were redirected to this one, in the order in which they were asked for.
    RedirectedFrom = "redirected_from", Addresses;
    /// Hash of the body.
    Digest = "digest", Text;
    /// Hash of the text of the body.
    TextDigest = "text_digest", Text;
    /// Similarity hash of the text, 16 hex digits.
    Simhash = "simhash", Simhash;
    /// Title of the page.
    Title = "title", Text;
    /// Size of the body in bytes.
    Size = "size", Size;
    /// HTTP status.
    Status = "status", Status;
    /// Media type.
    Mime = "mime", Text;
    /// When the URL was fetched, as written in the input.
    Time = "time", Label;
    /// Whether only the beginning of the body was kept, so that its hash says nothing of the page.
    Truncated = "truncated", Flag;
    /// The part of a Common Crawl index that the row belongs to.
    Subset = "subset", Text;
    /// Hashes of the lines of text that the page shows, or of some of them: always the same lines of all pages.
    Lines = "lines", Hashes;
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
    /// Any number of hashes: numbers, or texts, which are hashed.
    Hashes,
}

impl Column {
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
            Kind::Hashes => "a list of hashes, numbers or texts",
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
