/*!
Pages known by a number that stands in several parts of a URL.
*/

use super::super::chance::scatter;
use super::super::text::{Text, three_words};
use super::{Names, Spelling};

/// How far the numbers of the print version are from those of the threads.
const PRINT_SHIFT: u64 = 7;
const DATABASE_BITS: u32 = 26;

/// `/forum/thread_123.html`, `/forum/showthread.php?t=123`, `/forum/t/big-cat-123` and `/forum/print/130`.
pub(super) fn moved_id(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    let id = names.id(spelling.page);
    names.origin(text);
    match spelling.form(4) {
        0 => text.str("/forum/thread_").number(id).str(".html"),
        1 => text.str("/forum/showthread.php?t=").number(id),
        2 => text.str("/forum/t/").slug(spelling.hash).str("-").number(id),
        _ => text.str("/forum/print/").number(id + PRINT_SHIFT),
    };
}

/// `/q/123`, `/questions/123`, `/questions/123/big-cat`, and the last one as it was before it was renamed.
pub(super) fn slug_and_id(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    let id = names.id(spelling.page);
    names.origin(text);
    match spelling.form(4) {
        0 => text.str("/q/").number(id),
        1 => text.str("/questions/").number(id).str("/").slug(spelling.hash),
        2 => text.str("/questions/").number(id),
        _ => text
            .str("/questions/")
            .number(id)
            .str("/")
            .word((spelling.hash & 63) + 1)
            .str("-")
            .slug(spelling.hash >> 3),
    };
}

/// `/t/big-cat-sat-123` with the words in six orders; every two pages share their words.
pub(super) fn glued_slug(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    let [first, second, third] = three_words(names.hash(spelling.page / 2), spelling.form(6));
    names.origin(text).str("/t/").word(first).str("-").word(second).str("-").word(third);
    text.str("-").number(names.id(spelling.page));
}

/// `/board/t/98579`, `/board/t/prev/10135` and `/board/t/next/4711`: three numbers without a relation.
pub(super) fn database_mapping(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    let form = spelling.form(3);
    let number = scatter(spelling.page, DATABASE_BITS, names.salt >> (8 * form))
        | spelling.page >> DATABASE_BITS << DATABASE_BITS;
    names.origin(text).str(["/board/t/", "/board/t/prev/", "/board/t/next/"][form as usize]).number(number);
}
