/*! One test per line of the policy, each with rows that must stay apart. */

use super::*;
use crate::likeness::{Likeness, Limits, Measured};
use crate::minhash::{SKETCH_VALUES, Sketch};
use EvidenceKind::{Canonical, Cluster, Digest, MainText, Redirect, Shingles, Simhash, Size, TextDigest};

const NOTHING: Clues<'static> = Clues {
    cluster: None,
    canonical: None,
    redirect: None,
    digest: None,
    text_digest: None,
    main: None,
    simhash: None,
    title: None,
    status: None,
    size: None,
};

fn cluster(text: &str) -> Clues<'_> {
    Clues { cluster: Some(text.as_bytes()), ..NOTHING }
}

fn redirect(target: &str) -> Clues<'_> {
    Clues { redirect: Some(target.as_bytes()), status: Some(301), ..NOTHING }
}

fn canonical(target: &str) -> Clues<'_> {
    Clues { canonical: Some(target.as_bytes()), ..NOTHING }
}

fn digest(text: &str) -> Clues<'_> {
    Clues { digest: Some(text.as_bytes()), status: Some(200), ..NOTHING }
}

fn simhash(fingerprint: u64, title: &str) -> Clues<'_> {
    Clues { simhash: Some(fingerprint), title: Some(title.as_bytes()), ..NOTHING }
}

/// A site on which two fetches of a page differ a little.
fn noisy_site() -> Likeness {
    let simhash = Limits { slight: 12, equal: 3 };
    Likeness { simhash, sketch: Limits { slight: 8, equal: 4 }, noise: 0.15, ..Likeness::default() }
}

/// Labels of a site on which two fetches of a page never differ.
fn label_with(kinds: EvidenceKinds, observations: &[(&str, Clues<'_>)]) -> Labels {
    label_like(Likeness::default(), kinds, observations)
}

/// Row i is the i-th URL; a URL that appears again is the same row.
fn label_like(likeness: Likeness, kinds: EvidenceKinds, observations: &[(&str, Clues<'_>)]) -> Labels {
    let mut builder = LabelBuilder::new(kinds);
    let mut urls: Vec<&str> = Vec::new();
    for (url, clues) in observations {
        let row = urls.iter().position(|known| known == url).unwrap_or(urls.len());
        if row == urls.len() {
            urls.push(url);
        }
        builder.observe(row as u32, url.as_bytes(), clues);
    }
    builder.finish_with(urls.len(), Measured { likeness, ..Measured::default() })
}

/// The labels as text: one digit per row, `.` for none.
fn labels_of(observations: &[(&str, Clues<'_>)]) -> String {
    show(&label_with(EvidenceKinds::AUTO, observations))
}

fn show(labels: &Labels) -> String {
    labels.iter().map(|label| label.map_or(".".to_owned(), |label| label.to_string())).collect()
}

#[test]
fn rows_that_redirect_to_one_target_are_duplicates_of_each_other_and_of_the_target() {
    let observations = [
        ("/a", redirect("/t")),
        ("/b", redirect("/t")),
        ("/t", NOTHING),
        ("/c", redirect("/u")),
        ("/d", NOTHING),
    ];
    let labels = label_with(EvidenceKinds::AUTO, &observations);
    assert_eq!(show(&labels), "0001.");
    assert_eq!(labels.kinds_of(2), EvidenceKinds::only(Redirect));
    assert_eq!(labels.kinds_of(3), EvidenceKinds::NONE);
}

#[test]
fn redirects_are_followed_through_other_rows_to_an_unseen_target() {
    assert_eq!(labels_of(&[("/a", redirect("/b")), ("/b", redirect("/t")), ("/c", redirect("/t"))]), "000");
}

#[test]
fn after_redirects_the_canonical_link_of_the_end_is_followed() {
    let observations = [
        ("/old", redirect("/new?ref=1")),
        ("/new?ref=1", canonical("/new")),
        ("/print/new", canonical("/new")),
        ("/other", canonical("/other")),
    ];
    assert_eq!(labels_of(&observations), "0001");
}

#[test]
fn a_canonical_url_that_redirects_or_fails_or_names_another_is_nobodys_name() {
    let error = Clues { status: Some(404), ..NOTHING };
    for (target, end) in [("/moved", redirect("/t")), ("/gone", error), ("/other", canonical("/t"))] {
        let observations = [("/a", canonical(target)), ("/b", canonical(target)), (target, end)];
        let labels = label_with(EvidenceKinds::AUTO, &observations);
        assert_eq!(labels.kinds_of(0), EvidenceKinds::NONE, "{target}");
    }
    assert_eq!(
        labels_of(&[("/a", canonical("/t")), ("/b", canonical("/t")), ("/c", canonical("/u"))]),
        "001"
    );
}

#[test]
fn a_canonical_link_is_not_believed_against_the_text() {
    let page = |text: &'static str, simhash| Clues {
        canonical: Some(b"/list"),
        text_digest: Some(text.as_bytes()),
        simhash: Some(simhash),
        title: Some(b"List"),
        ..NOTHING
    };
    let observations = [
        ("/list", page("one", 0xff00)),
        ("/list?sid=1", page("one", 0xff00)),
        ("/list?page=2", page("two", 0x00ff_ffff)),
        ("/list?clock=1", page("one, later", 0xff01)),
    ];
    assert_eq!(labels_of(&observations), "0012");
    assert_eq!(show(&label_like(noisy_site(), EvidenceKinds::AUTO, &observations)), "0010");
}

#[test]
fn a_redirect_loop_is_no_evidence() {
    let observations =
        [("/a", redirect("/b")), ("/b", redirect("/a")), ("/c", redirect("/a")), ("/d", redirect("/t"))];
    assert_eq!(labels_of(&observations), "...0");
}

#[test]
fn a_canonical_loop_is_no_evidence_but_other_kinds_still_count() {
    let mut in_loop = canonical("/b");
    in_loop.digest = Some(b"d1");
    let labels =
        label_with(EvidenceKinds::AUTO, &[("/a", in_loop), ("/b", canonical("/a")), ("/c", digest("d1"))]);
    assert_eq!(show(&labels), "010");
    assert_eq!(labels.kinds_of(0), EvidenceKinds::only(Digest));
}

#[test]
fn a_redirect_whose_end_names_the_start_as_canonical_ties_both() {
    let labels = label_with(EvidenceKinds::AUTO, &[("/a", redirect("/b")), ("/b", canonical("/a"))]);
    assert_eq!(show(&labels), "00");
    assert_eq!(labels.kinds_of(0), EvidenceKinds::only(Redirect));
}

#[test]
fn a_canonical_link_to_itself_labels_the_row_as_its_own_page() {
    let labels =
        label_with(EvidenceKinds::AUTO, &[("/a", canonical("/a")), ("/b", canonical("/b")), ("/c", NOTHING)]);
    assert_eq!(show(&labels), "01.");
    assert_eq!(labels.kinds_of(0), EvidenceKinds::NONE);
}

#[test]
fn a_redirect_to_itself_leads_nowhere() {
    assert_eq!(labels_of(&[("/a", redirect("/a")), ("/b", redirect("/a"))]), "00");
    assert_eq!(labels_of(&[("/a", redirect("/a"))]), ".");
}

#[test]
fn a_url_with_two_redirect_targets_has_none() {
    let observations =
        [("/a", redirect("/x")), ("/a", redirect("/y")), ("/b", redirect("/x")), ("/c", redirect("/y"))];
    assert_eq!(labels_of(&observations), ".01");
}

#[test]
fn equal_digests_are_duplicates_unless_the_status_is_an_error() {
    let error = Clues { status: Some(404), ..digest("d1") };
    let no_status = Clues { status: None, ..digest("d1") };
    let observations =
        [("/a", digest("d1")), ("/b", error), ("/c", no_status), ("/d", digest("d2")), ("/e", error)];
    assert_eq!(labels_of(&observations), "0.01.");
}

#[test]
fn text_digests_and_fingerprints_of_errors_are_no_evidence() {
    let page = Clues {
        text_digest: Some(b"t"),
        simhash: Some(77),
        title: Some(b"Page"),
        status: Some(200),
        ..NOTHING
    };
    let error = Clues { status: Some(503), ..page };
    let labels = label_with(EvidenceKinds::AUTO, &[("/a", page), ("/b", error), ("/c", page)]);
    assert_eq!(show(&labels), "0.0");
    assert_eq!(labels.kinds_of(0).to_string(), "signature");
}

#[test]
fn empty_values_are_no_evidence() {
    let empty = Clues {
        cluster: Some(b""),
        canonical: Some(b" "),
        redirect: Some(b""),
        digest: Some(b""),
        text_digest: Some(b"d41d8cd98f00b204e9800998ecf8427e"),
        main: None,
        simhash: Some(0),
        title: Some(b"Page"),
        status: None,
        size: None,
    };
    assert_eq!(labels_of(&[("/a", empty), ("/b", empty)]), "..");
    let sha1 = digest("sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
    assert_eq!(labels_of(&[("/a", sha1), ("/b", sha1)]), "..");
}

#[test]
fn fingerprints_need_three_bits_or_fewer_and_an_equal_title() {
    let observations = [
        ("/a", simhash(0xff00, "Page")),
        ("/b", simhash(0xff07, "Page")),
        ("/c", simhash(0xff00, "Other page")),
        ("/d", simhash(0xff00, "")),
        ("/e", simhash(0x00ff, "Page")),
        ("/f", Clues { title: None, ..simhash(0xff00, "") }),
    ];
    assert_eq!(show(&label_like(noisy_site(), EvidenceKinds::AUTO, &observations)), "001.2.");
    // Where one page never differs from itself, near is not equal.
    assert_eq!(labels_of(&observations), "012.3.");
}

#[test]
fn fingerprints_in_a_large_title_group_are_found() {
    let mut builder = LabelBuilder::new(EvidenceKinds::only(Simhash));
    let fingerprint = |row: u32| u64::from(row + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for row in 0..500 {
        builder.observe(2 * row, b"", &simhash(fingerprint(row), "Page"));
        builder.observe(2 * row + 1, b"", &simhash(fingerprint(row) ^ (1 << 63 | 1 << 20 | 1), "Page"));
    }
    let labels = builder.finish_with(1000, Measured { likeness: noisy_site(), ..Measured::default() });
    assert!((0..500).all(|pair| labels.label_of(2 * pair) == labels.label_of(2 * pair + 1)));
    assert_eq!(labels.cluster_count(), 500);
}

#[test]
fn a_giant_group_of_equal_fingerprints_is_one_cluster() {
    let mut builder = LabelBuilder::new(EvidenceKinds::AUTO);
    (0..200_000).for_each(|row| builder.observe(row, b"", &simhash(5, "Page")));
    let labels = builder.finish(200_000);
    assert_eq!((labels.cluster_count(), labels.largest_cluster_size()), (1, 200_000));
}

#[test]
fn with_explicit_clusters_an_untied_row_is_unlabelled() {
    let observations =
        [("/a", cluster("1")), ("/b", digest("d1")), ("/c", cluster("1")), ("/d", cluster("2"))];
    let labels = label_with(EvidenceKinds::AUTO, &observations);
    assert_eq!(show(&labels), "0.01");
    assert_eq!(labels.kinds_of(0), EvidenceKinds::only(Cluster));
    assert_eq!(labels.kinds_of(3), EvidenceKinds::NONE);
    // The same row is a negative example if clusters are not used.
    assert_eq!(show(&label_with(EvidenceKinds::only(Digest), &observations)), ".0..");
}

#[test]
fn with_explicit_clusters_a_tied_row_shares_the_label() {
    let known = Clues { digest: Some(b"d1"), ..cluster("1") };
    let observations = [
        ("/a", known),
        ("/b", digest("d1")),
        ("/c", digest("d2")),
        ("/d", digest("d2")),
        ("/e", digest("d3")),
        ("/f", cluster("2")),
    ];
    assert_eq!(labels_of(&observations), "0011.2");
}

#[test]
fn weaker_evidence_never_joins_two_explicit_clusters() {
    let first = Clues { digest: Some(b"d1"), ..cluster("1") };
    let second = Clues { digest: Some(b"d1"), ..cluster("2") };
    let labels = label_with(EvidenceKinds::AUTO, &[("/a", first), ("/b", second)]);
    assert_eq!(show(&labels), "01");
    assert_eq!(labels.kinds_of(0), EvidenceKinds::NONE);
}

#[test]
fn a_value_found_in_two_explicit_clusters_ties_no_row() {
    let first = Clues { digest: Some(b"d1"), ..cluster("1") };
    let second = Clues { digest: Some(b"d1"), ..cluster("2") };
    let observations = [("/a", first), ("/b", digest("d1")), ("/c", digest("d1")), ("/d", second)];
    assert_eq!(labels_of(&observations), "0..1");
}

#[test]
fn a_chain_of_ties_does_not_join_two_explicit_clusters() {
    let first = Clues { simhash: Some(0xff00), title: Some(b"Page"), ..cluster("1") };
    let between = simhash(0xff07, "Page");
    let second = Clues { simhash: Some(0xff3f), title: Some(b"Page"), ..cluster("2") };
    let observations = [("/a", first), ("/b", between), ("/c", second)];
    let labels = label_like(noisy_site(), EvidenceKinds::AUTO, &observations);
    assert_ne!(labels.label_of(0), labels.label_of(2));
    assert!(labels.label_of(1) == labels.label_of(0) || labels.label_of(1) == labels.label_of(2));
}

#[test]
fn stronger_kinds_are_used_first() {
    // The redirect ties /b to cluster 1, so the digest it shares with cluster 2 is refused.
    let tied = Clues { digest: Some(b"d1"), status: None, ..redirect("/a") };
    let second = Clues { digest: Some(b"d1"), ..cluster("2") };
    let labels = label_with(EvidenceKinds::AUTO, &[("/a", cluster("1")), ("/b", tied), ("/c", second)]);
    assert_eq!(show(&labels), "001");
    assert_eq!(labels.kinds_of(1), EvidenceKinds::only(Redirect));
}

#[test]
fn a_row_in_two_explicit_clusters_is_in_neither() {
    let observations =
        [("/a", cluster("1")), ("/b", cluster("1")), ("/b", cluster("2")), ("/c", cluster("2"))];
    assert_eq!(labels_of(&observations), "0.1");
}

#[test]
fn all_observations_of_a_row_count() {
    let observations =
        [("/a", digest("d1")), ("/b", digest("d1")), ("/b", digest("d2")), ("/c", digest("d2"))];
    assert_eq!(labels_of(&observations), "000");
}

#[test]
fn kinds_that_were_not_chosen_are_ignored() {
    let page = Clues { text_digest: Some(b"t"), ..digest("d1") };
    let observations = [("/a", page), ("/b", page), ("/c", canonical("/a"))];
    let labels = label_with(EvidenceKinds::only(TextDigest), &observations);
    assert_eq!(show(&labels), "00.");
    assert_eq!(labels.kinds_of(1), EvidenceKinds::only(TextDigest));
}

#[test]
fn rows_never_observed_are_unlabelled_and_clusters_are_counted() {
    let mut builder = LabelBuilder::new(EvidenceKinds::AUTO);
    builder.observe(3, b"/d", &digest("d1"));
    builder.observe(1, b"/b", &digest("d1"));
    builder.observe(2, b"/c", &digest("d2"));
    let labels = builder.finish(6);
    assert_eq!(show(&labels), ".010..");
    assert_eq!((labels.row_count(), labels.labelled_count(), labels.cluster_count()), (6, 3, 2));
    assert_eq!((labels.cluster_sizes(), labels.largest_cluster_size()), (&[2, 1][..], 2));
    assert_eq!((labels.label_of(99), labels.kinds_of(99)), (None, EvidenceKinds::NONE));
}

/// A sketch of which the first values are those of another one, so many as to resemble it so much.
fn sketch(seed: u16, other: u16, resemblance: f64) -> Sketch {
    let common = (resemblance * SKETCH_VALUES as f64).round() as usize;
    std::array::from_fn(|i| 1000 * if i < common { other } else { seed } + i as u16)
}

fn main_text<'a>(digest: &'a str, layout: Option<u64>, sketch: &'a Sketch, title: &'a str) -> Clues<'a> {
    let main = MainClues { digest: digest.as_bytes(), layout, sketch: *sketch };
    Clues { main: Some(main), title: Some(title.as_bytes()), status: Some(200), ..NOTHING }
}

#[test]
fn canonical_links_between_pages_with_two_titles_are_not_believed() {
    let titled = |target, title: &'static str| Clues { title: Some(title.as_bytes()), ..canonical(target) };
    let observations = [
        ("/", titled("/", "Home")),
        ("/a", titled("/", "A")),
        ("/a?x", titled("/", "A")),
        ("/b", titled("/", "B")),
        ("/?y", titled("/", "Home")),
    ];
    assert_eq!(labels_of(&observations), "01120");
    let untitled = [("/", titled("/", "Home")), ("/?y", canonical("/")), ("/b", canonical("/b"))];
    assert_eq!(labels_of(&untitled), "001");
}

#[test]
fn equal_main_text_needs_an_equal_title_or_template() {
    let any = sketch(1, 1, 1.0);
    let observations = [
        ("/login?from=a", main_text("m1", None, &any, "Log in")),
        ("/login?from=b", main_text("m1", None, &any, "Log in")),
        ("/list?of=a", main_text("m1", None, &any, "A")),
        ("/news?page=a", main_text("m2", Some(7), &any, "News, from A")),
        ("/news?page=b", main_text("m2", Some(7), &any, "News, from B")),
        ("/print/news", main_text("m2", Some(8), &any, "News")),
    ];
    let labels = label_with(EvidenceKinds::only(MainText), &observations);
    assert_eq!(show(&labels), "001223");
    assert_eq!(labels.kinds_of(4), EvidenceKinds::only(MainText));
    let error = Clues { status: Some(404), ..main_text("m1", None, &any, "Log in") };
    assert_eq!(labels_of(&[("/a", error), ("/b", error)]), "..");
}

#[test]
fn near_fingerprints_of_texts_that_do_not_resemble_each_other_are_not_tied() {
    let (one, near, far) = (sketch(1, 1, 1.0), sketch(2, 1, 0.95), sketch(3, 1, 0.8));
    let page =
        |simhash, digest, sketch| Clues { simhash: Some(simhash), ..main_text(digest, None, sketch, "Page") };
    let observations = [
        ("/a", page(0xff00, "m1", &one)),
        ("/b", page(0xff01, "m2", &near)),
        ("/c", page(0xff00, "m3", &far)),
    ];
    assert_eq!(show(&label_like(noisy_site(), EvidenceKinds::only(Simhash), &observations)), "001");
}

#[test]
fn shingles_find_what_fingerprints_miss() {
    let (one, near, far) = (sketch(1, 1, 1.0), sketch(2, 1, 0.95), sketch(3, 1, 0.8));
    let observations = [
        ("/a", main_text("m1", None, &one, "Page")),
        ("/b", main_text("m2", None, &near, "Page")),
        ("/c", main_text("m3", None, &far, "Page")),
        ("/d", main_text("m4", None, &near, "Other page")),
    ];
    let kinds = EvidenceKinds::only(Shingles) | MainText.into();
    let labels = label_like(noisy_site(), kinds, &observations);
    assert_eq!(show(&labels), "0012");
    assert_eq!(labels.kinds_of(0), EvidenceKinds::only(Shingles));
}

#[test]
fn sizes_are_intervals_and_count_only_when_asked_for() {
    let size = |size| Clues { size: Some(size), ..NOTHING };
    let titled = |title: &'static str| Clues { title: Some(title.as_bytes()), ..size(500) };
    let observations = [
        ("/a", size(100)),
        ("/a", size(120)),
        ("/b", size(120)),
        ("/b", size(100)),
        ("/c", size(100)),
        ("/d", titled("D")),
        ("/e", titled("E")),
    ];
    assert_eq!(show(&label_with(EvidenceKinds::only(Size), &observations)), "00123");
    assert_eq!(labels_of(&observations), ".....");
}

#[test]
fn a_wrong_canonical_link_is_cut_with_what_hangs_on_it() {
    let (one, two) = (sketch(1, 1, 1.0), sketch(2, 1, 0.1));
    let page = |digest, sketch, target: &'static str| Clues {
        canonical: Some(target.as_bytes()),
        ..main_text(digest, None, sketch, "List")
    };
    // Pages of a list that all say the first is theirs, each with a copy.
    let observations = [
        ("/list", page("m1", &one, "/list")),
        ("/list?sid=1", page("m1", &one, "/list")),
        ("/list?page=2", page("m2", &two, "/list")),
        ("/list?page=2&sid=1", page("m2", &two, "/list")),
    ];
    let labels = label_with(EvidenceKinds::AUTO, &observations);
    assert_eq!(show(&labels), "0011");
    assert_eq!(labels.kinds_of(2).to_string(), "canonical+main");
    assert_eq!(show(&label_with(EvidenceKinds::only(Canonical), &observations)), "0011");
}

#[test]
fn a_chain_of_near_texts_does_not_hold_far_ones_together() {
    // Each resembles the next by 0.95, the first and the last by little.
    let sketches: Vec<Sketch> =
        (0..20).map(|step| std::array::from_fn(|i| if i < 6 * step { 5000 } else { 0 } + i as u16)).collect();
    let urls: Vec<String> = (0..20).map(|step| format!("/{step}")).collect();
    let digests: Vec<String> = (0..20).map(|step| format!("m{step}")).collect();
    let observations: Vec<(&str, Clues<'_>)> = (0..20)
        .map(|step| (urls[step].as_str(), main_text(&digests[step], None, &sketches[step], "List")))
        .collect();
    let labels = label_like(noisy_site(), EvidenceKinds::only(Shingles), &observations);
    assert_ne!(labels.label_of(0), labels.label_of(19));
    assert!(labels.cluster_count() < 20, "what is near is still together");
    for left in 0..20 {
        for right in 0..20 {
            if labels.label_of(left) == labels.label_of(right) {
                let far = left.abs_diff(right);
                assert!(far <= 12, "{left} and {right}");
            }
        }
    }
}
