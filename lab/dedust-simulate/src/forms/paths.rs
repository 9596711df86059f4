/*!
Pages whose paths can be spelled in several ways.
*/

use super::super::text::{Text, three_words};
use super::{Names, Spelling};

const CATEGORIES: [&str; 16] = [
    "sale",
    "shoes/norda",
    "new",
    "shoes/lumo",
    "top",
    "bags/norda",
    "gifts",
    "bags/veska",
    "outlet",
    "coats/lumo",
    "popular",
    "coats/veska",
    "clearance",
    "hats/norda",
    "brands",
    "hats/lumo",
];

/// `/handbook/river/7`, with a slash at the end, and with `index.html` after it; one to three levels deep.
pub(super) fn directory_index(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    directory(names, spelling, text);
    text.str(["", "/", "/index.html"][spelling.form(3) as usize]);
}

/// Another file of the same directory.
pub(super) fn beside_directory_index(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    directory(names, spelling, text);
    text.str("/appendix.html");
}

fn directory(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    names.origin(text).str("/handbook/");
    for level in 0..spelling.hash % 3 {
        text.word(spelling.hash >> (8 * level + 8)).str("/");
    }
    text.number(names.id(spelling.page));
}

/// `/pages/big-cat7.htm`, `.html` and `.php3`.
pub(super) fn extension_aliases(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    stem(names, spelling, text);
    text.str([".html", ".htm", ".php3"][spelling.form(3) as usize]);
}

/// Another document of the same stem.
pub(super) fn beside_extension_aliases(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    stem(names, spelling, text);
    text.str(".pdf");
}

fn stem(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    names.origin(text).str("/pages/").slug(spelling.hash).number(names.id(spelling.page));
}

/// `/News/Big-Cat-7.aspx` in three letter cases.
pub(super) fn case_insensitive(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    names.origin(text);
    let path = text.position();
    text.str("/news/").slug(spelling.hash).str("-").number(names.id(spelling.page)).str(".aspx");
    match spelling.form(3) {
        0 => text.capitalize_from(path),
        1 => text.uppercase_from(path),
        _ => {}
    }
}

/// `/news/preview.aspx?code=aB7`: in the query, letter cases do matter.
pub(super) fn beside_case_insensitive(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    let code = ["ab", "aB", "Ab", "AB"][(spelling.page % 4) as usize];
    names.origin(text).str("/news/preview.aspx?code=").str(code).number(names.id(spelling.page / 4));
}

/// `/store/shoes/norda/p/7` and `/store/sale/p/7`.
pub(super) fn redundant_category(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    let category = CATEGORIES[spelling.form(CATEGORIES.len() as u64) as usize];
    names.origin(text).str("/store/").str(category).str("/p/").number(names.id(spelling.page));
}

/// `/store/sale/r/7`: what customers say about it.
pub(super) fn beside_redundant_category(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    names.origin(text).str("/store/sale/r/").number(names.id(spelling.page));
}

/// `/en/guide/x` and `/guide/x`; for other languages `/fr/guide/x` and `/guide/x?lang=fr`.
pub(super) fn default_language(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    let language = ["en", "fr", "de"][(spelling.page % 3) as usize];
    let guide = spelling.page / 3;
    let is_prefixed = spelling.form(2) == 0;
    names.origin(text);
    if is_prefixed {
        text.str("/").str(language);
    }
    text.str("/guide/").slug(names.hash(guide)).str("-").number(names.id(guide));
    if !is_prefixed && language != "en" {
        text.str("?lang=").str(language);
    }
}

/// `/maze/river/stone/big-7.html` with `/river/stone` once or more; `/stone/river` leads elsewhere.
pub(super) fn crawler_trap(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    let pair = spelling.page / 2;
    let [first, second, third] = three_words(names.hash(pair), spelling.page % 2);
    names.origin(text).str("/maze/");
    for _ in 0..=spelling.copy {
        text.word(first).str("/").word(second).str("/");
    }
    text.word(third).str("-").number(names.id(pair)).str(".html");
}
