/*!
Pages without a phenomenon: every part of their URLs matters, but for the session id on copies of catalog pages.
*/

use super::super::text::Text;
use super::{Names, Spelling};

const LANGUAGES: [&str; 5] = ["en", "fr", "de", "es", "it"];
const PAGES_PER_ITEM: u64 = 4;

/// `/article/7/big-cat`.
pub(super) fn article(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    names.origin(text).str("/article/").number(names.id(spelling.page)).str("/").slug(spelling.hash);
}

/// `/catalog/view?id=7&lang=en&page=2`, and with a session id on all copies but the first.
pub(super) fn catalog(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    names.origin(text).str("/catalog/view");
    relevant_keys(names, spelling.page, text);
    if spelling.copy > 0 {
        text.str("&").str(names.session_key).str("=").hex(spelling.session(names));
    }
}

/// `?id=7&lang=en&page=2`: three parameters that all matter.
pub(super) fn relevant_keys(names: &Names, page: u64, text: &mut Text<'_>) {
    let (rest, number) = (page / PAGES_PER_ITEM, page % PAGES_PER_ITEM + 1);
    let language = LANGUAGES[(rest % LANGUAGES.len() as u64) as usize];
    text.str("?id=").number(names.id(rest / LANGUAGES.len() as u64));
    text.str("&lang=").str(language).str("&page=").number(number);
}
