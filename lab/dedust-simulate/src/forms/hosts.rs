/*!
Pages under several hosts or schemes.
*/

use super::super::text::Text;
use super::{Names, Spelling};

const MIRRORS: [&str; 40] = [
    "ar", "at", "au", "be", "bg", "br", "ca", "ch", "cl", "cz", "de", "dk", "ee", "es", "fi", "fr", "gr",
    "hk", "hu", "ie", "il", "is", "it", "jp", "kr", "lv", "mx", "nl", "no", "nz", "pl", "pt", "ro", "se",
    "sg", "sk", "tr", "tw", "uk", "us",
];

/// `http://de.a.example/manual/big-cat-7.html`.
pub(super) fn mirrors(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    let mirror = MIRRORS[spelling.form(MIRRORS.len() as u64) as usize];
    manual(names, mirror, spelling, text);
}

/// The same path under a host that is no mirror.
pub(super) fn beside_mirrors(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    manual(names, "bugs", spelling, text);
}

fn manual(names: &Names, label: &str, spelling: Spelling, text: &mut Text<'_>) {
    text.str("http://").str(label).str(".").str(&names.domain).str("/manual/");
    text.slug(spelling.hash).str("-").number(names.id(spelling.page)).str(".html");
}

/// `http://a.example/pub/7/big-cat.html` and the same under the second domain.
pub(super) fn cross_domain_mirror(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    text.str("http://").str(either_domain(names, spelling.form(2))).str("/pub/");
    text.number(names.id(spelling.page)).str("/").slug(spelling.hash).str(".html");
}

/// `/contact/7.html`, of which each domain has its own.
pub(super) fn beside_cross_domain_mirror(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    text.str("http://").str(either_domain(names, spelling.page % 2)).str("/contact/");
    text.number(names.id(spelling.page / 2)).str(".html");
}

fn either_domain(names: &Names, which: u64) -> &str {
    if which == 0 { &names.domain } else { &names.second_domain }
}

/// `https://www.a.example/about/big-cat-7`, and with `http`, and without `www`.
pub(super) fn https_and_www(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    let origin = ["http://www.", "https://", "https://www.", "http://"][spelling.form(4) as usize];
    text.str(origin).str(&names.domain);
    about(names, spelling, text);
}

/// The same path under a host of its own.
pub(super) fn beside_https_and_www(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    let origin = ["http://shop.", "http://jobs."][(spelling.page % 2) as usize];
    text.str(origin).str(&names.domain);
    let page = spelling.page / 2;
    about(names, Spelling { page, hash: names.hash(page), ..spelling }, text);
}

fn about(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    text.str("/about/").slug(spelling.hash).str("-").number(names.id(spelling.page));
}

/// `/press/big-cat-7`, for print with `?print=1`, for phones under `m.` or `/amp/`.
pub(super) fn print_and_mobile(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    let form = spelling.form(4);
    let host = if form == 2 { "http://m." } else { "http://www." };
    text.str(host).str(&names.domain);
    press(names, if form == 3 { "/amp/press/" } else { "/press/" }, spelling, text);
    if form == 1 {
        text.str("?print=1");
    }
}

/// `/press/big-cat-7?photo=1`: a page for each picture.
pub(super) fn beside_print_and_mobile(names: &Names, spelling: Spelling, text: &mut Text<'_>) {
    let page = spelling.page / 3;
    names.origin(text);
    press(names, "/press/", Spelling { page, hash: names.hash(page), ..spelling }, text);
    text.str("?photo=").number(spelling.page % 3 + 1);
}

fn press(names: &Names, folder: &str, spelling: Spelling, text: &mut Text<'_>) {
    text.str(folder).slug(spelling.hash).str("-").number(names.id(spelling.page));
}
