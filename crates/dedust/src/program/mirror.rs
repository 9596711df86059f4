/*!
A site that shows the pages of another: all that is of it alone is [`IS_FETCHABLE`] or not, the name of the other site, and the first
segments of paths where it has pages of its own, each after its length.
*/

use super::{CompiledSite, FLAGS_AT, IS_MIRROR};

/// The length of the shape, and the flags.
const SHAPE_BYTES: usize = FLAGS_AT + 1;
const IS_FETCHABLE: u8 = 1;

/// Another site, whose pages a mirror shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Original<'a> {
    pub(crate) site: &'a [u8],
    /// Whether the pages can be fetched there.
    pub(crate) is_fetchable: bool,
    /// Segments, each after its length.
    except: &'a [u8],
}

impl<'a> Original<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        let ([flags, length], rest) = bytes.split_first_chunk()?;
        let (site, except) = rest.split_at_checked(usize::from(*length))?;
        Some(Self { site, is_fetchable: flags & IS_FETCHABLE != 0, except })
    }

    /// Whether the mirror has pages of its own where the first segment of the path is this.
    pub(crate) fn excepts(&self, segment: &[u8]) -> bool {
        let mut rest = self.except;
        while let Some((length, after)) = rest.split_first() {
            let Some((except, after)) = after.split_at_checked(usize::from(*length)) else { return false };
            if except == segment {
                return true;
            }
            rest = after;
        }
        false
    }
}

/// A site that shows the pages of another.
pub(crate) fn compile_mirror(original: &str, is_fetchable: bool, except: &[&str]) -> CompiledSite {
    let mut shape = vec![0; SHAPE_BYTES];
    shape[0] = SHAPE_BYTES as u8;
    shape[FLAGS_AT] = IS_MIRROR;
    let flags = if is_fetchable { IS_FETCHABLE } else { 0 };
    let mut site = vec![flags];
    for text in std::iter::once(&original).chain(except) {
        // Both are checked when rules are.
        site.push(text.len() as u8);
        site.extend_from_slice(text.as_bytes());
    }
    CompiledSite { shape, site }
}
