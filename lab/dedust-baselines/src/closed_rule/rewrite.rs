/*!
What a rule makes of a URL: for every key of the target form, where its value comes from.
*/

use std::collections::BTreeMap;
use std::fmt;

use dedust::rules::{Source, UrlPart, Value};

use super::shape::write_shape;

/// The target form of a rule. Keys of the source that no operation reads are dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rewrite {
    /// One operation per key of the target.
    target: BTreeMap<UrlPart, Op>,
    /// The order in which the site itself writes the query parameters of the target form.
    query_order: Vec<UrlPart>,
}

/// Where the value of a target key comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// Always this value.
    Keep(Value),
    /// The value of a key of the source; absent when that is absent.
    Copy(UrlPart),
    /// The value does not matter: written `*` in the key.
    Ignore,
    /// These parts, one after the other. A URL that lacks one of them is not covered.
    Join(Vec<Source>),
}

impl Rewrite {
    /// A rewrite with these operations. `query_order` lists query parameters of the target; those it leaves out
    /// are written last, in the order of their names.
    pub fn new(ops: impl IntoIterator<Item = (UrlPart, Op)>, query_order: Vec<UrlPart>) -> Self {
        Self { target: ops.into_iter().collect(), query_order }
    }

    /// The operations in the order of their target keys.
    pub fn ops(&self) -> impl Iterator<Item = (&UrlPart, &Op)> {
        self.target.iter()
    }

    /// The operation on `key`, if the target form has that key.
    pub fn get(&self, key: &UrlPart) -> Option<&Op> {
        self.target.get(key)
    }

    /// The order of query parameters in a written URL.
    pub fn query_order(&self) -> &[UrlPart] {
        &self.query_order
    }

    /// Whether every value of the target form is known, so that a URL can be written from it.
    pub fn is_writable(&self) -> bool {
        !self.target.values().any(|op| *op == Op::Ignore)
    }
}

/// Reads like a URL, with `{key}` for a copied value and `*` for an ignored one.
impl fmt::Display for Rewrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_shape(f, self.target.iter().map(|(key, op)| (key, op as &dyn fmt::Display)))
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keep(value) => write!(f, "{value}"),
            Self::Copy(from) => write!(f, "{{{from}}}"),
            Self::Ignore => f.write_str("*"),
            Self::Join(parts) => parts.iter().try_for_each(|part| write!(f, "{part}")),
        }
    }
}
