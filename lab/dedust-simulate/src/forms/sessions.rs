/*!
Pages with any number of URLs: random values that do not matter, and errors that hide behind good URLs.
*/

use super::super::chance::{mix, scatter};
use super::super::text::Text;
use super::background::relevant_keys;
use super::{Names, Spelling};

/// Groups of catalogue pages that hold both living and missing items.
const MIXED_GROUPS: u64 = 8;
const ITEM_BITS: u32 = 27;

/// `/view?id=7&lang=en&page=2&sid=9f..&ref=nav17`: the last two change together.
pub(super) fn two_random_keys(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    let session = spelling.session(names);
    // A visitor comes to the pages of a session in a few ways.
    let origin = mix(session ^ (spelling.hash >> 60));
    names.origin(text).str("/view");
    relevant_keys(names, spelling.page, text);
    text.str("&").str(names.session_key).str("=").hex(session);
    text.str("&ref=").word(origin).number(origin >> 32 & 0xFFF);
}

/// `/docs/big-cat-7.do;jsessionid=9F..` and `/app/(S(9f..))/big-cat-7.aspx`; without session in the first copy.
pub(super) fn session_in_path(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    let id = names.id(spelling.page);
    names.origin(text);
    if spelling.page.is_multiple_of(2) {
        text.str("/docs/").slug(spelling.hash).str("-").number(id).str(".do");
        if spelling.copy > 0 {
            text.str(";jsessionid=").upper_hex(spelling.session(names));
        }
    } else {
        text.str("/app/");
        if spelling.copy > 0 {
            text.str("(S(").hex(spelling.session(names)).str("))/");
        }
        text.slug(spelling.hash).str("-").number(id).str(".aspx");
    }
}

/// `/story/7/big-cat`, and with parameters of campaigns or clicks on all copies but the first.
pub(super) fn rare_tracking(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    names.origin(text).str("/story/").number(names.id(spelling.page)).str("/").slug(spelling.hash);
    if spelling.copy == 0 {
        return;
    }
    let random = spelling.random();
    match (spelling.copy + spelling.hash) % 3 {
        0 => {
            let medium = ["email", "social", "banner", "partner"][(random % 4) as usize];
            text.str("?utm_source=").word(random >> 8).str("&utm_medium=").str(medium);
            text.str("&utm_campaign=").word(random >> 16).number(spelling.copy)
        }
        1 => text.str("?gclid=").hex(random),
        _ => text.str("?fbclid=").hex(random),
    };
}

/// `/help/topic-7?id=5`, where `id` does not matter, and `/item?id=7&from=nav5`, where it does.
pub(super) fn section_only_key(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    let half = spelling.page / 2;
    names.origin(text);
    if spelling.page.is_multiple_of(2) {
        let visitor = scatter(spelling.copy, 20, spelling.hash) | spelling.copy >> 20 << 20;
        text.str("/help/").word(half).str("-").number(half / 8).str("?id=").number(names.id(visitor));
    } else {
        text.str("/item?id=").number(names.id(half));
        if spelling.copy > 0 {
            text.str("&from=").word(spelling.hash >> 8).number(spelling.copy);
        }
    }
}

/// `/account/river-8/9f..` shows the login page of its area, `/catalogue/river-7/item-5.html` that 5 is gone.
pub(super) fn soft_errors(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    names.origin(text);
    if spelling.page.is_multiple_of(2) {
        text.str("/account/").word(spelling.hash).str("-").number(spelling.page).str("/");
        text.hex(spelling.random());
    } else {
        catalogue_item(names, spelling.page, spelling.copy, 1, text);
    }
}

/// `/catalogue/river-7/item-4.html` where 4 is still for sale.
pub(super) fn beside_soft_errors(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    names.origin(text);
    let group = spelling.page % MIXED_GROUPS * 2 + 1;
    catalogue_item(names, group, spelling.page / MIXED_GROUPS, 0, text);
}

/// Items whose number is odd are gone, those with an even number live.
fn catalogue_item(names: &Names, group: u64, index: u64, is_gone: u64, text: &mut Text<'_>) {
    let number = scatter(index, ITEM_BITS, names.salt) | index >> ITEM_BITS << ITEM_BITS;
    text.str("/catalogue/").word(names.hash(group)).str("-").number(group);
    text.str("/item-").number(number * 2 + is_gone).str(".html");
}
