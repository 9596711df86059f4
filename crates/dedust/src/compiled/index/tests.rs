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
    let mut builder = ImageBuilder::default();
    for (number, (domain, with_subdomains)) in domains.iter().enumerate() {
        let facts = SiteFacts { with_subdomains: *with_subdomains, weight: 0, rules: 1 };
        let site = (number as u32).to_le_bytes().to_vec();
        builder.insert(domain.as_bytes(), facts, &CompiledSite { shape: shape(), site });
    }
    builder.finish().0
}

fn found(image: &Image, host: &str) -> Option<(u32, usize)> {
    let padded = [host.as_bytes(), &[0; PADDING]].concat();
    let site = image.index().site(&padded, 0, host.len())?;
    Some((Cursor::new(site.bytes, 0).u32().unwrap(), site.domain_len))
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
