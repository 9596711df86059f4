/*! Checks the figures against worked examples and against definitions that enumerate every pair. */

use super::*;
use crate::pair_counts::{PairCounter, PairCounts, count_pairs};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Text names in place of hashes and labels, for readable examples.
fn rows(names: &[(&str, &str)]) -> Vec<(u128, u32)> {
    let number =
        |name: &str| name.bytes().fold(7u32, |number, byte| number.wrapping_mul(31) + u32::from(byte));
    names.iter().map(|(group, label)| (u128::from(number(group)), number(label))).collect()
}

fn narrow(rows: &[(u128, u32)]) -> Vec<(u64, u32)> {
    rows.iter().map(|&(group, label)| (group as u64, label)).collect()
}

fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-12, "found {found}, expected {expected}");
}

#[test]
fn pairs_of_two_groups_are_counted() {
    let rows = rows(&[("1", "a"), ("1", "a"), ("1", "b"), ("2", "c")]);
    let counts = count_pairs(narrow(&rows));
    assert_eq!((counts.support, counts.same, counts.false_pairs()), (3, 1, 2));
    assert_close(counts.fpr(), 2.0 / 3.0);
    assert_eq!((counts.groups, counts.mixed_groups), (1, 1));

    let score = score(rows);
    assert_eq!((score.support_pairs, score.false_pairs), (3, 2));
    assert_close(score.fpr, 2.0 / 3.0);
}

#[test]
fn ten_urls_of_four_pages_in_five_groups() {
    let score = score(rows(&[
        ("1", "a"),
        ("1", "a"),
        ("1", "a"),
        ("2", "b"),
        ("2", "b"),
        ("3", "c"),
        ("3", "c"),
        ("4", "d"),
        ("4", "d"),
        ("5", "d"),
    ]));
    assert_eq!((score.urls, score.pages, score.canonical, score.covered), (10, 4, 5, 4));
    assert_close(score.compression, 0.5);
    assert_close(score.achievable, 0.6);
    assert_close(score.dup_reduction.unwrap(), 1.0 - 0.2 / 0.6);
    assert_close(score.precision, 0.8);
    assert_close(score.recall, 1.0);
    assert_close(score.lost_content(), 0.0);
}

#[test]
fn crawl_simulation_of_the_identity() {
    let score = score(rows(&[("1", "a"), ("2", "a"), ("3", "b"), ("4", "b"), ("5", "c")]));
    assert_close(score.precision, 0.6);
    assert_close(score.recall, 1.0);
    assert_close(score.f1, 0.75);
    assert_eq!(score.fpr, 0.0);
    assert_eq!(score.dup_reduction, Some(0.0));
}

#[test]
fn a_group_counts_as_the_page_of_its_first_url() {
    let merged = score(rows(&[("1", "a"), ("1", "b"), ("2", "a")]));
    assert_eq!((merged.covered, merged.recall), (1, 0.5));
    let kept = score(rows(&[("1", "b"), ("1", "a"), ("2", "a")]));
    assert_eq!((kept.covered, kept.recall), (2, 1.0));
}

#[test]
fn dup_reduction_is_undefined_where_nothing_was_duplicated() {
    let score = score(rows(&[("1", "a"), ("1", "b")]));
    assert_eq!(score.dup_reduction, None);
    assert_eq!(score.dup_reduction_or_one(), 1.0);
    assert_eq!(score.achievable, 0.0);
}

#[test]
fn no_urls_at_all_is_a_perfect_score_without_savings() {
    let score = score([]);
    assert_eq!((score.precision, score.recall, score.f1), (1.0, 1.0, 1.0));
    assert_eq!((score.compression, score.achievable, score.fpr), (0.0, 0.0, 0.0));
    assert_eq!(score.dup_reduction_or_one(), 1.0);
    assert_eq!(count_pairs([]), PairCounts::default());
    assert_eq!(PairCounts::default().fpr(), 0.0);
    assert_eq!(PairCounts::default().group_failure_rate(), 0.0);
}

#[test]
fn pairs_of_a_huge_group_do_not_overflow() {
    let counts = count_pairs((0..300_000u32).map(|row| (1, row % 2)));
    assert_eq!(counts.support, 44_999_850_000);
    assert_eq!(counts.same, 2 * 11_249_925_000);
    let tally = Tally { support_pairs: u128::from(u64::MAX) * 2, ..Tally::default() };
    assert_eq!(tally.score().fpr, 1.0);
}

#[test]
fn a_reused_counter_forgets_the_rows_before() {
    let mut counter = PairCounter::new();
    counter.count([(1, 1), (1, 1), (1, 2)]);
    assert_eq!(counter.count([(1, 1), (2, 1)]), PairCounts::default());
}

/// A page counts as lost only if all its URLs are known to show something else than what is fetched instead.
#[test]
fn a_page_is_lost_if_none_of_its_urls_may_show_what_is_fetched() {
    let rows = [(1, 10), (1, 20), (2, 30), (2, 20), (2, 40)];
    let lost = |are_different: fn(usize, usize) -> bool| Tally::count_with(rows, are_different).lost;
    assert_eq!(Tally::count(rows).lost, 2);
    assert_eq!(lost(|_, _| true), 2);
    assert_eq!(lost(|_, _| false), 0);
    // One URL of page 20 is like the first of its group.
    assert_eq!(lost(|first, url| (first, url) != (2, 3)), 1);
}

/// The definitions, pair by pair.
fn quadratic_tally(rows: &[(u128, u32)]) -> Tally {
    let pairs = || (0..rows.len()).flat_map(|i| (i + 1..rows.len()).map(move |j| (rows[i], rows[j])));
    let firsts = rows.iter().enumerate().filter(|(i, row)| rows[..*i].iter().all(|before| before.0 != row.0));
    let pages = rows.iter().map(|row| row.1).collect::<BTreeSet<_>>().len() as u64;
    let covered = firsts.map(|(_, row)| row.1).collect::<BTreeSet<_>>().len() as u64;
    Tally {
        urls: rows.len() as u64,
        pages,
        canonical: rows.iter().map(|row| row.0).collect::<BTreeSet<_>>().len() as u64,
        covered,
        lost: pages - covered,
        support_pairs: pairs().filter(|(a, b)| a.0 == b.0).count() as u128,
        same_pairs: pairs().filter(|(a, b)| a == b).count() as u128,
        duplicate_pairs: pairs().filter(|(a, b)| a.1 == b.1).count() as u128,
    }
}

proptest! {
    #[test]
    fn equals_the_quadratic_definition(rows in prop::collection::vec((0u128..12, 0u32..9), 0..60)) {
        // Groups that differ only in the high half must stay apart.
        let rows: Vec<(u128, u32)> = rows.into_iter().map(|(group, label)| (group << 64, label)).collect();
        prop_assert_eq!(Tally::count(rows.iter().copied()), quadratic_tally(&rows));
    }

    #[test]
    fn fast_pair_counts_equal_the_quadratic_definition(
        rows in prop::collection::vec((0u128..12, prop::sample::select(vec![0, 1, u32::MAX])), 0..60)
    ) {
        let counts = count_pairs(narrow(&rows));
        let tally = quadratic_tally(&rows);
        prop_assert_eq!((counts.support, counts.same), (tally.support_pairs, tally.same_pairs));
        let groups: BTreeSet<u128> = rows.iter().map(|row| row.0).collect();
        let members = |group: u128| rows.iter().filter(move |row| row.0 == group);
        let large = groups.iter().filter(|group| members(**group).count() >= 2);
        let mixed = groups.iter().filter(|group| members(**group).collect::<BTreeSet<_>>().len() > 1);
        prop_assert_eq!((counts.groups, counts.mixed_groups), (large.count() as u64, mixed.count() as u64));
    }
}
