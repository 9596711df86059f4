//! The learner as a whole, and its phases, on lists of URLs.

use dedust::rules::{Rule, SiteRules, SiteSummary};
use dedust::{Normalizer, RuleSet};
use dedust_learn::{Clues, Crawl};

use super::detect::LikelyRule;
use super::eliminate::Comparable;
use super::tokens::Piece;
use super::*;

/// A URL with its page, or with its size, of which one is known.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    url: String,
    page: Option<String>,
    size: Option<u64>,
}

/// URLs of one page each.
pub(super) fn labelled<'u>(urls: impl IntoIterator<Item = &'u str>) -> Vec<Seen> {
    urls.into_iter().zip(0..).map(|(url, page)| seen(url, page)).collect()
}

fn seen(url: &str, page: u32) -> Seen {
    Seen { url: url.into(), page: Some(page.to_string()), size: None }
}

/// Paths of few words, which often overlap themselves, on few pages.
pub(super) fn repetitive(seed: u64) -> Vec<Seen> {
    let mut state = seed;
    let mut next = |limit: u64| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 33) % limit
    };
    (0..40)
        .map(|_| {
            let path: String = (0..next(7)).map(|_| ["/a", "/b", "-a", "/a/b"][next(4) as usize]).collect();
            seen(&format!("http://x.com/p{path}"), path.matches('b').count() as u32)
        })
        .collect()
}

pub(super) fn corpus(seen: &[Seen]) -> Corpus {
    let mut crawl = Crawl::new(EvidenceKinds::AUTO);
    for Seen { url, page, size } in seen {
        let cluster = page.as_ref().map(String::as_bytes);
        crawl.observe(url.as_bytes(), &Clues { cluster, size: *size, ..Clues::default() }).unwrap();
    }
    crawl.into_corpora().remove(0)
}

fn stories() -> Vec<Seen> {
    (1..=20)
        .flat_map(|n| {
            [format!("http://x.com/story?id={n}"), format!("http://x.com/story_{n}")].map(|url| seen(&url, n))
        })
        .collect()
}

fn shown(rules: &[Rule]) -> Vec<String> {
    rules.iter().map(ToString::to_string).collect()
}

fn likely(corpus: &Corpus, alphabet: Alphabet, options: &Options) -> Vec<(String, String, u32)> {
    let tokens = TokenList::new(corpus, alphabet);
    let text = |piece| {
        let mut text = Vec::new();
        tokens.write(tokens.piece(piece), &mut text);
        String::from_utf8(text).unwrap()
    };
    let mut rules: Vec<_> = detect(&tokens, Likeness::new(corpus), options)
        .into_iter()
        .map(|rule| (text(rule.from), text(rule.to), rule.support))
        .collect();
    rules.sort();
    rules
}

#[test]
fn one_of_a_family_of_likely_rules_remains() {
    let corpus = corpus(&stories());
    let likely = likely(&corpus, Alphabet::Tokens, &Options::default());
    assert_eq!(likely.len(), 11, "{likely:?}");
    assert!(
        likely
            .iter()
            .all(|(from, to, support)| { from.ends_with("?id=") && to.ends_with('_') && *support == 20 })
    );
    let learned = learn(&corpus, 0.05);
    assert_eq!((learned.raw_rules, learned.qualified_rules), (11, 1));
    assert_eq!(
        shown(&learned.rules),
        ["`http://x.com/story?id=` is replaced by `http://x.com/story_` at the start"]
    );
    let evidence = &learned.rules[0].evidence;
    assert_eq!((evidence.urls, evidence.support_pairs, evidence.false_pairs), (20, 20, 0));
    assert!((evidence.failure_bound - 0.139).abs() < 1e-3);
    assert_eq!(evidence.examples[0].duplicate, "http://x.com/story_1".into());
}

#[test]
fn both_forms_come_to_one() {
    let learned = learn(&corpus(&stories()), 0.05);
    let rules = SiteRules::new(SiteSummary::default(), learned.rules).unwrap();
    let mut set = RuleSet::new("dustbuster");
    set.insert("x.com", rules).unwrap();
    let normalizer = Normalizer::compile(&set);
    for url in ["http://x.com/story?id=99", "http://x.com/story_99"] {
        assert_eq!(normalizer.normalize(url).unwrap(), "http://x.com/story_99");
    }
    assert_eq!(normalizer.normalize("http://x.com/stories?id=9").unwrap(), "http://x.com/stories?id=9");
}

#[test]
fn characters_find_more_pairs_than_tokens() {
    let corpus = corpus(&stories());
    let rules = likely(&corpus, Alphabet::Bytes, &Options::default());
    // As many again take in a part of a number, the first digit of 10 to 19.
    let with_digit = rules.iter().filter(|(from, _, _)| from.ends_with("?id=1")).count();
    assert_eq!((rules.len(), with_digit), (40, 20));
}

#[test]
fn values_beyond_the_bucket_leave_no_trace() {
    let sessions: Vec<Seen> = (0..10)
        .flat_map(|page| (0..12).map(move |s| seen(&format!("http://x.com/p?id={page}&s={s}&v=1"), page)))
        .collect();
    let corpus = corpus(&sessions);
    let about_sessions = |bucket| {
        let options = Options { max_bucket: bucket, max_wide_bucket: bucket, ..Options::default() };
        let rules = likely(&corpus, Alphabet::Tokens, &options);
        rules.into_iter().filter(|(from, to, _)| from.contains("s=") && to.contains("s=")).count()
    };
    assert_eq!(about_sessions(11), 0);
    assert!(about_sessions(12) > 0);
}

#[test]
fn different_pages_make_no_rule() {
    let apart: Vec<Seen> = stories().into_iter().zip(0..).map(|(old, page)| seen(&old.url, page)).collect();
    let learned = learn(&corpus(&apart), 0.05);
    assert_eq!((learned.raw_rules, learned.rules.len()), (0, 0));
}

#[test]
fn a_rule_that_often_fails_is_refuted() {
    let mut mostly = stories();
    for story in &mut mostly[..4] {
        story.page = Some(format!("{} alone", story.url));
    }
    let corpus = corpus(&mostly);
    let learned = learn(&corpus, 0.05);
    assert!(learned.qualified_rules > 0);
    assert_eq!(learned.rules, []);
    assert_eq!(learn(&corpus, 0.1).rules[0].evidence.false_pairs, 2);
}

#[test]
fn sizes_stand_in_for_labels() {
    let mut sized = stories();
    for (seen, index) in sized.iter_mut().zip(0..) {
        seen.page = None;
        seen.size = Some(1000 + index / 2);
    }
    let expected = ["`http://x.com/story?id=` is replaced by `http://x.com/story_` at the start"];
    assert_eq!(shown(&learn(&corpus(&sized), 0.05).rules), expected);
    for seen in &mut sized {
        seen.size = seen.size.filter(|_| seen.url.contains('?'));
    }
    assert_eq!(learn(&corpus(&sized), 0.05).raw_rules, 0);
}

#[test]
fn an_instance_that_can_be_cut_in_several_ways_counts_once() {
    let repeated: Vec<Seen> = (0..5)
        .flat_map(|page| ["/a/a", "/a/a/a"].map(|path| seen(&format!("http://x.com/{page}{path}"), page)))
        .collect();
    let rules = likely(&corpus(&repeated), Alphabet::Tokens, &Options::default());
    // With and without the end token.
    for (from, to) in [("/a", ""), ("/a/a", "/a")] {
        let supports: Vec<u32> =
            rules.iter().filter(|rule| rule.0 == from && rule.1 == to).map(|rule| rule.2).collect();
        assert_eq!(supports, [5, 5], "{from} {to}");
    }
}

#[test]
fn the_order_of_the_input_leaves_no_trace() {
    let mut urls = stories();
    urls.extend(
        (1..=9).flat_map(|n| ["", "index.html"].map(|end| seen(&format!("http://x.com/{n}/{end}"), 100 + n))),
    );
    let expected = learn(&corpus(&urls), 0.05).rules;
    let [Change::Replace(list)] = &*expected[0].change else { panic!("{:?}", expected[0].change) };
    assert_eq!((expected.len(), list.len()), (1, 2));
    for turn in [1, 7, 30] {
        urls.rotate_left(turn);
        urls.swap(0, turn);
        assert_eq!(learn(&corpus(&urls), 0.05).rules, expected);
    }
    urls.reverse();
    assert_eq!(learn(&corpus(&urls), 0.05).rules, expected);
}

/// Rules given by the tokens of two URLs from `start` on, up to the ends given.
fn compared<'t>(tokens: &'t TokenList, start: u16, ends: [u16; 2]) -> Comparable<'t> {
    let piece = |row: u32| Piece { row, start, len: ends[row as usize] - start };
    Comparable::new(LikelyRule { from: piece(0), to: piece(1), support: 3, wide_support: 3 }, tokens)
}

#[test]
fn refinements_add_the_same_context_to_both_strings() {
    // The tokens are ^ http : / / x . com / a ? i $, with a or b; both rows have the same length.
    let corpus = corpus(&labelled(["http://x.com/a?i", "http://x.com/b?i"]));
    let tokens = TokenList::new(&corpus, Alphabet::Tokens);
    let core = compared(&tokens, 9, [10, 10]);
    let with_before = compared(&tokens, 8, [10, 10]);
    let with_after = compared(&tokens, 9, [11, 11]);
    let with_both = compared(&tokens, 7, [12, 12]);
    for special in [&with_before, &with_after, &with_both] {
        assert!(special.refines(&core));
        assert!(!core.refines(special));
        assert!(!special.refines(special));
    }
    assert!(with_both.refines(&with_before));
    assert!(!with_before.refines(&with_after));
    // Context on one side only is another rule.
    assert!(!compared(&tokens, 9, [11, 10]).refines(&core));
}

#[test]
fn rules_refine_in_either_direction() {
    let corpus = corpus(&labelled(["http://x.com/a?i", "http://x.com/b?i"]));
    let tokens = TokenList::new(&corpus, Alphabet::Tokens);
    let core = compared(&tokens, 9, [10, 10]);
    let piece = |row| Piece { row, start: 8, len: 2 };
    let turned = LikelyRule { from: piece(1), to: piece(0), support: 3, wide_support: 3 };
    assert!(Comparable::new(turned, &tokens).refines(&core));
}

#[test]
fn of_equal_support_the_general_rule_goes_and_with_more_it_stays() {
    let corpus = corpus(&labelled(["http://x.com/a?i", "http://x.com/b?i"]));
    let tokens = TokenList::new(&corpus, Alphabet::Tokens);
    let remaining = |general: u32, special: u32| {
        let rule = |start, support| {
            let piece = |row| Piece { row, start, len: 10 - start };
            LikelyRule { from: piece(0), to: piece(1), support, wide_support: support }
        };
        let rules = vec![rule(9, general), rule(8, special)];
        let kept = eliminate(&tokens, rules, &Options::default());
        kept.iter().map(|rule| rule.from.len()).collect::<Vec<_>>()
    };
    assert_eq!(remaining(20, 20), [2]);
    assert_eq!(remaining(21, 20), [2]);
    assert_eq!(remaining(100, 95), [2]);
    assert_eq!(remaining(100, 94), [1, 2]);
}

#[test]
fn small_sites_need_fewer_tests() {
    let options = Options::default();
    assert_eq!([10, 400, 1000, 100_000].map(|urls| options.min_tests_for(urls)), [3, 8, 20, 20]);
}
