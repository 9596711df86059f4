//! Hosts that were met before are found faster, and must be found to be what they are.

use dedust::{Normalizer, RuleSet, Scratch};

/// Rules that leave out a parameter of each of these sites, of another name for each.
fn normalizer(sites: &[&str]) -> Normalizer {
    let sites: Vec<String> = sites
        .iter()
        .enumerate()
        .map(|(number, site)| {
            format!(
                r#""{site}": {{"rules": [{{
                    "when": {{"scheme": {{"is": "http"}}, "path_0": {{"is": "a"}}, "q.x{number}": {{"any": "digits"}}}},
                    "closed": true, "last": true, "fetchable": true, "change": [{{"drop": "q.x{number}"}}],
                    "evidence": {{"urls": 400, "support_pairs": 200, "false_pairs": 0, "groups": 100,
                                  "failed_groups": 0, "failure_bound": 0.0295, "kinds": ["digest"]}}}}]}}"#
            )
        })
        .collect();
    let file = format!(r#"{{"version": 1, "method": "by hand", "sites": {{{}}}}}"#, sites.join(", "));
    Normalizer::compile(&RuleSet::load(file.as_bytes()).expect("the rules are valid"))
}

fn keys(normalizer: &Normalizer, urls: &[String], scratch: &mut Scratch) -> Vec<String> {
    let mut keys = Vec::new();
    normalizer.each_key(urls.iter().map(|url| url.as_bytes()), scratch, |_, key| {
        keys.push(
            key.map_or_else(|error| error.to_string(), |key| String::from_utf8_lossy(key).into_owned()),
        );
    });
    keys
}

#[test]
fn hosts_that_look_alike_are_told_apart() {
    // The same first and last eight bytes, of all lengths, beyond what is remembered too; ends of each other; short ones.
    let mut hosts: Vec<String> =
        (0..40).map(|length| format!("abcdefgh{}.example", "-".repeat(length))).collect();
    hosts.extend(["a.ex", "b.ex", "www.a.ex", "x.www.a.ex", "aa.ex", "other.test"].map(str::to_owned));
    let with_rules: Vec<&str> = hosts
        .iter()
        .map(|host| &**host)
        .filter(|host| !host.starts_with('x') && *host != "other.test")
        .collect();
    let normalizer = normalizer(&with_rules);
    let mut urls = Vec::new();
    for round in 0..3 {
        for (at, host) in hosts.iter().enumerate() {
            urls.push(format!("http://{host}/a?x{at}={round}"));
            urls.push(format!("http://{host}/other?x{at}={round}"));
        }
        urls.push("no URL".to_owned());
    }
    let one_by_one: Vec<String> = urls
        .iter()
        .map(|url| normalizer.key(url).map_or_else(|error| error.to_string(), |key| key.to_string()))
        .collect();
    let mut scratch = Scratch::default();
    assert_eq!(keys(&normalizer, &urls, &mut scratch), one_by_one);
    assert_eq!(keys(&normalizer, &urls, &mut scratch), one_by_one, "all of them are known now");
    let mut scratch = Scratch::default();
    for (url, expected) in urls.iter().zip(&one_by_one) {
        let key = normalizer.key_with(url.as_bytes(), &mut scratch);
        assert_eq!(key.ok(), (url != "no URL").then_some(expected.as_bytes()), "one at a time: {url}");
    }
    assert_eq!(one_by_one[0], format!("http://{}/a", hosts[0]), "its rule applies");
    assert_eq!(one_by_one[1], urls[1], "no rule covers it");
    assert_eq!(
        keys(&normalizer, &["http://other.test/a?x45=1".to_owned()], &mut scratch),
        ["http://other.test/a?x45=1"]
    );
}

#[test]
fn what_is_known_under_other_rules_is_forgotten() {
    let urls = ["http://a.example/a?x0=1".to_owned(), "http://a.example/a?x1=1".to_owned()];
    let (first, second, none) =
        (normalizer(&["a.example"]), normalizer(&["b.example", "a.example"]), Normalizer::default());
    let mut scratch = Scratch::default();
    for _ in 0..2 {
        assert_eq!(keys(&first, &urls, &mut scratch), ["http://a.example/a", "http://a.example/a?x1=1"]);
        assert_eq!(keys(&second, &urls, &mut scratch), ["http://a.example/a?x0=1", "http://a.example/a"]);
        assert_eq!(keys(&none, &urls, &mut scratch), urls);
        assert_eq!(keys(&first.clone(), &urls, &mut scratch)[0], "http://a.example/a");
    }
}

/// A site that may have any host names chose one with the hash of the end of other sites.
#[test]
fn a_host_name_that_was_chosen_by_its_hash_switches_off_no_rules() {
    let chosen = "e7g3bt0x37re5tufgk9gw8s2ry1c0d7ilr0i9eg0t8108t9z3.evil-s.com";
    let rules =
        |name: &str| format!(r#""rules": [{{"change": [{{"drop": "q.{name}"}}], "fetchable": true}}]"#);
    let others: Vec<String> =
        ["bbc", "shop", "news"].map(|name| format!(r#""{name}.co.uk": {{{}}}"#, rules("sid"))).into();
    for weight in [0, 200] {
        let file = format!(
            r#"{{"version": 1, "sites": {{{}, "evil-s.com": {{"summary": {{"urls": {weight}, "labelled": 0, "pages": 0,
                "raw_rules": 0, "qualified_rules": 0}}, "hosts": ["{chosen}"], {}}}}}}}"#,
            others.join(", "),
            rules("zork")
        );
        let normalizer = Normalizer::compile(&RuleSet::load(file.as_bytes()).expect("the rules are valid"));
        for host in ["bbc.co.uk", "www.shop.co.uk", "news.co.uk"] {
            let key = normalizer.key(format!("http://{host}/a?sid=1&zork=2")).expect("it is a URL");
            assert_eq!(key.to_string(), format!("http://{host}/a?zork=2"));
        }
        let key = normalizer.key(format!("http://www.{chosen}/a?sid=1&zork=2")).expect("it is a URL");
        assert_eq!(key.to_string(), format!("http://www.{chosen}/a?sid=1"));
    }
}
