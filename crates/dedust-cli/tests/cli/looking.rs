/*!
`dedust evaluate`, `dedust explain` and `dedust tree`: looking at rules and sites.
*/

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

#[test]
fn figures_come_by_site_then_pooled_and_averaged() {
    let sandbox = Sandbox::with_rules();
    assert_snapshot!(sandbox.dedust(&["evaluate", "rules.json", "crawl.jsonl"]), @r"
    exit 0
    --- stdout
    site          URLs  pages  achievable  compression  dup-reduction     fpr  precision  recall      F1  keep-all F1  URL F1    live
    news.example    80     40      0.5000       0.5000         1.0000  0.0000     1.0000  1.0000  1.0000       0.6667  1.0000  1.0000
    shop.example   160     80      0.5000       0.5000         1.0000  0.0000     1.0000  1.0000  1.0000       0.6667  0.6667  1.0000
    micro          240    120      0.5000       0.5000         1.0000  0.0000     1.0000  1.0000  1.0000       0.6667  0.7500  1.0000
    macro                          0.5000       0.5000         1.0000  0.0000     1.0000  1.0000  1.0000       0.6667  0.8333  1.0000

    canonical URLs: 200 alive, 0 unmet, 0 wrong
    ");
}

#[test]
fn figures_for_programs_have_full_precision() {
    let sandbox = Sandbox::with_rules();
    let labelled =
        "url,page\nhttp://a.example/1,1\nhttp://a.example/1#x,1\nhttp://a.example/2,1\nhttp://a.example/?,\n";
    let args = ["evaluate", "rules.json", "-", "--format", "json"];
    assert_snapshot!(sandbox.dedust_with(&args, labelled), @r#"
    exit 0
    --- stdout
    {"type":"site","site":"a.example","urls":3,"pages":1,"canonical":2,"covered":1,"lost":0,"compression":0.33333333333333337,"achievable":0.6666666666666667,"dup_reduction":0.2500000000000001,"fpr":0.0,"support_pairs":1,"false_pairs":0,"duplicate_pairs":3,"precision":0.5,"recall":1.0,"f1":0.6666666666666666,"pair_precision":1.0,"pair_recall":0.3333333333333333,"pair_f1":0.5,"live":1.0,"canonical_urls":{"alive":2,"unmet":0,"wrong":0,"redirects":0,"fails":0,"other_page":0},"changed":0.3333333333333333,"keep_all_f1":0.5,"url":{"urls":3,"pages":1,"canonical":2,"covered":1,"lost":0,"compression":0.33333333333333337,"achievable":0.6666666666666667,"dup_reduction":0.2500000000000001,"fpr":0.0,"support_pairs":1,"false_pairs":0,"duplicate_pairs":3,"precision":0.5,"recall":1.0,"f1":0.6666666666666666,"pair_precision":1.0,"pair_recall":0.3333333333333333,"pair_f1":0.5}}
    {"type":"micro","unlabelled":1,"urls":3,"pages":1,"canonical":2,"covered":1,"lost":0,"compression":0.33333333333333337,"achievable":0.6666666666666667,"dup_reduction":0.2500000000000001,"fpr":0.0,"support_pairs":1,"false_pairs":0,"duplicate_pairs":3,"precision":0.5,"recall":1.0,"f1":0.6666666666666666,"pair_precision":1.0,"pair_recall":0.3333333333333333,"pair_f1":0.5,"live":1.0,"canonical_urls":{"alive":2,"unmet":0,"wrong":0,"redirects":0,"fails":0,"other_page":0},"changed":0.3333333333333333,"keep_all_f1":0.5,"url":{"urls":3,"pages":1,"canonical":2,"covered":1,"lost":0,"compression":0.33333333333333337,"achievable":0.6666666666666667,"dup_reduction":0.2500000000000001,"fpr":0.0,"support_pairs":1,"false_pairs":0,"duplicate_pairs":3,"precision":0.5,"recall":1.0,"f1":0.6666666666666666,"pair_precision":1.0,"pair_recall":0.3333333333333333,"pair_f1":0.5}}
    {"type":"macro","sites":1,"sites_without_duplicates":0,"compression":0.33333333333333337,"achievable":0.6666666666666667,"dup_reduction":0.2500000000000001,"fpr":0.0,"precision":0.5,"recall":1.0,"f1":0.6666666666666666,"pair_precision":1.0,"pair_recall":0.3333333333333333,"pair_f1":0.5}
    --- stderr
    warning: 1 URL left out, whose page is not known
    "#);
}

#[test]
fn limits_decide_the_exit_code() {
    let sandbox = Sandbox::with_rules();
    let labelled =
        "url,page\nhttp://a.example/1,1\nhttp://a.example/2,1\nhttp://a.example/#,2\nhttp://a.example/,3\n";
    sandbox.write("labelled.csv", labelled);
    let args = ["evaluate", "rules.json", "labelled.csv", "--format", "json"];
    let with = |limits: &[&str]| {
        let run = sandbox.run(&[&args[..], limits].concat());
        format!("exit {}\n{}", run.status.code().unwrap(), String::from_utf8(run.stderr).unwrap())
    };
    let met = with(&["--min-precision", "0.6", "--min-recall", "0.6", "--max-fpr", "1"]);
    assert_snapshot!(met, @"exit 0");
    let missed = with(&["--min-precision", "0.99", "--min-recall", "0.99", "--max-fpr", "0.01"]);
    assert_snapshot!(missed, @r"
    exit 1
    missed: precision 0.666667 is below --min-precision 0.99
    missed: recall 0.666667 is below --min-recall 0.99
    missed: fpr 1.000000 is above --max-fpr 0.01
    ");
    assert_snapshot!(with(&["--min-recall", "99"]), @r"
    exit 2
    error: --min-recall is 99
    hint: expected a share from 0 to 1
    ");
}

#[test]
fn unlabelled_urls_cannot_be_scored() {
    let sandbox = Sandbox::with_rules();
    let run =
        sandbox.dedust_with(&["evaluate", "rules.json", "-"], "http://a.example/\nhttp://a.example/1\n");
    assert_snapshot!(run, @r"
    exit 2
    --- stderr
    error: the pages of all 2 URLs are unknown, so there is nothing to compare with
    hint: the input needs a `cluster` or `page` column, or other evidence: canonical, redirect, digest, text_digest, or simhash with title
    ");
}

#[test]
fn a_rule_is_explained_with_its_evidence() {
    let sandbox = Sandbox::with_rules();
    let run =
        sandbox.dedust(&["explain", "rules.json", "HTTP://www.shop.example/view?id=7&sid=00000000deadbeef"]);
    assert_snapshot!(run, @"
    exit 0
    --- stdout
    HTTP://www.shop.example/view?id=7&sid=00000000deadbeef
      safe form  http://www.shop.example/view?id=7&sid=00000000deadbeef
      site       shop.example, 1 rule
      rule       0 of 1, cc2e3e7b: under `/view`, where `sid` is like `hex`: `sid` does not matter
                 120 URLs covered, 0 of 40 groups failed: at most 7.2 % wrong
                 duplicates known by canonical and digest
                 in the key only: a value that does not matter cannot be written
                 e.g. http://www.shop.example/view?id=1&sid=000000006d3a06d0 = http://www.shop.example/view?id=1&sid=0000000091a2b3c0
      key        http://www.shop.example/view?id=7&sid=*
      canonical  http://www.shop.example/view?id=7&sid=00000000deadbeef
    ");
    let run = sandbox.dedust(&["explain", "rules.json", "http://news.example/story/3?utm_source=mail"]);
    assert_snapshot!(run, @"
    exit 0
    --- stdout
    http://news.example/story/3?utm_source=mail
      safe form  http://news.example/story/3?utm_source=mail
      site       news.example, 1 rule
      rule       0 of 1, 7dd5ab07: under `/story`: `utm_source` does not matter
                 80 URLs covered, 0 of 40 groups failed: at most 7.2 % wrong
                 duplicates known by digest
                 seen until 2024-05-01
                 e.g. http://news.example/story/1?utm_source=mail = http://news.example/story/1
      key        http://news.example/story/3
      canonical  http://news.example/story/3
    ");
}

#[test]
fn refused_rules_that_read_the_same_are_shown_once() {
    let to_path = json!([{"path": [{"text": "a"}, {"value": {"from": {"of": "q.id"}}}]}, {"drop": "q.id"}]);
    let mut unescaped = to_path.clone();
    let fold = json!({"fold": {"of": {"key": "q.id"}, "to": "unescaped"}});
    unescaped.as_array_mut().unwrap().insert(0, fold);
    let refused = |change: &Value| {
        let when = json!({"q.id": {"any": "text"}});
        json!({"when": when, "change": change, "reason": "too few URLs speak for it", "votes": 4, "against": 0})
    };
    let site = json!({"rules": [], "refused": [refused(&to_path), refused(&unescaped)]});
    let sandbox = Sandbox::new();
    sandbox.write("rules.json", json!({"version": 1, "sites": {"a.example": site}}).to_string());
    let explained = sandbox.dedust(&["explain", "rules.json", "http://a.example/p?id=7"]);
    let sentence = "refused    where there is `id`: the path is `/a/{q.id}`";
    assert_eq!(explained.matches(sentence).count(), 1, "{explained}");
}

#[test]
fn no_rule_is_explained_too() {
    let sandbox = Sandbox::with_rules();
    let run = sandbox.dedust_with(
        &["explain", "rules.json", "-", "mailto:a@b.example"],
        "http://www.shop.example/archive/3\nhttp://unknown.example/\n",
    );
    assert_snapshot!(run, @r"
    exit 0
    --- stdout
    mailto:a@b.example
      safe form  mailto:a@b.example
      site       none: the URL has no host
      rules      none: only the safe normalization applies, which never changes the page
      key        mailto:a@b.example
      canonical  mailto:a@b.example

    http://www.shop.example/archive/3
      safe form  http://www.shop.example/archive/3
      site       shop.example, 1 rule
      rules      none concerns it, as no URLs like it were proven to be duplicates; it stays in its safe form
      key        http://www.shop.example/archive/3
      canonical  http://www.shop.example/archive/3

    http://unknown.example/
      safe form  http://unknown.example/
      site       unknown.example, 0 rules
      rules      none: only the safe normalization applies, which never changes the page
      key        http://unknown.example/
      canonical  http://unknown.example/
    ");
}

#[test]
fn what_is_no_url_is_an_error() {
    let sandbox = Sandbox::with_rules();
    assert_snapshot!(sandbox.dedust(&["explain", "rules.json", "shop", "http://a:b/"]), @r"
    exit 2
    --- stderr
    error: `shop` is no URL
      cause: no scheme, expected one such as `http:` at the start
    error: `http://a:b/` is no URL
      cause: invalid port, expected a number up to 65535
    ");
    let args =
        ["explain", "rules.json", "--format", "json", "shop", "http://news.example/story/3?utm_source=mail"];
    assert_snapshot!(sandbox.dedust(&args), @r#"
    exit 2
    --- stdout
    {"type":"error","input":"shop","error":"no scheme, expected one such as `http:` at the start"}
    {"type":"explanation","input":"http://news.example/story/3?utm_source=mail","safe":"http://news.example/story/3?utm_source=mail","site":"news.example","site_rules":1,"rules":[{"index":0,"id":"7dd5ab07","rule":"under `/story`: `utm_source` does not matter","fetchable":true,"evidence":{"urls":80,"support_pairs":40,"false_pairs":0,"groups":40,"failed_groups":0,"failure_bound":0.0722,"kinds":["digest"],"observed_until":"2024-05-01","examples":[{"url":"http://news.example/story/1?utm_source=mail","duplicate":"http://news.example/story/1"}]}}],"key":"http://news.example/story/3","canonical":"http://news.example/story/3"}
    --- stderr
    error: `shop` is no URL
      cause: no scheme, expected one such as `http:` at the start
    "#);
}

#[test]
fn a_tree_shows_where_urls_differ() {
    let sandbox = Sandbox::with_rules();
    assert_snapshot!(sandbox.dedust(&["tree", "crawl.jsonl", "--depth", "1"]), @r"
    exit 0
    --- stdout
    shop.example  (160 URLs, 50.0 % duplicates)
      path_0=view  (120 URLs, 66.7 % duplicates)
        ... 40 nodes below
      path_0=archive  (40 URLs, 0.0 % duplicates)
        http://www.~/archive/<digits>
    --- stderr
    the tree of shop.example, the largest of 2 sites; choose another with --site
    ");
    let args = ["tree", "crawl.jsonl", "--site", "news.example", "--depth", "0"];
    assert_snapshot!(sandbox.dedust(&args), @r"
    exit 0
    --- stdout
    news.example  (80 URLs, 50.0 % duplicates)
      ... 2 nodes below
    ");
}

#[test]
fn a_tree_is_drawn_for_graphviz() {
    let sandbox = Sandbox::with_rules();
    let args = ["tree", "crawl.jsonl", "--site", "news.example", "--format", "dot"];
    assert_snapshot!(sandbox.dedust(&args), @r#"
    exit 0
    --- stdout
    digraph "news.example" {
      rankdir=LR;
      node [shape=box, fontname="monospace"];
      n0 [label="news.example\n80 URLs, 50.0 % duplicates", tooltip="http://~/story/<digits>?utm_source=<word?>"];
      n1 [label="q.utm_source=mail\n40 URLs, 0.0 % duplicates", tooltip="http://~/story/<digits>?utm_source=mail"];
      n0 -> n1;
      n2 [label="q.utm_source absent\n40 URLs, 0.0 % duplicates", tooltip="http://~/story/<digits>"];
      n0 -> n2;
    }
    "#);
}

#[test]
fn a_tree_is_written_for_programs() {
    let sandbox = Sandbox::with_rules();
    let args = ["tree", "crawl.jsonl", "--site", "news.example", "--format", "json"];
    assert_snapshot!(sandbox.dedust(&args), @r#"
    exit 0
    --- stdout
    {"type":"node","site":"news.example","id":0,"parent":null,"depth":0,"key":null,"value":null,"urls":80,"labelled":80,"pages":40,"split_key":"q.utm_source","pattern":"http://~/story/<digits>?utm_source=<word?>"}
    {"type":"node","site":"news.example","id":1,"parent":0,"depth":1,"key":"q.utm_source","value":"mail","urls":40,"labelled":40,"pages":40,"split_key":null,"pattern":"http://~/story/<digits>?utm_source=mail"}
    {"type":"node","site":"news.example","id":2,"parent":0,"depth":1,"key":"q.utm_source","value":null,"urls":40,"labelled":40,"pages":40,"split_key":null,"pattern":"http://~/story/<digits>"}
    "#);
}

#[test]
fn an_unknown_site_has_no_tree() {
    let sandbox = Sandbox::with_rules();
    assert_snapshot!(sandbox.dedust(&["tree", "crawl.jsonl", "--site", "a.example"]), @r"
    exit 2
    --- stderr
    error: the input has no URLs of the site `a.example`
    hint: it has those of shop.example, news.example
    ");
    assert_snapshot!(sandbox.dedust_with(&["tree", "-"], "mailto:me\n"), @r"
    exit 2
    --- stderr
    error: no URL of the input has a pattern
    hint: expected URLs with a host, such as http://a.example/
    ");
}

/// Two pages that differ by `sid`, one that is lost for it, and one that is found under two keys.
const LABELLED: &str = r#"{"url":"http://a.example/p?id=1","page":"one","title":"One","digest":"1"}
{"url":"http://a.example/p?id=1&sid=7","page":"two","title":"Two","digest":"2"}
{"url":"http://a.example/p?id=1&sid=8&ref=x","page":"two","title":"Two","digest":"2"}
{"url":"http://a.example/p?id=1&ref=y","page":"three","title":"One","digest":"3"}
{"url":"http://a.example/three","page":"three","digest":"3"}
{"url":"http://a.example/alone","page":"four"}
"#;

#[test]
fn wrong_merges_are_charged_to_the_rules_that_make_them() {
    let sandbox = Sandbox::with_two_rules();
    sandbox.write("labelled.jsonl", LABELLED);
    let text = sandbox.dedust(&["evaluate", "rules.json", "labelled.jsonl", "--errors"]);
    let errors = text.split_once("\nerrors").map(|(_, errors)| errors.to_owned()).unwrap();
    assert_snapshot!(errors, @r"
    : 1 page lost, 2 merged with another, 3 URLs
    missed: 1 page still with several keys, 1 key too many

    rule 1 of a.example, 1bcc19fb: `sid` does not matter
      1 page lost, 1 merged with another, 2 URLs

      fetched    http://a.example/p?id=1  (no rule)
      lost       http://a.example/p?id=1&sid=7  (rule 1)
      canonical  http://a.example/p?id=1
      evidence   the digests differ; labels `one` and `two`; titles `One` and `Two`

    rule 0 of a.example, e1648699: `ref` does not matter
      0 pages lost, 1 merged with another, 1 URL

      fetched    http://a.example/p?id=1  (no rule)
      merged     http://a.example/p?id=1&ref=y  (rule 0)
      canonical  http://a.example/p?id=1
                 http://a.example/p?id=1&ref=y
      evidence   the digests differ; labels `one` and `three`; the titles are the same
    ");
    let text = sandbox.dedust(&[
        "evaluate",
        "rules.json",
        "labelled.jsonl",
        "--errors",
        "--limit",
        "1",
        "--format",
        "json",
    ]);
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("{\"type\":\"m")).skip(3).collect();
    assert_snapshot!(lines.join("\n"), @r#"
    {"type":"rule_errors","site":"a.example","index":1,"id":"1bcc19fb","rule":"`sid` does not matter","pages_lost":1,"pages_merged":1,"urls_merged":2}
    {"type":"wrong_merge","key":"http://a.example/p?id=1","fetched":{"url":"http://a.example/p?id=1","canonical":"http://a.example/p?id=1","rules":[],"cluster":"one","title":"One","digest":"1"},"merged":{"url":"http://a.example/p?id=1&sid=7","canonical":"http://a.example/p?id=1","rules":[1],"cluster":"two","title":"Two","digest":"2"},"is_lost":true,"evidence":["the digests differ","labels `one` and `two`","titles `One` and `Two`"]}
    {"type":"rule_errors","site":"a.example","index":0,"id":"e1648699","rule":"`ref` does not matter","pages_lost":0,"pages_merged":1,"urls_merged":1}
    {"type":"wrong_merge","key":"http://a.example/p?id=1","fetched":{"url":"http://a.example/p?id=1","canonical":"http://a.example/p?id=1","rules":[],"cluster":"one","title":"One","digest":"1"},"merged":{"url":"http://a.example/p?id=1&ref=y","canonical":"http://a.example/p?id=1&ref=y","rules":[0],"cluster":"three","title":"One","digest":"3"},"is_lost":false,"evidence":["the digests differ","labels `one` and `three`","the titles are the same"]}
    {"type":"errors","pages_lost":1,"pages_merged":2,"urls_merged":3,"pages_split":1,"keys_too_many":1}
    "#);
}

/// A redirect and the page with its key have two labels, but nothing shows that it leads elsewhere; two pages with other digests differ.
#[test]
fn a_page_is_lost_only_if_it_is_known_to_differ_from_what_is_fetched() {
    let sandbox = Sandbox::with_rules();
    let learned = sandbox.run(&["learn", "crawl.jsonl", "-o", "learned.json"]);
    assert!(learned.status.success());
    sandbox.write(
        "unclear.jsonl",
        r#"{"url":"http://www.shop.example/view?id=90&sid=1","status":301,"redirect":"http://www.shop.example/later"}
{"url":"http://www.shop.example/view?id=90&sid=2","status":200,"digest":"view 90"}
{"url":"http://www.shop.example/view?id=91&sid=1","status":200,"digest":"view 91"}
{"url":"http://www.shop.example/view?id=91&sid=2","status":200,"digest":"another"}
"#,
    );
    let text = sandbox.dedust(&["evaluate", "learned.json", "unclear.jsonl", "--errors"]);
    let (_, found) = text.split_once("\n\n").unwrap();
    let (found, _) = found.split_once("\nmissed").unwrap();
    assert_snapshot!(found, @r"
    site          pages lost, at most, 95 %  share  pages lost here   share  kept
    shop.example                    2 of 80  2.5 %           1 of 4  25.0 %    no
    besides, 1 page by labels alone: too little is known of what is shown, or it differs no more than two fetches of one page

    canonical URLs: 3 alive, 0 unmet, 0 wrong

    errors: 1 page lost, 2 merged with another, 2 URLs
    ");
}

#[test]
fn rules_without_errors_say_so() {
    let sandbox = Sandbox::with_two_rules();
    sandbox.write("labelled.jsonl", "{\"url\":\"http://a.example/p?sid=1\",\"page\":1}\n");
    let text = sandbox.dedust(&["evaluate", "rules.json", "labelled.jsonl", "--errors"]);
    assert!(text.contains("errors: 0 pages lost, 0 merged with another, 0 URLs\n"), "{text}");
    assert_snapshot!(sandbox.dedust(&["evaluate", "rules.json", "labelled.jsonl", "--limit", "1"]), @r"
    exit 2
    --- stderr
    error: the following required arguments were not provided:
      --errors

    Usage: dedust evaluate [OPTIONS] <RULES> <LABELLED>...
           dedust evaluate [OPTIONS] --labels <TRUTH> <LABELLED>...

    For more information, try '--help'.
    ");
}
