/*!
Document to [`Fingerprint`]: all that is kept of a page to tell whether another one is the same.

Two pages are the same when their bytes are, when a reader sees the same text, or when the text differs little and the
title not at all. Short texts say nothing: frames, scripts and error pages have them.

The limit of three bits and the condition on the title are those of Xu, Liu and Callan, SIGIR 2017.
*/

use std::fmt;

use dedust_pages::{Page, PageSource};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::passages::Passages;

/// Bits in which the simhashes of two versions of a page may differ.
const MAX_HAMMING_BITS: u32 = 3;

/// What is kept of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    body: u128,
    /// Of a text that is long enough.
    text: Option<Text>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Text {
    signature: u128,
    simhash: u64,
    /// A hash of the title, if there is one.
    title: Option<u64>,
}

impl Fingerprint {
    /// The fingerprint of a document.
    pub fn of(body: &[u8], content_type: Option<&str>) -> Self {
        Self::with_passages(body, content_type).0
    }

    /// The same, and the passages of a text that is long enough.
    pub(crate) fn with_passages(body: &[u8], content_type: Option<&str>) -> (Self, Option<Passages>) {
        let source =
            PageSource { body, content_type: content_type.map(str::as_bytes), ..PageSource::default() };
        let read = Page::read(&source).and_then(|page| {
            let text = dedust_pages::Fingerprint::of([page.text()].into_iter())?;
            let title = Some(page.title()).filter(|title| !title.is_empty());
            let title = title.map(|title| xxh3_64(title.as_bytes()));
            let (signature, simhash) = (u128::from_be_bytes(text.signature), text.simhash);
            Some((Text { signature, simhash, title }, Passages::of(page.text(), title)))
        });
        let (text, passages) = read.unzip();
        (Self { body: xxh3_128(body), text }, passages.flatten())
    }

    /// The fingerprint of what is left of a page: hashes of passages, in their order, and of the title.
    pub(crate) fn of_passages(passages: &[u64], title: Option<u64>) -> Self {
        let bytes: Vec<u8> = passages.iter().flat_map(|passage| passage.to_be_bytes()).collect();
        let are_most = |bit: &u32| {
            2 * passages.iter().filter(|passage| **passage >> bit & 1 == 1).count() > passages.len()
        };
        let simhash = (0..u64::BITS).filter(are_most).map(|bit| 1u64 << bit).sum();
        let signature = xxh3_128(&bytes);
        Self { body: signature, text: Some(Text { signature, simhash, title }) }
    }

    /// Whether both are of the same bytes.
    pub(crate) fn is_same_body(&self, other: &Self) -> bool {
        self.body == other.body
    }

    /// Whether both are versions of one page.
    pub fn is_same_page(&self, other: &Self) -> bool {
        self.is_same_body(other)
            || match (&self.text, &other.text) {
                (Some(text), Some(other)) => {
                    let distance = (text.simhash ^ other.simhash).count_ones();
                    text.signature == other.signature
                        || text.title.is_some() && text.title == other.title && distance <= MAX_HAMMING_BITS
                }
                _ => false,
            }
    }

    /// Reads what [`Display`](fmt::Display) wrote.
    pub fn parse(text: &str) -> Option<Self> {
        let mut fields = text.split('-');
        let body = hex(fields.next()?)?;
        let text = match (fields.next(), fields.next(), fields.next(), fields.next()) {
            (None, ..) => None,
            (Some(signature), Some(simhash), title, None) => Some(Text {
                signature: hex(signature)?,
                simhash: hex(simhash)?.try_into().ok()?,
                title: match title {
                    Some(title) => Some(hex(title)?.try_into().ok()?),
                    None => None,
                },
            }),
            _ => return None,
        };
        Some(Self { body, text })
    }
}

fn hex(digits: &str) -> Option<u128> {
    u128::from_str_radix(digits, 16).ok()
}

/// Hexadecimal numbers: of the body, of the text if it is long enough, and of its title if there is one.
impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.body)?;
        let Some(Text { signature, simhash, title }) = &self.text else { return Ok(()) };
        write!(f, "-{signature:x}-{simhash:x}")?;
        title.map_or(Ok(()), |title| write!(f, "-{title:x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dedust_pages::MIN_TEXT_CHARS;

    /// A text of `words` words; texts of two seeds have hardly a run of words in common.
    fn article(seed: u32, words: u32) -> String {
        (0..words).map(|i| format!("w{} ", (seed + i).wrapping_mul(2_654_435_761) >> 20)).collect()
    }

    fn html(title: &str, text: &str) -> Fingerprint {
        Fingerprint::of(format!("<title>{title}</title><body>{text}").as_bytes(), Some("text/html"))
    }

    #[test]
    fn equal_bytes_are_the_same_page_whatever_they_are() {
        let of = |body: &[u8], kind| Fingerprint::of(body, kind);
        assert!(of(b"short", None).is_same_page(&of(b"short", Some("text/html"))));
        assert!(of(b"\x89PNG", Some("image/png")).is_same_page(&of(b"\x89PNG", Some("image/png"))));
        assert!(!of(b"\x89PNG1", Some("image/png")).is_same_page(&of(b"\x89PNG2", Some("image/png"))));
    }

    #[test]
    fn what_was_written_is_read_again() {
        let text = article(1, 40);
        for page in [html("", "short"), html("", &text), html("title", &text)] {
            assert_eq!(Fingerprint::parse(&page.to_string()), Some(page));
        }
        for text in ["", "x", "1-2", "1-2-3-4-5", "1-2-123456789012345678901", "1-2-3-"] {
            assert_eq!(Fingerprint::parse(text), None, "{text}");
        }
    }

    #[test]
    fn equal_text_in_other_markup_is_the_same_page() {
        let text = article(1, 40);
        let one = html("", &format!("<a href='/?sid=1'>home</a><p>{text}"));
        assert!(
            one.is_same_page(&html("other title", &format!("<a href='/?sid=2'>home</a>\n<p>{text}</p>")))
        );
        assert!(!one.is_same_page(&html("", &format!("<a href='/?sid=1'>home</a><p>{text} more"))));
    }

    #[test]
    fn short_texts_say_nothing() {
        let text = "x".repeat(MIN_TEXT_CHARS);
        assert!(html("t", &text).is_same_page(&html("t", &format!("<p>{text}"))));
        assert!(!html("t", &text[1..]).is_same_page(&html("t", &format!("<p>{}", &text[1..]))));
    }

    #[test]
    fn a_small_difference_needs_the_same_title() {
        let text = article(1, 2000);
        let other = format!("{text} seen 17 times");
        assert!(html("story", &text).is_same_page(&html("story", &other)));
        assert!(!html("story", &text).is_same_page(&html("another story", &other)));
        assert!(!html("", &text).is_same_page(&html("", &other)));
    }

    #[test]
    fn other_texts_under_the_same_title_are_other_pages() {
        assert!(!html("shop", &article(1, 400)).is_same_page(&html("shop", &article(5000, 400))));
    }
}
