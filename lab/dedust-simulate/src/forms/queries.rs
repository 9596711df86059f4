/*!
Pages whose queries can be spelled in several ways.
*/

use super::super::text::{Text, permuted};
use super::{Names, Spelling};

const COLORS: [&str; 4] = ["red", "blue", "green", "black"];
const ALIASES: [&str; 24] = [
    "antiques",
    "appliances",
    "art",
    "audio",
    "bicycles",
    "books",
    "cameras",
    "clothing",
    "computers",
    "drinks",
    "electronics",
    "food",
    "furniture",
    "games",
    "jewelry",
    "kitchen",
    "music",
    "pets",
    "phones",
    "sports",
    "tickets",
    "tools",
    "toys",
    "travel",
];
const RESULTS_PER_PAGE: u64 = 20;
const PAGES_PER_TOPIC: u64 = 10;

/// `/find?cat=3&item=7&color=red` in six orders, with an empty parameter, with one of them twice.
pub(super) fn parameter_order(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    let form = spelling.form(18);
    let (item, color) = (spelling.page / 4, COLORS[(spelling.page % 4) as usize]);
    names.origin(text).str("/find");
    let order = permuted([0, 1, 2], form % 6);
    let params = if form / 6 == 2 { 4 } else { 3 };
    for at in 0..params {
        text.str(if at == 0 { "?" } else { "&" });
        match order[at % 3] {
            0 => text.str("cat=").number(names.hash(item) % 50),
            1 => text.str("item=").number(names.id(item)),
            _ => text.str("color=").str(color),
        };
    }
    if form / 6 == 1 {
        text.str("&view=");
    }
}

/// `/list/river-7?page=3&sort=newest`: page 1 and the newest first are the defaults, other values matter.
pub(super) fn default_value(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    let list = spelling.page / 8;
    names.origin(text).str("/list/").word(names.hash(list)).str("-").number(names.id(list));
    let is_spelled_out = spelling.form(2) == 1;
    match (spelling.page % 8, is_spelled_out) {
        (0, false) => text,
        (0, true) => text.str("?page=1"),
        (1, false) => text.str("?sort=price"),
        (1, true) => text.str("?sort=price&page=1"),
        (2, false) => text.str("?sort=oldest"),
        (2, true) => text.str("?sort=oldest&page=1"),
        (page, false) => text.str("?page=").number(page - 1),
        (page, true) => text.str("?page=").number(page - 1).str("&sort=newest"),
    };
}

/// `/search?q=river+caf%c3%a9+7`: `+` or `%20` between words, an accent on its letter or after it.
pub(super) fn encodings(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    let form = spelling.form(4);
    let space = if form.is_multiple_of(2) { "+" } else { "%20" };
    let accent = if form < 2 { "%c3%a9" } else { "e%CC%81" };
    search(names, spelling, space, accent, text);
}

/// A search for `river+caf..+7`, with plus signs.
pub(super) fn beside_encodings(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    search(names, spelling, "%2B", "%C3%A9", text);
}

fn search(names: &Names, spelling: Spelling, space: &str, accent: &str, text: &mut Text<'_>) {
    let stem =
        ["caf", "ros", "pur", "moir", "canap", "frapp", "saut", "flamb"][(spelling.hash >> 8 & 7) as usize];
    names.origin(text).str("/search?q=").word(spelling.hash).str(space).str(stem).str(accent);
    text.str(space).number(names.id(spelling.page));
}

/// `/record?id=00123` and `?id=123`; `/diary/2010/04/01/` and `/diary?d=20100401`.
pub(super) fn number_formats(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    let (half, form) = (spelling.page / 2, spelling.form(2));
    names.origin(text);
    if spelling.page.is_multiple_of(2) {
        text.str(if form == 0 { "/record?id=" } else { "/record?id=00" }).number(names.id(half));
        return;
    }
    let (day, month, year) = (half % 28 + 1, half / 28 % 12 + 1, 2000 + half / 336 % 20);
    // More entries than days: the second of a day has a number.
    let entry = half / 6720;
    if form == 0 {
        text.str("/diary/").number(year).str("/").two_digits(month).str("/").two_digits(day).str("/");
        if entry > 0 {
            text.number(entry).str("/");
        }
    } else {
        text.str("/diary?d=").number(year).two_digits(month).two_digits(day);
        if entry > 0 {
            text.str("&entry=").number(entry);
        }
    }
}

/// `/browse?cat=electronics&item=7` and `/browse?c=17&item=7`.
pub(super) fn alias_table(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    let count = ALIASES.len() as u64;
    let category = spelling.page % count;
    names.origin(text);
    if spelling.form(2) == 0 {
        text.str("/browse?cat=").str(ALIASES[category as usize]);
    } else {
        text.str("/browse?c=").number(11 + (category * 7 + names.salt % count) % count);
    }
    text.str("&item=").number(names.id(spelling.page / count));
}

/// `/results/river-7?page=3` and `?start=40`.
pub(super) fn affine_pagination(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    let (topic, page) = (spelling.page / PAGES_PER_TOPIC, spelling.page % PAGES_PER_TOPIC);
    names.origin(text).str("/results/").word(names.hash(topic)).str("-").number(names.id(topic));
    if spelling.form(2) == 0 {
        text.str("?page=").number(page + 1);
    } else {
        text.str("?start=").number(page * RESULTS_PER_PAGE);
    }
}
