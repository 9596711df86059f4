/*!
URLs as bytes: parsing with safe normalization, and the key-value view that rules are written in.
*/

mod authority;
mod dot_segments;
mod escape;
mod host;
mod normal;
mod outline;
mod parse;
mod scan;
mod site;
mod token;
mod token_text;

pub use outline::{Outline, Query, Segments, Separators, Span, Spans};
pub use parse::{ParseUrlError, ParsedUrl};
pub use site::{first_segment, has_subdomains, site_of, write_moved};
pub use token::{ParamName, RawKey, RawValue, UrlPart, Value, extension, tokenize, visit_tokens};
pub use token_text::UnknownKey;

pub(crate) use crate::delimiters::PADDING;
pub(crate) use outline::MAX_POSITIONS;
pub(crate) use token::{NameCounts, TEXT_NAME, is_query_text};
