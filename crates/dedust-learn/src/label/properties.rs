/*! What holds for labels whatever was observed. */

use super::*;
use proptest::prelude::*;

/// A row; its cluster, canonical link, redirect, digest and text digest; its fingerprint; its main text; its status.
type Observation = (u32, [Option<u8>; 5], Option<u64>, Option<u8>, u16);

/// Texts of which neighbours have much in common and others little.
fn sketch(text: u8) -> crate::minhash::Sketch {
    std::array::from_fn(|i| i as u16 + if i < 6 * usize::from(text) { 1000 } else { 0 })
}

/// One observation drawn from few values, so that ties and conflicts are common.
fn any_observation() -> impl Strategy<Value = Observation> {
    let value = || prop::option::weighted(0.3, 0u8..12);
    (
        0u32..12,
        [value(), value(), value(), value(), value()],
        prop::option::of(prop::sample::select(vec![1u64, 3, 7, 15, 31, 63, 127, u64::MAX])),
        prop::option::of(0u8..10),
        prop::sample::select(vec![200u16, 200, 200, 301, 404]),
    )
}

fn label_numbers(observations: &[Observation], url_of: impl Fn(u32) -> u8) -> Labels {
    let mut builder = LabelBuilder::new(EvidenceKinds::AUTO);
    for (row, values, fingerprint, text, status) in observations {
        let sketch = text.map(sketch);
        let digest_of_text = text.map(|text| [text]);
        let texts = values.map(|value| value.map(|value| [b'/', b'a' + value]));
        let [cluster, canonical, redirect, digest, text_digest] =
            [0, 1, 2, 3, 4].map(|i| texts[i].as_ref().map(<[u8; 2]>::as_slice));
        let clues = Clues {
            // Half of the cases have no explicit clusters.
            cluster: cluster.filter(|_| observations.len().is_multiple_of(2)),
            canonical,
            redirect,
            digest,
            text_digest,
            main: sketch.as_ref().zip(digest_of_text.as_ref()).map(|(sketch, digest)| MainClues {
                digest,
                layout: None,
                sketch: *sketch,
            }),
            simhash: *fingerprint,
            title: Some(b"Page"),
            status: Some(*status),
            size: None,
        };
        builder.observe(*row, &[b'/', b'a' + url_of(*row)], &clues);
    }
    builder.finish(12)
}

proptest! {
    #[test]
    fn labels_do_not_depend_on_the_order_of_observation(
        (observations, shuffled) in prop::collection::vec(any_observation(), 0..30)
            .prop_flat_map(|observations| (Just(observations.clone()), Just(observations).prop_shuffle()))
    ) {
        let labels = label_numbers(&observations, |row| row as u8);
        prop_assert_eq!(&labels, &label_numbers(&shuffled, |row| row as u8));
        let seen: Vec<u32> = labels.iter().flatten().collect();
        prop_assert!((0..labels.cluster_count() as u32).all(|label| seen.contains(&label)));
    }

    #[test]
    fn clusters_do_not_depend_on_the_numbering_of_rows(
        observations in prop::collection::vec(any_observation(), 0..30),
        number in Just((0..12u32).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let labels = label_numbers(&observations, |row| row as u8);
        let renumbered: Vec<_> = observations
            .iter()
            .map(|&(row, values, fingerprint, text, status)| {
                (number[row as usize], values, fingerprint, text, status)
            })
            .collect();
        let url_of = |row| number.iter().position(|other| *other == row).unwrap() as u8;
        let relabelled = label_numbers(&renumbered, url_of);
        for left in 0..12u32 {
            let new_left = number[left as usize];
            prop_assert_eq!(labels.kinds_of(left), relabelled.kinds_of(new_left));
            prop_assert_eq!(labels.label_of(left).is_some(), relabelled.label_of(new_left).is_some());
            for right in 0..12u32 {
                let new_right = number[right as usize];
                prop_assert_eq!(
                    labels.label_of(left) == labels.label_of(right),
                    relabelled.label_of(new_left) == relabelled.label_of(new_right)
                );
            }
        }
    }
}
