/*!
Rules that would make a URL longer and longer: what they write has a limit, and what is promised of keys holds beside it.
*/

#![expect(clippy::unwrap_used, reason = "a failure is what a test is for")]

use std::sync::{Mutex, MutexGuard, PoisonError};

use dedust::{Normalizer, RuleSet};
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Memory is counted for all tests together, so they run one by one.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Twice the path.
const DOUBLE: &str =
    r#"{"path": [{"segments": {"from": 0, "but_last": 0}}, {"segments": {"from": 0, "but_last": 0}}]}"#;

fn normalizer(rules: &[String]) -> Normalizer {
    let file = format!(r#"{{"version": 1, "sites": {{"a.example": {{"rules": [{}]}}}}}}"#, rules.join(","));
    Normalizer::compile(&RuleSet::load(file.as_bytes()).unwrap())
}

fn rule(changes: &str, is_fetchable: bool) -> String {
    format!(r#"{{"change": [{changes}], "fetchable": {is_fetchable}}}"#)
}

/// What holds for any rules. Returns the length of the key.
#[track_caller]
fn check(normalizer: &Normalizer, url: &str) -> usize {
    let max_len = (2 * url.len()).max(8192);
    let (key, canonical) = (normalizer.key(url).unwrap(), normalizer.normalize(url).unwrap());
    let start = &url[..url.len().min(60)];
    assert!(key.as_bytes().len() <= max_len, "a key of {} bytes of {start}", key.as_bytes().len());
    assert!(canonical.as_bytes().len() <= max_len, "{} bytes of {start}", canonical.as_bytes().len());
    assert!(normalizer.key(&canonical).unwrap() == key, "the canonical URL has the key of {start}");
    assert!(normalizer.normalize(&canonical).unwrap() == canonical, "the canonical URL of {start} stays");
    let length = key.as_bytes().len();
    assert!(normalizer.both(url).unwrap() == (key, canonical), "both of {start}");
    length
}

#[test]
fn rules_that_double_a_path_make_it_twice_as_long_at_most() {
    let _alone = alone();
    for is_fetchable in [true, false] {
        let normalizer = normalizer(&vec![rule(DOUBLE, is_fetchable); 40]);
        let long = format!("http://a.example/{}", "x".repeat(60_000));
        MEMORY.reset_peak_usage();
        let before = MEMORY.current_usage();
        // Half of the limit is the host.
        assert!(check(&normalizer, &long) <= 120_038);
        let taken = MEMORY.peak_usage() - before;
        assert!(taken < 8_000_000, "{taken} bytes for a URL of 60,000");
        assert!((4096..=8192).contains(&check(&normalizer, &format!("http://a.example/{}", "x".repeat(60)))));
        for length in (1..9000).step_by(97) {
            check(&normalizer, &format!("http://a.example/{}", "x".repeat(length)));
        }
    }
}

#[test]
fn values_that_are_joined_again_and_again_have_a_limit() {
    let _alone = alone();
    let join =
        |key: &str| format!(r#"{{"set": {{"key": "q.{key}", "to": [{{"of": "q.a"}}, {{"of": "q.b"}}]}}}}"#);
    for is_fetchable in [true, false] {
        let rules: Vec<String> =
            (0..40).map(|at| rule(&join(if at % 2 == 0 { "a" } else { "b" }), is_fetchable)).collect();
        let normalizer = normalizer(&rules);
        assert!(check(&normalizer, "http://a.example/?a=1&b=2") > 2000);
        for length in (1..9000).step_by(97) {
            check(&normalizer, &format!("http://a.example/x?a={}&b=2", "x".repeat(length)));
        }
    }
}

#[test]
fn one_rule_that_reads_a_value_many_times_is_not_made() {
    let _alone = alone();
    let sources = vec![r#"{"of": "q.a"}"#; 10_000].join(",");
    let many = normalizer(&[rule(&format!(r#"{{"set": {{"key": "q.a", "to": [{sources}]}}}}"#), true)]);
    let url = format!("http://a.example/x?a={}", "x".repeat(60_000));
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    assert_eq!(check(&many, &url), url.len());
    let taken = MEMORY.peak_usage() - before;
    assert!(taken < 8_000_000, "{taken} bytes for a URL of 60,000");
}

#[test]
fn long_texts_in_place_of_short_ones_have_a_limit() {
    let _alone = alone();
    let text = "x".repeat(3000);
    let map = |number: usize| {
        rule(
            &format!(r#"{{"map": {{"of": "q.p{number}", "values": [{{"is": "1", "becomes": "{text}"}}]}}}}"#),
            true,
        )
    };
    let normalizer = normalizer(&(0..50).map(map).collect::<Vec<_>>());
    let params: Vec<String> = (0..50).map(|number| format!("p{number}=1")).collect();
    // Two of them fit.
    let length = check(&normalizer, &format!("http://a.example/?{}", params.join("&")));
    assert!((6000..9000).contains(&length), "{length}");
}

#[test]
fn a_rule_for_which_there_is_no_room_is_not_made_at_all() {
    let _alone = alone();
    let drop = r#"{"drop": "q.a"}"#;
    let text = "y".repeat(5000);
    let map = format!(r#"{{"map": {{"of": "q.b", "values": [{{"is": "1", "becomes": "{text}"}}]}}}}"#);
    let all = r#"{"segments": {"from": 0, "but_last": 0}}"#;
    let triple = format!(r#"{{"path": [{all}, {all}, {all}]}}"#);
    for change in [triple, map] {
        let both = normalizer(&[rule(&format!("{drop}, {change}"), true)]);
        for (length, is_made) in [(10, true), (4500, false)] {
            let url = format!("http://a.example/{}?a=1&b=1", "x".repeat(length));
            check(&both, &url);
            let key = both.key(&url).unwrap().to_string();
            assert_eq!(key != url, is_made, "{change} of {length} bytes");
            assert_eq!(key.contains("a=1"), !is_made, "{change} of {length} bytes");
        }
    }
}

/// Of a URL that may be fetched less is made than of its key, or earlier.
#[test]
fn keys_stay_where_rules_of_keys_run_out_of_room() {
    let _alone = alone();
    let drop = rule(r#"{"drop": "q.long"}"#, true);
    let drop_in_key = rule(r#"{"drop": "q.y"}"#, false);
    let doubles = vec![rule(DOUBLE, false); 3];
    let if_absent = format!(r#"{{"when": {{"q.y": "absent"}}, "change": [{DOUBLE}], "fetchable": true}}"#);
    let triple = vec![if_absent; 5];
    for rules in [
        [&doubles[..], std::slice::from_ref(&drop)].concat(),
        [std::slice::from_ref(&drop), &doubles[..]].concat(),
        [std::slice::from_ref(&drop_in_key), &triple[..], std::slice::from_ref(&drop)].concat(),
        [&[drop.clone(), drop_in_key], &triple[..]].concat(),
    ] {
        let normalizer = normalizer(&rules);
        for path in (50..4000).step_by(150) {
            for value in [1, 500, 3000, 5000] {
                let (path, value) = ("x".repeat(path), "v".repeat(value));
                check(&normalizer, &format!("http://a.example/{path}?long={value}&y=1"));
            }
        }
    }
}

#[test]
fn closed_rules_that_write_a_value_many_times_are_not_applied_to_long_ones() {
    let _alone = alone();
    let is_fetchable = [true, false];
    let set = |key: &str, times: usize| {
        format!(r#"{{"set": {{"key": "{key}", "to": [{}]}}}}"#, vec![r#"{"of": "q.a"}"#; times].join(","))
    };
    let value = r#"{"value": {"from": {"of": "q.a"}}}"#;
    let path = format!(r#"{{"path": [{{"text": "y"}},{}]}}"#, vec![value; 249].join(","));
    let params: Vec<String> = (0..250).map(|at| set(&format!("q.p{at}"), 1)).collect();
    for (change, is_fetchable) in [set("q.b", 210), path, params.join(",")]
        .iter()
        .flat_map(|change| is_fetchable.map(|is| (change, is)))
    {
        let rule = format!(
            r#"{{"when": {{"scheme": {{"is": "http"}}, "path_0": {{"is": "x"}}, "q.a": {{"any": "text"}}}}, "closed": true,
                "change": [{change}], "last": true, "fetchable": {is_fetchable}}}"#
        );
        let normalizer = normalizer(&[rule]);
        assert!(check(&normalizer, "http://a.example/x?a=xy") > 400);
        for length in [50, 500, 60_000] {
            let url = format!("http://a.example/x?a={}", "x".repeat(length));
            MEMORY.reset_peak_usage();
            let before = MEMORY.current_usage();
            assert_eq!(check(&normalizer, &url), url.len(), "{length}");
            let taken = MEMORY.peak_usage() - before;
            assert!(taken < 16_000_000, "{taken} bytes for a URL of 60,000");
        }
    }
}
