/*!
A thousand sites of six kinds with the rules that were learned on real applications and simulated shops, and URLs as
crawlers meet them there, for benchmarks: same bytes every time.
*/

use dedust::RuleSet;

use crate::mixed_urls;

const SITES: usize = 1000;

/// A rule: what must be true, what is changed, whether the result can be fetched. `SITE` is the number of the site, so
/// that no two sites have the same rules, which would be kept only once.
type Rule = (&'static str, &'static str, bool);

/// What is learned nearly everywhere.
const COMMON: [Rule; 11] = [
    ("", r#"{"map": {"of": "scheme", "values": [{"is": "https", "becomes": "http"}]}}"#, true),
    ("", r#"{"map": {"of": "sub_0", "values": [{"is": "www"}]}}"#, true),
    ("", r#"{"drop": "q.sidSITE"}"#, true),
    ("", r#"{"drop": "q.sessionid"}"#, true),
    ("", r#"{"drop": "q.sid"}"#, true),
    ("", r#"{"drop": "q.fbclid"}"#, true),
    ("", r#"{"drop": "q.gclid"}"#, true),
    ("", r#"{"drop": "q.utm_source"}"#, true),
    ("", r#"{"drop": "q.ref"}"#, true),
    ("", r#"{"drop": "q.PHPSESSID"}"#, true),
    ("", r#"{"drop": "q.utm_campaign"}, {"drop": "q.utm_medium"}"#, true),
];

const BLOG: [Rule; 9] = [
    ("", r#"{"drop": "q.replytocom"}"#, true),
    ("", r#"{"drop": "tslash"}"#, false),
    ("", r#"{"drop": "q.print"}"#, true),
    ("", r#"{"drop": "q.nb"}, {"drop": "q.share"}"#, true),
    (r#""path_0": {"is": "index.php"}"#, r#"{"path": [{"segments": {"from": 1}}]}"#, true),
    (r#""last_0": {"is": "1"}"#, r#"{"path": [{"segments": {"from": 0, "but_last": 1}}]}"#, true),
    (
        r#""path_2": {"any": "text"}, "path_3": "absent", "q.feed": {"is": "rss2"}"#,
        r#"{"path": [{"value": {"from": {"of": "path_0"}}}, {"value": {"from": {"of": "path_1"}}},
                     {"value": {"from": {"of": "path_2"}}}, {"text": "feed"}]}, {"drop": "q.feed"}"#,
        true,
    ),
    (
        r#""q.attachment_id": {"any": "text"}"#,
        r#"{"set": {"key": "q.p", "to": [{"of": "q.attachment_id"}]}}, {"drop": "q.attachment_id"}"#,
        true,
    ),
    ("", r#"{"fold": {"of": "path", "to": "lowercase"}}"#, true),
];

const REPOSITORY: [Rule; 14] = [
    ("", r#"{"map": {"of": "q.h", "values": [{"is": "3.1.4"}]}}"#, true),
    ("", r#"{"drop": "q.id2"}"#, true),
    (r#""path_1": {"is": "log"}"#, r#"{"drop": "q.id"}"#, true),
    ("", r#"{"map": {"of": "q.id", "values": [{"is": "7a87fca5969bbc850ba1b5018f90a2d4d286e1ce"}]}}"#, true),
    (r#""q.follow": {"is": "1"}"#, r#"{"drop": "q.h"}"#, true),
    ("", r#"{"map": {"of": "q.h", "values": [{"is": "stable"}]}}"#, true),
    ("", r#"{"drop": "tslash"}"#, false),
    (r#""path_1": {"not": ["log"]}"#, r#"{"map": {"of": "q.follow", "values": [{"is": "1"}]}}"#, true),
    (r#""path_1": {"is": "stats"}"#, r#"{"drop": "q.h"}"#, true),
    (r#""q.h": {"is": "master"}"#, r#"{"drop": "q.h"}"#, true),
    (
        r#""path_0": {"not": ["parser", "server"]}, "path_1": {"is": "blame"}"#,
        r#"{"path": [{"first": 1}, {"text": "tree"}, {"segments": {"from": 2}}]}"#,
        true,
    ),
    (r#""q.follow": {"is": "1"}"#, r#"{"forget": "last_0"}"#, false),
    (r#""path_0": {"is": "cgit"}"#, r#"{"path": [{"segments": {"from": 1}}]}"#, true),
    (
        r#""last_1": {"is": "docs"}"#,
        r#"{"path": [{"segments": {"from": 0, "but_last": 2}}, {"last": 1}]}"#,
        false,
    ),
];

const MANUAL: [Rule; 14] = [
    (r#""path_0": {"not": ["doku.php"]}"#, r#"{"drop": "q.id"}"#, false),
    ("", r#"{"drop": "tslash"}"#, true),
    ("", r#"{"fold": {"of": "path", "to": "lowercase"}}"#, true),
    ("", r#"{"fold": {"of": "params", "to": "unescaped"}}"#, false),
    ("", r#"{"map": {"of": "q.tab_files", "values": [{"is": "files"}]}}"#, false),
    ("", r#"{"map": {"of": "q.do", "values": [{"is": ""}]}}"#, true),
    ("", r#"{"map": {"of": "q.do", "values": [{"is": "show"}]}}"#, true),
    (r#""q.do": {"is": "media"}"#, r#"{"forget": "last_0"}"#, false),
    (r#""q.idx": {"any": "text"}"#, r#""forget_path""#, false),
    (
        r#""path_0": {"is": "doku.php"}, "path_1": "absent", "q.id": {"any": "text"}"#,
        r#"{"fold": {"of": {"key": "q.id"}, "to": "unescaped"}}, {"fold": {"of": {"key": "q.id"}, "to": "underscored"}},
           {"path": [{"value": {"from": {"of": "q.id"}, "split": ":"}}]}, {"drop": "q.id"}"#,
        true,
    ),
    (r#""q.do": {"is": "login"}"#, r#""forget_path", {"drop": "q.sectok"}"#, false),
    (r#""q.do": {"is": "recent"}"#, r#"{"forget": "last_0"}"#, false),
    (
        r##""path_0": {"is": "doku.php"}, "path_2": "absent""##,
        r#"{"path": [{"value": {"from": {"of": "path_1"}, "split": ":"}}]}"#,
        true,
    ),
    (r##""path_1": "absent""##, r#"{"path": [{"value": {"from": {"of": "path_0"}, "split": ":"}}]}"#, true),
];

const ENCYCLOPEDIA: [Rule; 16] = [
    ("", r#"{"drop": "q.returnto"}"#, false),
    ("", r#"{"drop": "q.curid"}"#, true),
    (r#""q.title": {"is": "Special:RecentChangesLinked"}"#, r#"{"drop": "q.limit"}"#, false),
    ("", r#"{"map": {"of": "q.redlink", "values": [{"is": "1"}]}}"#, true),
    (
        r#""path_1": {"not": ["Special:WhatLinksHere"]}"#,
        r#"{"fold": {"of": "path", "to": "lowercase"}}"#,
        false,
    ),
    ("", r#"{"fold": {"of": "path", "to": "underscored"}}"#, true),
    ("", r#"{"drop": "q.useskin"}"#, true),
    (
        r#""q.title": {"not": ["Main_Page"]}"#,
        r#"{"map": {"of": "q.direction", "values": [{"is": "next"}]}}"#,
        true,
    ),
    ("", r#"{"fold": {"of": "path", "to": "unescaped"}}"#, true),
    ("", r#"{"map": {"of": "q.days", "values": [{"is": "7"}]}}"#, true),
    ("", r#"{"map": {"of": "q.action", "values": [{"is": "view"}]}}"#, true),
    (
        r##""path_0": {"is": "w"}, "path_1": {"is": "index.php"}, "path_2": "absent", "q.title": {"any": "text"},
           "q.action": "absent", "q.oldid": "absent""##,
        r#"{"path": [{"text": "wiki"}, {"value": {"from": {"of": "q.title"}}}]}, {"drop": "q.title"}"#,
        true,
    ),
    (
        r#""path_0": {"is": "w"}, "path_1": {"is": "index.php"}"#,
        r#"{"path": [{"text": "wiki"}, {"segments": {"from": 2}}]}"#,
        false,
    ),
    (r#""q.title": {"is": "Main_Page"}"#, r#"{"drop": "q.undo"}, {"drop": "q.undoafter"}"#, false),
    ("", r#"{"map": {"of": "q.redirect", "values": [{"is": "no"}]}}"#, true),
    ("", r#"{"drop": "q.printable"}"#, true),
];

const TRACKER: [Rule; 5] = [
    ("", r#"{"drop": "q.@template"}"#, true),
    (r#""path_0": {"not": ["user"]}, "q.@sort": {"not": ["id"]}"#, r#"{"drop": "q.@dispname"}"#, true),
    ("", r#"{"map": {"of": "q.@startwith", "values": [{"is": "0"}]}}"#, true),
    ("", r#"{"map": {"of": "q.@pagesize", "values": [{"is": "50"}]}}"#, true),
    ("", r#"{"fold": {"of": "path", "to": "unpadded"}}"#, true),
];

const SHOP: [Rule; 11] = [
    ("", r#"{"drop": "q.s"}"#, true),
    ("", r#""unrepeat""#, true),
    ("", r#"{"map": {"of": "q.sort", "values": [{"is": "newest"}]}}"#, true),
    ("", r#"{"fold": {"of": "params", "to": "unpadded"}}"#, true),
    ("", r#"{"drop": "mp.jsessionid"}"#, true),
    (
        r#""q.page": {"any": "text"}"#,
        r#"{"set": {"key": "q.start", "to": [{"of": "q.page", "count": {"times": 20, "plus": -20}}]}}, {"drop": "q.page"}"#,
        true,
    ),
    (
        r#""path_0": {"is": "store"}, "last_1": {"is": "p"}, "last_2": {"any": "text"}"#,
        r#"{"path": [{"first": 1}, {"last": 2}]}"#,
        false,
    ),
    (
        r##""path_0": {"is": "pages"}, "path_1": {"any": "text"}, "path_2": "absent""##,
        r#"{"path": [{"first": 1}, {"value": {"from": {"of": "path_1", "part": {"digits": 0}}}}]}"#,
        false,
    ),
    (
        r##""path_1": {"is": "guide"}, "path_2": {"any": "text"}, "path_3": "absent""##,
        r#"{"set": {"key": "q.lang", "to": [{"of": "path_0"}]}}, {"path": [{"text": "guide"}, {"value": {"from": {"of": "path_2"}}}]}"#,
        true,
    ),
    ("", r#"{"map": {"of": "q.lang", "values": [{"is": "en"}]}}"#, true),
    ("", r#"{"drop": "q.color"}"#, false),
];

/// The rules of all sites.
pub fn rules() -> RuleSet {
    let kinds: [&[Rule]; 6] = [&BLOG, &REPOSITORY, &MANUAL, &ENCYCLOPEDIA, &TRACKER, &SHOP];
    let evidence = r#"{"urls": 400, "support_pairs": 200, "false_pairs": 0, "groups": 100, "failed_groups": 0,
                       "failure_bound": 0.0295, "kinds": ["digest"]}"#;
    let written = |(when, change, fetchable): &Rule| {
        format!(
            r#"{{"when": {{{when}}}, "change": [{change}], "fetchable": {fetchable}, "evidence": {evidence}}}"#
        )
    };
    let kinds = kinds.map(|kind| COMMON.iter().chain(kind).map(written).collect::<Vec<_>>().join(", "));
    let site = |index: usize| {
        let rules = kinds[index % kinds.len()].replace("SITE", &index.to_string());
        format!(r#""{}": {{"rules": [{rules}]}}"#, host(index))
    };
    let sites: Vec<String> = (0..SITES).map(site).collect();
    let file = format!(r#"{{"version": 1, "method": "canonfd", "sites": {{{}}}}}"#, sites.join(", "));
    RuleSet::load(file.as_bytes()).expect("the rules are valid")
}

fn host(index: usize) -> String {
    let top_level = ["com", "org", "net", "de", "co.uk"][index % 5];
    format!("site-{index}.{top_level}")
}

/// URLs in no order of sites or forms: seven in ten of the applications, the others as they are met anywhere.
pub fn urls(count: usize) -> Vec<String> {
    let mixed = mixed_urls::mixed_urls(count * 3 / 10, 11);
    let mut urls: Vec<String> = (0..(count - mixed.len()) as u64).map(url).collect();
    urls.extend(mixed.iter().enumerate().map(|(index, url)| {
        let (_, rest) = url.split_once("://").expect("every URL has an authority");
        let path = rest.find('/').expect("every URL has a path");
        // Links within a site mostly spell its host in one way.
        let start = ["http://", "http://", "https://", "http://", "http://www."][index / SITES % 5];
        format!("{start}{}{}", host(index % SITES), &rest[path..])
    }));
    // A walk with a step that has no divisor in common with the number of URLs visits each once. Copied, so that
    // they lie in memory in the order in which they are read.
    let step = 611_953;
    (0..count).map(|index| urls[index * step % count].clone()).collect()
}

/// A URL of an application.
fn url(number: u64) -> String {
    let token = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let (id, die) = (token >> 40, (token >> 20) % 100);
    let index = (token >> 8) as usize % SITES;
    let (year, month) = (2005 + id % 20, 1 + id % 12);
    let form = number % 8;
    let path = match (index % 6, form) {
        (0, 0) => format!("/{year}/{month:02}/a-post-about-{id}/"),
        (0, 1) => format!("/{year}/{month:02}/a-post-about-{id}/?replytocom={die}"),
        (0, 2) => format!("/?p={id}"),
        (0, 3) => format!("/index.php/{year}/{month:02}/A-Post-About-{id}"),
        (0, 4) => format!("/category/news/page/{die}/"),
        (0, 5) => format!("/{year}/{month:02}/a-post-about-{id}?share=twitter&nb=1"),
        (0, 6) => format!("/?attachment_id={id}"),
        (0, _) => format!("/tag/summer-{die}/1"),
        (1, 0) => format!("/library/commit/?id={token:016x}{token:016x}"),
        (1, 1) => format!("/library/log/docs/page-{die}.rst?h=stable&id={token:016x}"),
        (1, 2) => format!("/library/tree/src/file_{id}.py"),
        (1, 3) => format!("/library/blame/src/file_{id}.py?h=master"),
        (1, 4) => format!("/cgit/library/plain/src/file_{id}.py?id2={token:016x}"),
        (1, 5) => format!("/library/diff/src/file_{id}.py?follow=1&h=3.1.4"),
        (1, 6) => format!("/parser/stats/?h=stable&period=q&ofs={die}"),
        (1, _) => format!("/library/refs/tags/{die}"),
        (2, 0) => format!("/doku.php?id=wiki:syntax:page_{id}"),
        (2, 1) => format!("/wiki/syntax/page_{id}?do=show"),
        (2, 2) => format!("/wiki/syntax/page_{id}?do=revisions&first={die}"),
        (2, 3) => format!("/Wiki/Syntax/Page_{id}"),
        (2, 4) => format!("/wiki/page_{id}?idx=wiki%3Asyntax"),
        (2, 5) => format!("/doku.php/wiki:page_{id}?do=login&sectok={token:016x}"),
        (2, 6) => format!("/lib/exe/fetch.php?media=wiki%3Alogo_{id}.png&tok={die:x}"),
        (2, _) => format!("/wiki/page_{id}?do=edit&rev={}", token >> 30),
        (3, 0) => format!("/wiki/The_history_of_{id}"),
        (3, 1) => format!("/w/index.php?title=The_history_of_{id}&action=history"),
        (3, 2) => format!("/w/index.php?title=The_history_of_{id}"),
        (3, 3) => format!("/wiki/the%20history%20of%20{id}"),
        (3, 4) => format!("/w/index.php?title=Talk:The_history_of_{id}&oldid={die}&direction=next"),
        (3, 5) => format!("/w/index.php?title=The_history_of_{id}&action=edit&redlink=1"),
        (3, 6) => format!("/wiki/Special:Log/The_{id}?useskin=vector&printable=yes"),
        (3, _) => format!("/w/index.php?title=Special:UserLogin&returnto=The_history_of_{id}"),
        (4, 0) => format!("/issue{id}"),
        (4, 1) => format!("/issue{id}?@template=item"),
        (4, 2) => format!(
            "/issue?@sort=-activity&@columns=id,activity,title&@startwith=0&@pagesize=50&status={die}"
        ),
        (4, 3) => format!("/issue?@dispname=Search%20{die}&@sort=id&@startwith={die}"),
        (4, 4) => format!("/file{id}/patch-{die:03}.txt"),
        (4, 5) => format!("/msg{id}"),
        (4, 6) => format!("/user{id}?@template=index&@ok_message=saved"),
        (4, _) => format!("/keyword?@template=item&id={id}"),
        (_, 0) => format!("/store/garden/p/{id}"),
        (_, 1) => format!("/list?category=garden&page={die}&sort=newest"),
        (_, 2) => format!("/product/tea-kettle-{id}.html;jsessionid={token:016X}"),
        (_, 3) => format!("/product/tea-kettle-{id}.html?color=red&size={die}"),
        (_, 4) => format!("/de/guide/how-to-{id}"),
        (_, 5) => format!("/pages/{id}-about-gardens"),
        (_, 6) => format!("/search?q=tea%20kettle%20{id}&s={token:016x}"),
        (_, _) => format!("/a/b/a/b/item-{id}"),
    };
    // Some links carry sessions and tracking, some go to a mirror.
    let lead = if path.contains('?') { '&' } else { '?' };
    let tail = match die {
        0..5 => format!("{lead}utm_source=newsletter&utm_medium=email&utm_campaign=spring_{month}"),
        5..15 => format!("{lead}sid{index}={token:016x}"),
        15..18 => format!("{lead}fbclid={token:016x}{id:x}"),
        _ => String::new(),
    };
    let tail = if path.contains(';') { "" } else { &*tail };
    let start = match die % 10 {
        0..2 => "https://",
        2 => "http://www.",
        _ => "http://",
    };
    format!("{start}{}{path}{tail}", host(index))
}
