/*!
Names the kinds of evidence that two URLs show the same page.

An [`EvidenceKind`] is one kind; [`EvidenceKinds`] is a set of them, two bytes, so that every label can
remember where it came from. What each kind proves, and when it is believed, is decided in [`crate::label`].
*/

use std::fmt;
use std::ops::{BitOr, BitOrAssign};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// One kind of evidence that two URLs show the same page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum EvidenceKind {
    /// An explicit duplicate label that came with the crawl.
    Cluster,
    /// The target of `rel=canonical`: declared by the site.
    Canonical,
    /// The target of an HTTP redirect: declared by the site.
    Redirect,
    /// Equal hash of the whole body.
    Digest,
    /// Equal hash of the body's text; `signature` on the command line, where `text_digest` is understood too.
    TextDigest,
    /// Equal hash of the main text, and equal title; or, if the text is long, equal template.
    MainText,
    /// Nearly equal 64-bit fingerprint of the text, and equal title.
    Simhash,
    /// Most of the shingles of the text in common, and equal title.
    Shingles,
    /// Equal sizes of the response, and equal title where it is known. Weak: see [`EvidenceKinds::AUTO`].
    Size,
}

impl EvidenceKind {
    /// Every kind, in the order in which sets are iterated and printed.
    pub const ALL: [EvidenceKind; 9] = [
        EvidenceKind::Cluster,
        EvidenceKind::Canonical,
        EvidenceKind::Redirect,
        EvidenceKind::Digest,
        EvidenceKind::TextDigest,
        EvidenceKind::MainText,
        EvidenceKind::Simhash,
        EvidenceKind::Shingles,
        EvidenceKind::Size,
    ];

    /// The name on the command line and in rule files.
    pub const fn name(self) -> &'static str {
        match self {
            EvidenceKind::Cluster => "cluster",
            EvidenceKind::Canonical => "canonical",
            EvidenceKind::Redirect => "redirect",
            EvidenceKind::Digest => "digest",
            EvidenceKind::TextDigest => "signature",
            EvidenceKind::MainText => "main",
            EvidenceKind::Simhash => "simhash",
            EvidenceKind::Shingles => "shingles",
            EvidenceKind::Size => "size",
        }
    }
}

impl fmt::Display for EvidenceKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for EvidenceKind {
    type Err = ParseEvidenceError;

    fn from_str(name: &str) -> Result<EvidenceKind, ParseEvidenceError> {
        if name == "text_digest" {
            return Ok(EvidenceKind::TextDigest);
        }
        EvidenceKind::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
            .ok_or_else(|| ParseEvidenceError::UnknownKind { name: name.to_owned() })
    }
}

/// Why a text names no kind of evidence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseEvidenceError {
    /// The text is not the name of a kind.
    #[error(
        "unknown kind of evidence {name:?}, expected cluster, canonical, redirect, digest, signature \
         (or text_digest), main, simhash, shingles or size"
    )]
    UnknownKind {
        /// What was found in place of a name.
        name: String,
    },
}

/// A set of [`EvidenceKind`]s.
///
/// Printed and parsed as names joined by `+`. Parsing also takes `,` as the separator, and `auto` for
/// [`EvidenceKinds::AUTO`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EvidenceKinds(u16);

impl EvidenceKinds {
    /// No kind at all.
    pub const NONE: EvidenceKinds = EvidenceKinds(0);

    /// Every kind but [`EvidenceKind::Size`]: on the sites that we look at, of two URLs with an equal size as little as
    /// one in three pairs show the same page.
    pub const AUTO: EvidenceKinds =
        EvidenceKinds(((1 << EvidenceKind::ALL.len()) - 1) & !(1 << EvidenceKind::Size as u16));

    /// The set of one kind.
    pub const fn only(kind: EvidenceKind) -> EvidenceKinds {
        EvidenceKinds(1 << kind as u16)
    }

    /// The kinds that are in either set.
    #[must_use]
    pub const fn union(self, other: EvidenceKinds) -> EvidenceKinds {
        EvidenceKinds(self.0 | other.0)
    }

    /// Whether the set holds `kind`.
    pub const fn contains(self, kind: EvidenceKind) -> bool {
        self.0 & (1 << kind as u16) != 0
    }

    /// Whether the set holds no kind.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Number of kinds in the set.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The kinds of the set, in the order of [`EvidenceKind::ALL`].
    pub fn iter(self) -> impl Iterator<Item = EvidenceKind> {
        EvidenceKind::ALL.into_iter().filter(move |kind| self.contains(*kind))
    }
}

impl From<EvidenceKind> for EvidenceKinds {
    fn from(kind: EvidenceKind) -> EvidenceKinds {
        EvidenceKinds::only(kind)
    }
}

impl FromIterator<EvidenceKind> for EvidenceKinds {
    fn from_iter<I: IntoIterator<Item = EvidenceKind>>(kinds: I) -> EvidenceKinds {
        kinds.into_iter().fold(EvidenceKinds::NONE, |set, kind| set | kind.into())
    }
}

impl BitOr for EvidenceKinds {
    type Output = EvidenceKinds;

    fn bitor(self, other: EvidenceKinds) -> EvidenceKinds {
        self.union(other)
    }
}

impl BitOrAssign for EvidenceKinds {
    fn bitor_assign(&mut self, other: EvidenceKinds) {
        *self = self.union(other);
    }
}

impl fmt::Display for EvidenceKinds {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, kind) in self.iter().enumerate() {
            if position > 0 {
                formatter.write_str("+")?;
            }
            formatter.write_str(kind.name())?;
        }
        Ok(())
    }
}

impl FromStr for EvidenceKinds {
    type Err = ParseEvidenceError;

    fn from_str(names: &str) -> Result<EvidenceKinds, ParseEvidenceError> {
        if names == "auto" {
            return Ok(EvidenceKinds::AUTO);
        }
        names.split(['+', ',']).map(str::parse::<EvidenceKind>).collect()
    }
}

impl TryFrom<String> for EvidenceKinds {
    type Error = ParseEvidenceError;

    fn try_from(names: String) -> Result<EvidenceKinds, ParseEvidenceError> {
        names.parse()
    }
}

/// `auto` for [`EvidenceKinds::AUTO`], so that whoever asked for it gets what it is by then.
impl From<EvidenceKinds> for String {
    fn from(kinds: EvidenceKinds) -> String {
        if kinds == EvidenceKinds::AUTO { "auto".into() } else { kinds.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_parsed_back_from_its_name() {
        for kind in EvidenceKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
        }
        assert_eq!("text_digest".parse(), Ok(EvidenceKind::TextDigest));
    }

    #[test]
    fn unknown_name_is_refused_and_the_message_lists_what_is_known() {
        let message = "shape".parse::<EvidenceKind>().unwrap_err().to_string();
        assert!(message.contains("\"shape\""), "{message}");
        for kind in EvidenceKind::ALL {
            assert!(message.contains(kind.name()), "{message}");
        }
        assert!("".parse::<EvidenceKinds>().is_err());
        assert!("canonical+".parse::<EvidenceKinds>().is_err());
    }

    #[test]
    fn sets_print_in_fixed_order_and_parse_back() {
        let kinds: EvidenceKinds = "digest,canonical".parse().unwrap();
        assert_eq!(kinds.to_string(), "canonical+digest");
        assert_eq!(kinds.to_string().parse(), Ok(kinds));
        assert_eq!(kinds.len(), 2);
        assert!(kinds.contains(EvidenceKind::Digest) && !kinds.contains(EvidenceKind::Redirect));
        assert_eq!(EvidenceKinds::NONE.to_string(), "");
    }

    #[test]
    fn auto_holds_every_kind_but_size() {
        assert_eq!("auto".parse(), Ok(EvidenceKinds::AUTO));
        let all: EvidenceKinds = EvidenceKind::ALL.into_iter().collect();
        assert_eq!(EvidenceKinds::AUTO | EvidenceKind::Size.into(), all);
        assert!(!EvidenceKinds::AUTO.contains(EvidenceKind::Size));
    }
}
