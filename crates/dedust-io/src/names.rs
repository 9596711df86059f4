/*!
Which column of a table is which: by its own name, by the names that well-known tools give, or as the user says.

The names that a table has come in, together with those that the user gave; [`Names`] go out, which readers ask for each
name, and a [`Layout`], which says to people what was used, what was ignored, and what looks like evidence and was not used.
Reads no rows.
*/

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::bad_row::shorten_quoted;
use crate::preset::{OTHER_NAMES, Preset, simplified};
use crate::{Column, ReadError};

/// Names that are shown of those that were ignored.
const SHOWN_NAMES: usize = 12;

/// A column and the name that the user says it has, such as `digest=content_digest`. Without a name the column is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedColumn {
    /// The column.
    pub column: Column,
    /// Its name in the input; `None` if it is not to be used.
    pub name: Option<Box<str>>,
}

/// A text that does not name a column.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NamedColumnError {
    /// There is no equals sign.
    #[error("expected COLUMN=NAME, such as digest=content_digest")]
    NoEqualsSign,
    /// What stands before it is none of our columns.
    #[error("no column is called `{name}`, expected one of {}", Known)]
    UnknownColumn {
        /// The name.
        name: String,
    },
    /// The column that every row needs.
    #[error("url must have a name, such as url=Address")]
    NoUrl,
}

/// The columns by name.
struct Known;

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Column::ALL.map(Column::name).join(", "))
    }
}

impl FromStr for NamedColumn {
    type Err = NamedColumnError;

    fn from_str(text: &str) -> Result<Self, NamedColumnError> {
        let (column, name) = text.split_once('=').ok_or(NamedColumnError::NoEqualsSign)?;
        let column = Column::from_name(&column.trim().to_ascii_lowercase())
            .ok_or_else(|| NamedColumnError::UnknownColumn { name: column.trim().to_owned() })?;
        let name = Some(name).filter(|name| !name.is_empty()).map(Into::into);
        if column == Column::Url && name.is_none() {
            return Err(NamedColumnError::NoUrl);
        }
        Ok(NamedColumn { column, name })
    }
}

impl fmt::Display for NamedColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.column, self.name.as_deref().unwrap_or_default())
    }
}

/// The names of one input, resolved.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    preset: Option<Preset>,
    /// Names in the input that are not those of our columns.
    foreign: Vec<(Box<str>, Column)>,
    /// Columns that are not looked for under their own names, by number.
    is_claimed: [bool; Column::ALL.len()],
}

/// Which names of an input are used as which columns, for people to read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Layout {
    /// The tool that is known to write such names.
    pub preset: Option<Preset>,
    /// Names that are used as columns of other names.
    pub renamed: Vec<(Column, Box<str>)>,
    /// Names that are not used, in the order of the input.
    pub ignored: Vec<Box<str>>,
    /// Ignored names that may hold evidence that the input has under no other name.
    pub unused_evidence: Vec<(Column, Box<str>)>,
}

impl Names {
    /// Finds the columns of an input with these names. All of the names given by the user must be there if the
    /// input has a header.
    pub(crate) fn resolve<'a>(
        names: &[&'a str],
        named: &[NamedColumn],
        header_of: Option<&Arc<str>>,
    ) -> Result<Names, ReadError> {
        let find = |wanted: &str| -> Option<&'a str> {
            let exact = names.iter().find(|name| **name == wanted);
            exact.or_else(|| names.iter().find(|name| name.eq_ignore_ascii_case(wanted))).copied()
        };
        let mut resolved = Names { preset: Preset::of(names), ..Names::default() };
        for NamedColumn { column, name } in named {
            resolved.is_claimed[*column as usize] = true;
            let Some(name) = name else { continue };
            match (find(name), header_of) {
                (Some(found), _) => resolved.foreign.push((found.into(), *column)),
                (None, None) => resolved.foreign.push((name.clone(), *column)),
                (None, Some(file)) => {
                    return Err(ReadError::NoSuchColumn {
                        file: file.clone(),
                        column: *column,
                        name: name.clone(),
                        columns: shorten_quoted(names.join(", ").as_bytes()),
                    });
                }
            }
        }
        for (column, candidates) in resolved.preset.map_or(&[][..], Preset::columns) {
            if resolved.is_claimed[*column as usize] {
                continue;
            }
            if let Some(found) = candidates.iter().find_map(|candidate| find(candidate)) {
                resolved.is_claimed[*column as usize] = true;
                resolved.foreign.push((found.into(), *column));
            }
        }
        Ok(resolved)
    }

    /// The column of a name that is written exactly so.
    pub(crate) fn column_of(&self, name: &str) -> Option<Column> {
        if !self.foreign.is_empty()
            && let Some((_, column)) = self.foreign.iter().find(|(foreign, _)| **foreign == *name)
        {
            return Some(*column);
        }
        Column::from_name(name).filter(|column| !self.is_claimed[*column as usize])
    }

    /// The column of a heading, whose letter case does not matter.
    pub(crate) fn column_of_heading(&self, name: &str) -> Option<Column> {
        self.column_of(name).or_else(|| {
            let name = name.to_ascii_lowercase();
            Column::from_name(&name).filter(|column| !self.is_claimed[*column as usize])
        })
    }

    /// The tool that is known to write such names.
    pub(crate) fn preset(&self) -> Option<Preset> {
        self.preset
    }

    /// What people are told about an input with these names.
    pub(crate) fn layout<'a>(&self, names: impl Iterator<Item = &'a str>) -> Layout {
        let mut layout = Layout { preset: self.preset, ..Layout::default() };
        let mut is_found = self.is_claimed;
        for name in names {
            match self.column_of_heading(name) {
                Some(column) if column.name() == name.to_ascii_lowercase() => {
                    is_found[column as usize] = true
                }
                Some(column) => {
                    is_found[column as usize] = true;
                    layout.renamed.push((column, name.into()));
                }
                None => layout.ignored.push(name.into()),
            }
        }
        for (column, others) in OTHER_NAMES {
            if is_found[*column as usize] {
                continue;
            }
            let is_other = |name: &str| others.contains(&simplified(name).as_str());
            if let Some(name) = layout.ignored.iter().find(|name| is_other(name)) {
                layout.unused_evidence.push((*column, name.clone()));
            }
        }
        layout
    }
}

impl Layout {
    /// Whether there is anything to tell: all of an input with our own names is used.
    pub fn is_plain(&self) -> bool {
        self.preset.is_none() && self.renamed.is_empty() && self.ignored.is_empty()
    }
}

impl fmt::Display for Layout {
    /// To be put behind the format of the input.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(preset) = self.preset {
            write!(f, " ({preset})")?;
        }
        if !self.renamed.is_empty() {
            let renamed: Vec<String> =
                self.renamed.iter().map(|(column, name)| format!("{column}={name}")).collect();
            write!(f, ", with {}", renamed.join(", "))?;
        }
        if !self.ignored.is_empty() {
            let shown: Vec<&str> = self.ignored.iter().take(SHOWN_NAMES).map(|name| &**name).collect();
            write!(f, "; ignored columns: {}", shown.join(", "))?;
            let more = self.ignored.len() - shown.len();
            if more > 0 {
                write!(f, " and {more} more")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(names: &[&str], named: &[&str]) -> String {
        let named: Vec<NamedColumn> = named.iter().map(|text| text.parse().unwrap()).collect();
        let resolved = Names::resolve(names, &named, Some(&"a.csv".into())).unwrap();
        resolved.layout(names.iter().copied()).to_string()
    }

    #[test]
    fn tools_are_known_by_the_names_they_give() {
        assert_eq!(
            layout(&["url_surtkey", "url", "fetch_time", "fetch_status", "content_digest", "crawl"], &[]),
            " (common-crawl), with time=fetch_time, status=fetch_status, digest=content_digest; \
             ignored columns: url_surtkey, crawl"
        );
        assert_eq!(
            layout(&["Address", "Content Type", "Status Code", "Title 1", "Hash", "Indexability"], &[]),
            " (screaming-frog), with url=Address, mime=Content Type, status=Status Code, title=Title 1, \
             digest=Hash; ignored columns: Indexability"
        );
        assert_eq!(layout(&["url", "title"], &[]), "");
    }

    #[test]
    fn the_user_has_the_last_word() {
        assert_eq!(
            layout(&["url", "digest", "md5"], &["digest=md5"]),
            ", with digest=md5; ignored columns: digest"
        );
        assert_eq!(layout(&["url", "digest"], &["digest="]), "; ignored columns: digest");
        let names = ["Address", "MD5"];
        assert_eq!(layout(&names, &["url=address", "digest=md5"]), ", with url=Address, digest=MD5");
        let named = [NamedColumn { column: Column::Digest, name: Some("sha1".into()) }];
        let error = Names::resolve(&names, &named, Some(&"a.csv".into())).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a.csv has no column \"sha1\" to use as digest, its columns are \"Address, MD5\""
        );
    }

    #[test]
    fn evidence_under_another_name_is_found() {
        let names = ["url", "Body-Hash", "canonical_url", "digest_of_nothing"];
        let resolved = Names::resolve(&names, &[], None).unwrap();
        let unused = resolved.layout(names.into_iter()).unused_evidence;
        assert_eq!(
            unused,
            [(Column::Canonical, "canonical_url".into()), (Column::Digest, "Body-Hash".into())]
        );
    }

    #[test]
    fn columns_are_named_by_the_user() {
        let parsed = |text: &str| text.parse::<NamedColumn>().map_err(|error| error.to_string());
        assert_eq!(parsed("Digest=a=b").unwrap().to_string(), "digest=a=b");
        assert_eq!(parsed("digest=").unwrap().name, None);
        assert_eq!(parsed("digest").unwrap_err(), "expected COLUMN=NAME, such as digest=content_digest");
        assert!(
            parsed("hash=x")
                .unwrap_err()
                .starts_with("no column is called `hash`, expected one of url, cluster,")
        );
        assert_eq!(parsed("url=").unwrap_err(), "url must have a name, such as url=Address");
    }
}
