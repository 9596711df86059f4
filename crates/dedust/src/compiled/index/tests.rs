use xxhash_rust::xxh3::xxh3_128;

use super::super::{Image, ImageBuilder, LeftOutReason, SiteFacts};
use super::*;
use crate::encoding::Cursor;
use crate::program::CompiledSite;

fn shape() -> Vec<u8> {
    let mut shape = 100u32.to_le_bytes().to_vec();
    shape.resize(100, 7);
    shape
}

fn image(domains: &[(&str, bool)]) -> Image {
    let domains: Vec<_> =
        domains.iter().map(|&(domain, with_subdomains)| (domain, with_subdomains, 0)).collect();
    weighted_image(&domains)
}

fn weighted_image(domains: &[(&str, bool, u64)]) -> Image {
    let mut builder = ImageBuilder::default();
    for (number, &(domain, with_subdomains, weight)) in domains.iter().enumerate() {
        let facts = SiteFacts { with_subdomains, weight, rules: 1 };
        let site = (number as u32).to_le_bytes().to_vec();
        builder.insert(domain.as_bytes(), facts, &CompiledSite { shape: shape(), site });
    }
    builder.finish().0
}

/// The number of the site of a host, and the length of its name: found alone, and as one of many.
fn found(image: &Image, host: &str) -> Option<(u32, usize)> {
    let padded = [host.as_bytes(), &[0; PADDING]].concat();
    let what = |site: Program<'_>| (Cursor::new(site.bytes, 0).u32().unwrap(), site.domain_len);
    let alone = image.index().site(&padded, 0, host.len()).map(what);
    if let Ok(url) = ParsedUrl::parse(format!("http://{host}/"))
        && url.host() == host.as_bytes()
    {
        let mut found = [Found::default()];
        image.index().find_all(&[url], 0, &mut found);
        assert_eq!(image.index().open_site(found[0]).map(what), alone, "{host}");
    }
    alone
}

#[test]
fn the_longest_domain_counts() {
    let image = image(&[
        ("example.org", true),
        ("shop.example.org", true),
        ("a.b.c.example.co.uk", true),
        ("github.io", false),
        ("me.github.io", true),
        ("localhost", false),
        ("127.0.0.1", false),
    ]);
    assert_eq!(found(&image, "example.org"), Some((0, 11)));
    assert_eq!(found(&image, "www.example.org"), Some((0, 11)));
    assert_eq!(found(&image, "www.shop.example.org"), Some((1, 16)));
    assert_eq!(found(&image, "workshop.example.org"), Some((0, 11)));
    assert_eq!(found(&image, "example.co.uk"), None);
    assert_eq!(found(&image, "x.a.b.c.example.co.uk"), Some((2, 19)));
    assert_eq!(found(&image, "github.io"), Some((3, 9)));
    assert_eq!(found(&image, "you.github.io"), None);
    assert_eq!(found(&image, "www.me.github.io"), Some((4, 12)));
    assert_eq!(found(&image, "localhost"), Some((5, 9)));
    assert_eq!(found(&image, "a.localhost"), None);
    assert_eq!(found(&image, "127.0.0.1"), Some((6, 9)));
    assert_eq!(found(&image, "7.127.0.0.1"), None);
    for unknown in ["", ".", "..", "org", "example.net", ".example.com", "0.1"] {
        assert_eq!(found(&image, unknown), None, "{unknown}");
    }
}

#[test]
fn sites_with_the_same_rules_share_a_program() {
    let mut builder = ImageBuilder::default();
    let compiled = CompiledSite { shape: shape(), site: vec![7; 100] };
    for site in 0..50 {
        let facts = SiteFacts { with_subdomains: true, weight: 0, rules: 1 };
        builder.insert(format!("site-{site}.example").as_bytes(), facts, &compiled);
    }
    let image = builder.finish().0;
    assert_eq!(image.facts().sites, 50);
    assert!(image.bytes().len() < 50 * 50, "{} bytes", image.bytes().len());
    let site = |host: &[u8]| image.index().site(&[host, &[0; 8]].concat(), 0, host.len()).unwrap();
    assert_eq!(site(b"site-0.example").bytes.as_ptr(), site(b"site-49.example").bytes.as_ptr());
    assert_eq!(site(b"site-0.example").bytes.as_ptr(), site(b"site-49.example").bytes.as_ptr());
}

/// Two texts of 16 bytes that XXH3-128 does not tell apart behind any 16 others: one factor of a product is 0 in both, and
/// they have the same sum.
fn texts_with_one_hash() -> [[u8; 16]; 2] {
    let low = u64::from_le_bytes([0xDE, 0xD4, 0x6D, 0xE9, 0x83, 0x90, 0x97, 0xDB]);
    let high = u64::from_le_bytes([0x72, 0x40, 0xA4, 0xA4, 0xB7, 0xB3, 0x67, 0x1F]);
    let text = |low: u64, high: u64| [low.to_le_bytes(), high.to_le_bytes()].concat().try_into().unwrap();
    [text(low, 7), text(low.wrapping_add(7).wrapping_sub(high), high)]
}

#[test]
fn programs_and_shapes_with_one_hash_are_told_apart() {
    let texts = texts_with_one_hash();
    let behind = |before: &[u8], text: &[u8; 16]| [before, &text[..]].concat();
    assert_eq!(xxh3_128(&behind(&[0; 16], &texts[0])), xxh3_128(&behind(&[0; 16], &texts[1])));
    let length = |length: u32| [&length.to_le_bytes()[..], &[0; 12]].concat();
    let compiled = |shape: &[u8; 16], site: &[u8; 16]| CompiledSite {
        shape: behind(&length(32), shape),
        // The number of the shape comes before it.
        site: behind(&[0; 12], site),
    };
    let mut builder = ImageBuilder::default();
    let sites = [
        ("a.example", compiled(&texts[0], &texts[0])),
        ("b.example", compiled(&texts[0], &texts[1])),
        ("c.example", compiled(&texts[1], &texts[0])),
    ];
    for (domain, compiled) in &sites {
        let facts = SiteFacts { with_subdomains: true, weight: 0, rules: 1 };
        builder.insert(domain.as_bytes(), facts, compiled);
    }
    let image = builder.finish().0;
    for (domain, compiled) in &sites {
        let host = [domain.as_bytes(), &[0; PADDING]].concat();
        let site = image.index().site(&host, 0, domain.len()).unwrap();
        assert!(site.bytes.starts_with(&compiled.site), "program of {domain}");
        assert!(site.shape.starts_with(&compiled.shape), "shape of {domain}");
    }
}

#[test]
fn sites_that_are_built_alike_share_a_shape() {
    let image = image(&[("a.example", true), ("b.example", true)]);
    let site = |host: &[u8]| image.index().site(&[host, &[0; 8]].concat(), 0, host.len()).unwrap();
    assert_eq!(site(b"a.example").shape.as_ptr(), site(b"b.example").shape.as_ptr());
    assert_ne!(site(b"a.example").bytes.as_ptr(), site(b"b.example").bytes.as_ptr());
}

#[test]
fn what_stands_around_a_host_does_not_count() {
    let image = image(&[("b.c", true), ("a.b.c", true)]);
    let url = b"http://x.b.c/a.b.c/long/enough/for/any/lanes";
    assert_eq!(image.index().site(url, 7, 12).map(|site| site.domain_len), Some(3));
    assert_eq!(image.index().site(b"http://a.b.c/index", 7, 12).map(|site| site.domain_len), Some(5));
    assert_eq!(image.index().site(b"http://b.c@x.y/", 11, 14).map(|site| site.domain_len), None);
}

/// Any offset, none of which is a record: what is asked is counted.
#[test]
fn a_forged_table_is_not_searched_to_its_end() {
    let groups = 20_000;
    let hash = hash_of(b"a.example", 0, 9);
    let (tag, offset) = ((tag_of(hash) | HAS_RULES | HAS_LONGER).to_le_bytes(), 1u32.to_le_bytes());
    let group = [tag.repeat(GROUP), offset.repeat(GROUP)].concat();
    let bytes = group.repeat(groups as usize);
    let index = Index { bytes: &bytes, groups };
    let asked = std::cell::Cell::new(0);
    let entry = index.entry(hash, |_| {
        asked.set(asked.get() + 1);
        false
    });
    assert_eq!((entry, asked.get()), (None, MAX_ASKED_GROUPS * GROUP));
}

#[test]
fn a_program_that_is_longer_than_any_that_was_compiled_is_not_read() {
    let bytes = vec![0; 2 * MAX_SITE_BYTES];
    let index = Index { bytes: &bytes, groups: 1 };
    let location =
        |length: usize| SiteLocation { length: length as u32, shape_len: 4, ..SiteLocation::default() };
    assert!(index.program(&location(MAX_SITE_BYTES - 1)).is_some());
    assert!(index.program(&location(MAX_SITE_BYTES)).is_none());
}

/// What a name is in the table: whether it has rules, of sub-domains too or not, and whether a longer one, `a.NAME`, has.
#[derive(Clone, Copy, Debug)]
struct Kind {
    rules: Option<bool>,
    has_longer: bool,
}

/// Pairs of names that whoever controls one of them can choose for the other.
fn names_with_one_tag() -> Vec<[String; 2]> {
    let mut name_by_tag = std::collections::HashMap::new();
    let name = |number: u32| format!("x{number}.com");
    let tag = |number: u32| tag_of(hash_of(name(number).as_bytes(), 0, name(number).len()));
    let earlier = |number: u32| Some([name(name_by_tag.insert(tag(number), number)?), name(number)]);
    (0..200_000).filter_map(earlier).take(3).collect()
}

#[test]
fn a_name_with_the_hash_of_another_changes_nothing_of_it() {
    let pairs = names_with_one_tag();
    assert_eq!(pairs.len(), 3);
    let kinds = [None, Some(false), Some(true)]
        .into_iter()
        .flat_map(|rules| [false, true].map(|has_longer| Kind { rules, has_longer }));
    let kinds: Vec<Kind> = kinds.collect();
    for names in &pairs {
        for (one, other) in kinds.iter().flat_map(|one| kinds.iter().map(move |other| (*one, *other))) {
            for weights in [[1, 2], [2, 1]] {
                let named = names.iter().zip([one, other]).zip(weights);
                let sites: Vec<(String, bool, u64)> = named
                    .flat_map(|((name, Kind { rules, has_longer }), weight)| {
                        let own = rules.map(|with_subdomains| (name.clone(), with_subdomains, weight));
                        own.into_iter().chain(has_longer.then(|| (format!("a.{name}"), true, weight)))
                    })
                    .collect();
                let image = weighted_image(
                    &sites.iter().map(|(name, sub, weight)| (&**name, *sub, *weight)).collect::<Vec<_>>(),
                );
                assert!(image.facts().groups <= 1, "all names are in one group");
                let number = |name: &str| sites.iter().position(|(site, ..)| site == name).unwrap();
                let site = |name: &str| Some((number(name) as u32, name.len()));
                for (name, Kind { rules, has_longer }) in names.iter().zip([one, other]) {
                    let longer = format!("a.{name}");
                    let own = |has_it: bool| if has_it { site(name) } else { None };
                    let below = own(rules == Some(true));
                    let of_longer = if has_longer { site(&longer) } else { below };
                    let case = format!("{names:?}: {one:?}, {other:?}, {weights:?}");
                    assert_eq!(found(&image, name), own(rules.is_some()), "{name} of {case}");
                    assert_eq!(found(&image, &format!("b.{name}")), below, "b.{name} of {case}");
                    assert_eq!(found(&image, &longer), of_longer, "{longer} of {case}");
                    assert_eq!(found(&image, &format!("b.{longer}")), of_longer, "b.{longer} of {case}");
                }
            }
        }
    }
}

/// A site that is found by an end of its name for which there is no room.
#[test]
fn a_site_whose_end_is_crowded_out_is_named() {
    let room = MAX_ASKED_GROUPS * GROUP;
    let groups = ((room + 2) * 4 / 3 / GROUP + 1) as u32;
    let in_first_group = |name: &String| group_of(hash_of(name.as_bytes(), 0, name.len()), groups) == 0;
    let names: Vec<String> =
        (0..).map(|number: u32| format!("x{number}.com")).filter(in_first_group).take(room + 1).collect();
    // The site itself is far from the others.
    let far = |name: &String| group_of(hash_of(name.as_bytes(), 0, name.len()), groups) > MAX_ASKED_GROUPS;
    let shop = (0..).map(|number: u32| format!("shop{number}.{}", names[room])).find(far).unwrap();
    for weight in [0, 2] {
        let mut builder = ImageBuilder::default();
        for (name, weight) in names[..room].iter().map(|name| (name, 1)).chain([(&shop, weight)]) {
            let facts = SiteFacts { with_subdomains: true, weight, rules: 1 };
            builder.insert(name.as_bytes(), facts, &CompiledSite { shape: shape(), site: vec![7; 4] });
        }
        let (image, left_out) = builder.finish();
        assert_eq!(image.facts().groups, groups);
        let left_out: Vec<&str> = left_out.iter().map(|left_out| &*left_out.site).collect();
        // The last of the others, where the end of the heavier one comes first.
        let crowded = if weight == 0 { &shop } else { names[..room].iter().max().unwrap() };
        assert_eq!(left_out, [crowded.as_str()]);
        assert_eq!(image.facts().sites, room as u64);
        for name in names[..room].iter().chain([&shop]) {
            assert_eq!(found(&image, name).is_some(), name != crowded, "{name}");
        }
    }
}

/// Names whose hashes are close together, as the author of a rule file can choose them.
#[test]
fn sites_for_which_there_is_no_room_near_their_hash_are_left_out() {
    let room = MAX_ASKED_GROUPS * GROUP;
    let count = room + 100;
    let groups = (count * 4 / 3 / GROUP + 1) as u32;
    let domains: Vec<String> = (0..)
        .map(|number: u32| format!("x{number}.com"))
        .filter(|domain| group_of(hash_of(domain.as_bytes(), 0, domain.len()), groups) == 0)
        .take(count)
        .collect();
    let mut builder = ImageBuilder::default();
    for domain in &domains {
        let facts = SiteFacts { with_subdomains: true, weight: 0, rules: 1 };
        builder.insert(domain.as_bytes(), facts, &CompiledSite { shape: shape(), site: vec![7] });
    }
    let (image, left_out) = builder.finish();
    assert_eq!((left_out.len(), image.facts().sites), (100, room as u64));
    assert!(left_out.iter().all(|left_out| left_out.reason == LeftOutReason::Crowded));
    let is_left_out = |domain: &str| left_out.iter().any(|left_out| *left_out.site == *domain);
    for domain in &domains {
        assert_ne!(found(&image, domain).is_some(), is_left_out(domain), "{domain}");
    }
}

#[test]
fn no_site_is_lost_among_many() {
    let domains: Vec<String> = (0..3000).map(|number| format!("site-{number}.example")).collect();
    let image = image(&domains.iter().map(|domain| (&**domain, true)).collect::<Vec<_>>());
    for (number, domain) in domains.iter().enumerate() {
        assert_eq!(found(&image, &format!("www.{domain}")), Some((number as u32, domain.len())));
    }
}
