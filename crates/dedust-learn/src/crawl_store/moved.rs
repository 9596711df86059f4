/*!
Observations of a mirror as if they were of its original, so that both are learned from as one site.
*/

use dedust::{ParsedUrl, first_segment, site_of, write_moved};

use super::mirrors::MirrorSite;
use super::record::Record;
use crate::label::Clues;

/// Buffers to make observations of a mirror ones of its original.
#[derive(Debug, Default)]
pub(super) struct Mover {
    parsed: ParsedUrl,
    url: Vec<u8>,
    canonical: Vec<u8>,
    redirect: Vec<u8>,
}

impl Mover {
    /// The observation at the original, whose name is `to`; `None` if the page is the mirror's own.
    pub(super) fn moved<'r>(
        &'r mut self,
        record: &Record<'r>,
        from: &str,
        mirror: &MirrorSite,
        to: &str,
    ) -> Option<Record<'r>> {
        let Self { parsed, url, canonical, redirect } = self;
        parsed.parse_from(record.url).ok()?;
        let segment = first_segment(parsed);
        if mirror.except.iter().any(|except| except.as_bytes() == segment) {
            return None;
        }
        let mut moved = |text: &'r [u8], buffer: &'r mut Vec<u8>| -> &'r [u8] {
            if parsed.parse_from(text).is_err() || site_of(parsed.host()) != from.as_bytes() {
                return text;
            }
            buffer.clear();
            write_moved(parsed, from.len(), to.as_bytes(), buffer);
            buffer
        };
        let clues = Clues {
            canonical: record.clues.canonical.map(|target| moved(target, canonical)),
            redirect: record.clues.redirect.map(|target| moved(target, redirect)),
            ..record.clues
        };
        Some(Record { site: mirror.of, url: moved(record.url, url), clues, is_moved: true, ..*record })
    }
}
