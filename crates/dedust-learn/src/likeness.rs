/*!
How much two fetches of one page differ on a site, measured on the site itself.

Some pages show a clock, a counter or an advertisement, so that two fetches of one page are not equal. How large such
differences are, and how often they occur, is a property of the site. It is estimated from two samples:

- *Same*: observations of one URL, and of URLs that differ in tracking and session parameters alone.
- *Different*: URLs of one template (the same path and the same parameter names, or the same directory) that differ in
  something else, and whose texts are not equal. Some of them are one page after all, which makes the estimate careful.

Let S(d) be the share of *same* pairs with equal titles whose texts differ by at least d, and F(d) the share of *different*
pairs that differ by at most d. A difference d between pages with equal titles is *slight* where S(d) >= F(d), so that a page
misses itself at least as often as two pages are taken for one, or where F(d) <= 5 %, so that different pages are hardly ever
so alike. It counts as *equal*, which means that it shows one page, where S(d) >= 10 F(d). Pairs with one canonical link are
not taken for different pages.

A slight difference is no proof of two pages, but no more slight differences are excused than fetches of one page show: the
share of *same* pairs that differ slightly, or rather the upper end of its 95 % interval. Where many pairs were seen and none
differs, a difference is a difference. Where a site itself claims that two URLs are one page, slight differences do not
refute it.

There are sites on which a parameter of a known name does decide what is shown. So every set of such names is asked
first: where pairs that differ in these names alone are as far apart as different pages, they are left out.

Different pages of one *kind*, as generated reports are, may be as alike as two fetches of one page. Of each kind (the same directory
and parameter names, whatever their numbers) pairs of different URLs are compared. Where more often than not their difference would
count as slight, a distance says nothing, and only equal texts show one page.

A canonical link that names another page shows that a slight difference is one, if on this site two fetches of one page hardly ever
name different ones: at most a tenth as often, with 95 % confidence, as different pages of a template do.

The distance is the number of bits in which two fingerprints differ, or, where pages have sketches, 64 times the share of
shingles that they do not share.
*/

use dedust::support::Query;
use foldhash::{HashMap, HashSet};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::confidence::failure_bound;
use crate::known_names::{is_listed, looks_random};
use crate::minhash::{Sketch, resemblance};
use crate::text_hash::TextHash;
use crate::thresholds;

/// What is compared of two observations. 0 stands for what is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PageText {
    /// Hashes of the text, and of the whole body.
    pub(crate) text: u64,
    pub(crate) body: u64,
    /// A hash of the title.
    pub(crate) title: u64,
    pub(crate) simhash: u64,
}

/// What differences between texts mean on a site.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Likeness {
    /// Of fingerprints, in bits.
    pub(crate) simhash: Limits,
    /// Of sketches, in 64ths of what two texts do not share.
    pub(crate) sketch: Limits,
    /// The share of pairs of fetches of one page that differ slightly is at most this, with 95 % confidence.
    pub(crate) noise: f64,
    /// Whether pages with different canonical links are different pages, however alike they are.
    pub(crate) canonicals_tell: bool,
}

/// What was measured on a site.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured {
    pub(crate) likeness: Likeness,
    /// Kinds of URLs whose pages are as alike as fetches of one page, by [`kind_of`].
    pub(crate) uniform: HashSet<u64>,
}

/// The largest distances with a meaning; 0 where no difference has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    /// A difference up to here is slight.
    pub(crate) slight: u32,
    /// A difference up to here shows one page.
    pub(crate) equal: u32,
}

impl Likeness {
    /// Whether two pages with different texts differ slightly.
    pub(crate) fn is_slight(&self, one: &PageText, other: &PageText) -> bool {
        let is_known = one.simhash != 0 && other.simhash != 0 && self.simhash.slight > 0;
        is_known
            && one.title == other.title
            && (one.simhash ^ other.simhash).count_ones() <= self.simhash.slight
    }
}

impl PageText {
    /// What was shown, by the best that is known of it.
    pub(crate) fn shown(&self) -> u64 {
        [self.text, self.body].into_iter().find(|hash| *hash != 0).unwrap_or(self.simhash)
    }

    /// Whether two pages show the same, by the best that is known of both: their texts, their bodies, or their fingerprints,
    /// which are equal only with equal titles.
    pub(crate) fn is_equal(&self, other: &Self) -> Option<bool> {
        let both = |one: u64, other: u64| (one != 0 && other != 0).then_some(one == other);
        both(self.text, other.text).or_else(|| both(self.body, other.body)).or_else(|| {
            both(self.simhash, other.simhash).map(|is_equal| is_equal && self.title == other.title)
        })
    }
}

/// The distance of two sketches.
fn sketch_distance(one: &Sketch, other: &Sketch) -> u32 {
    ((1.0 - resemblance(one, other)) * f64::from(thresholds::likeness::MAX_DISTANCE)).round() as u32
}

/// Gathers observations of a site.
#[derive(Clone, Debug, Default)]
pub(crate) struct LikenessBuilder {
    hash: TextHash,
    entries: HashMap<(u64, u64), Entry>,
    /// Entries are kept whose identity has this many zeros at its end.
    level: u32,
}

#[derive(Clone, Debug)]
struct Entry {
    /// Of the URL without its tracking and session parameters.
    identity: u64,
    /// Of what URLs of one template have in common.
    template: u64,
    /// The names that were left out, one bit for each.
    names: u64,
    page: PageText,
    /// See [`kind_of`].
    kind: u64,
    /// What its canonical link names, by [`identity_of`]; 0 for none.
    canonical: u64,
    sketch: Option<Box<Sketch>>,
}

impl LikenessBuilder {
    /// Nothing was observed yet.
    pub(crate) fn hashing(hash: TextHash) -> Self {
        Self { hash, ..Self::default() }
    }

    /// Takes in a page that was seen at a URL in safe normal form.
    pub(crate) fn observe(
        &mut self,
        url: &[u8],
        page: PageText,
        canonical: Option<&[u8]>,
        sketch: Option<&Sketch>,
    ) {
        if page.shown() == 0 || (page.simhash == 0 && sketch.is_none()) {
            return;
        }
        let UrlHashes { identity, template, names } = UrlHashes::of(url, self.hash);
        if identity.trailing_zeros() < self.level {
            return;
        }
        let canonical = canonical.map_or(0, |url| identity_of(url, self.hash));
        let sketch = sketch.map(|sketch| Box::new(*sketch));
        let kind = kind_of(url, self.hash);
        let entry = Entry { identity, template, names, page, kind, canonical, sketch };
        let known = self.entries.entry((self.hash.of(url), page.shown())).or_insert_with(|| entry.clone());
        // Whatever the order of the observations.
        if (entry.page, entry.canonical, &entry.sketch) < (known.page, known.canonical, &known.sketch) {
            *known = entry;
        }
        while self.entries.len() > thresholds::likeness::MAX_ENTRIES {
            self.level += 1;
            let level = self.level;
            self.entries.retain(|_, entry| entry.identity.trailing_zeros() >= level);
        }
    }

    /// The differences that are tolerated on this site.
    pub(crate) fn finish(self) -> Measured {
        let mut entries: Vec<((u64, u64), Entry)> = self.entries.into_iter().collect();
        entries.sort_unstable_by_key(|(key, entry)| (entry.identity, *key));
        let entries: Vec<Entry> = entries.into_iter().map(|(_, entry)| entry).collect();
        let mut same: Vec<[&Entry; 2]> = Vec::new();
        let mut pages: Vec<&Entry> = Vec::new();
        for group in entries.chunk_by(|a, b| a.identity == b.identity) {
            pages.push(&group[0]);
            same.extend(
                group[1..]
                    .iter()
                    .take(thresholds::likeness::MAX_PAIRS_PER_PAGE)
                    .map(|other| [&group[0], other]),
            );
        }
        let mut unequal = pairs_of(&mut pages, |entry| entry.template);
        let canonicals_tell = canonicals_tell(&same, &unequal);
        unequal.retain(|pair| !is_claimed(pair));
        let simhash = |[one, other]: &[&Entry; 2]| {
            let is_known = one.page.simhash != 0 && other.page.simhash != 0;
            is_known.then(|| (one.page.simhash ^ other.page.simhash).count_ones())
        };
        let sketch = |[one, other]: &[&Entry; 2]| {
            Some(sketch_distance(one.sketch.as_deref()?, other.sketch.as_deref()?))
        };
        let (limits_of_simhash, noise) = limits(&same, &unequal, simhash);
        let (limits_of_sketch, _) = limits(&same, &unequal, sketch);
        let likeness =
            Likeness { simhash: limits_of_simhash, sketch: limits_of_sketch, noise, canonicals_tell };
        let is_alike = |pair: &[&Entry; 2]| {
            likeness.is_slight(&pair[0].page, &pair[1].page)
                || sketch(pair).is_some_and(|distance| distance <= limits_of_sketch.slight)
        };
        let uniform = pairs_of(&mut pages, |entry| entry.kind)
            .chunk_by(|a, b| a[0].kind == b[0].kind)
            .filter(|pairs| {
                let alike = pairs.iter().filter(|pair| is_alike(pair)).count();
                pairs.len() >= thresholds::likeness::MIN_DIFFERENT && 2 * alike > pairs.len()
            })
            .map(|pairs| pairs[0][0].kind)
            .collect();
        Measured { likeness, uniform }
    }
}

/// Pairs of different URLs with something in common whose texts are not equal, some of each.
fn pairs_of<'e>(pages: &mut [&'e Entry], common: impl Fn(&Entry) -> u64) -> Vec<[&'e Entry; 2]> {
    pages.sort_by_key(|entry| (common(entry), entry.identity));
    let of_group = |group: &[&'e Entry]| {
        let pairs = group.windows(2).map(|two| [two[0], two[1]]).filter(|pair| !is_equal(pair));
        pairs.take(thresholds::likeness::MAX_PAIRS_PER_TEMPLATE).collect::<Vec<_>>()
    };
    pages.chunk_by(|a, b| common(a) == common(b)).flat_map(of_group).collect()
}

/// Whether pages with different canonical links are different pages.
fn canonicals_tell(same: &[[&Entry; 2]], unequal: &[[&Entry; 2]]) -> bool {
    let named = |pairs: &[[&Entry; 2]]| {
        let named = pairs.iter().filter(|[one, other]| one.canonical != 0 && other.canonical != 0);
        let apart = named.clone().filter(|pair| !is_claimed(pair)).count() as u64;
        (apart, named.count() as u64)
    };
    let ((of_same, same), (of_unequal, unequal)) = (named(same), named(unequal));
    let missed = failure_bound(of_same, same);
    of_unequal as f64 >= thresholds::likeness::STRONG_RATIO * missed * unequal.max(1) as f64
}

fn is_equal([one, other]: &[&Entry; 2]) -> bool {
    one.page.is_equal(&other.page) == Some(true)
}

fn is_claimed([one, other]: &[&Entry; 2]) -> bool {
    one.canonical != 0 && one.canonical == other.canonical
}

/// The limits of one measure of distance, and the share of fetches of one page that differ slightly.
fn limits(
    same: &[[&Entry; 2]],
    different: &[[&Entry; 2]],
    distance: impl Fn(&[&Entry; 2]) -> Option<u32>,
) -> (Limits, f64) {
    // Whatever their titles: there may be no different pages with equal ones.
    let mut different: Vec<u32> = different.iter().filter_map(|pair| Some(distance(pair)?.max(1))).collect();
    if different.len() < thresholds::likeness::MIN_DIFFERENT {
        return (Limits::default(), 0.0);
    }
    different.sort_unstable();
    let far = different[different.len() / thresholds::likeness::FAR_ONE_IN];
    // `None` where the titles differ: that is no matter of distance.
    let compared = |pair: &[&Entry; 2]| {
        let distance = distance(pair)?;
        Some((pair[0].page.title == pair[1].page.title).then_some(distance.max(1)))
    };
    let is_far = |distance: Option<u32>| distance.is_none_or(|distance| distance >= far);
    // Pairs that differ in the same names, and what was found of them: nothing where the texts are equal.
    let mut by_names: HashMap<u64, Vec<Option<Option<u32>>>> = HashMap::default();
    for pair in same {
        let found = if is_equal(pair) { Some(None) } else { compared(pair).map(Some) };
        by_names.entry(pair[0].names | pair[1].names).or_default().extend(found);
    }
    by_names.retain(|_, pairs| {
        let far = pairs.iter().flatten().filter(|distance| is_far(**distance)).count();
        thresholds::likeness::FAR_PAIRS * far <= pairs.len()
    });
    let mistaken =
        |most: u32| different.partition_point(|distance| *distance <= most) as f64 / different.len() as f64;
    // All shares are monotonous: beyond the first distance that does not pass none does.
    let largest = |passes: &dyn Fn(u32) -> bool| {
        (1..=thresholds::likeness::MAX_DISTANCE)
            .find(|distance| !passes(*distance))
            .map_or(thresholds::likeness::MAX_DISTANCE, |first| first - 1)
    };
    let pairs: usize = by_names.values().map(Vec::len).sum();
    let differing: Vec<u32> = by_names.into_values().flatten().flatten().flatten().collect();
    let missed = |least: u32| {
        let far = differing.iter().filter(|distance| **distance >= least).count();
        if differing.len() < thresholds::likeness::MIN_DIFFERING { 0.0 } else { far as f64 / pairs as f64 }
    };
    let is_likely =
        |ratio: f64, distance: u32| missed(distance) > 0.0 && missed(distance) >= ratio * mistaken(distance);
    let slight = largest(&|distance| {
        mistaken(distance) <= thresholds::likeness::MAX_MISTAKEN || is_likely(1.0, distance)
    });
    let limits = Limits {
        slight,
        equal: largest(&|distance| is_likely(thresholds::likeness::STRONG_RATIO, distance)),
    };
    let slightly = differing.iter().filter(|distance| **distance <= slight).count();
    let noise = if pairs == 0 { 1.0 } else { failure_bound(slightly as u64, pairs as u64) };
    (limits, noise)
}

/// What is needed to know of a URL.
struct UrlHashes {
    identity: u64,
    template: u64,
    names: u64,
}

impl UrlHashes {
    fn of(url: &[u8], hash: TextHash) -> Self {
        let query = Query::in_text(url);
        let (path, behind) = query.as_ref().map_or((url, &[][..]), |query| {
            let (start, end) = query.bounds();
            (&url[..start - 1], &url[end..])
        });
        let (mut identity, mut names, mut params) = (hash.of(path), 0u64, 0u64);
        let of_query = query.iter().flat_map(Query::params).filter(|param| !param.text(url).is_empty());
        for param in of_query {
            let name = param.name(url);
            if is_known_noise(name, param.value(url).unwrap_or_default()) {
                names |= 1 << (hash.of(name) % 64);
            } else {
                identity = xxh3_64_with_seed(param.text(url), identity);
                // In any order.
                params = params.wrapping_add(hash.of(name));
            }
        }
        if !behind.is_empty() {
            identity = xxh3_64_with_seed(behind, identity);
        }
        let template = match params {
            0 => {
                let directory = path.iter().rposition(|&byte| byte == b'/').unwrap_or_default();
                hash.of(&path[..directory])
            }
            _ => xxh3_64_with_seed(path, params),
        };
        Self { identity, template, names }
    }
}

/// A hash of the page that a URL in safe normal form is likely to mean, the same with and without `www`, whatever its
/// scheme, and without parameters that are known not to change the page on most sites.
pub(crate) fn identity_of(url: &[u8], hash: TextHash) -> u64 {
    let at = url.windows(3).position(|window| window == b"://").map_or(0, |at| at + 3);
    let rest = &url[at..];
    let rest = rest.strip_prefix(b"www.").unwrap_or(rest);
    UrlHashes::of(rest.strip_suffix(b"/").unwrap_or(rest), hash).identity
}

/// A hash of what URLs have in common that are built alike: the directory, whatever its numbers, and the names of the parameters, in
/// any order.
pub(crate) fn kind_of(url: &[u8], hash: TextHash) -> u64 {
    let query = Query::in_text(url);
    let path = query.as_ref().map_or(url, |query| &url[..query.bounds().0 - 1]);
    let path = path.strip_suffix(b"/").unwrap_or(path);
    let directory = &path[..path.iter().rposition(|&byte| byte == b'/').unwrap_or_default()];
    let texts = directory.split(u8::is_ascii_digit).filter(|text| !text.is_empty());
    let kind = texts.fold(0, |kind, text| xxh3_64_with_seed(text, kind));
    let params = query.iter().flat_map(Query::params).filter(|param| !param.text(url).is_empty());
    params.fold(kind, |kind, param| kind.wrapping_add(hash.of(param.name(url))))
}

/// Whether a parameter is known not to change the page on most sites.
pub(crate) fn is_known_noise(name: &[u8], value: &[u8]) -> bool {
    is_listed("tracking", name) || (is_listed("session", name) && looks_random(value))
}

#[cfg(test)]
mod tests {
    use xxhash_rust::xxh3::xxh3_64;

    use super::*;

    /// Of each page two fetches, which differ in `noise` bits where the page's number ends in a digit below `noisy`.
    fn measured(noise: u32, noisy: u64, parameter: &str) -> Likeness {
        let mut builder = LikenessBuilder::default();
        for page in 0..200u64 {
            let simhash = xxh3_64(&page.to_le_bytes()) | 1 << 63;
            let bits = if page % 10 < noisy { (1 << noise) - 1 } else { 0 };
            let url = format!("http://a.example/view?id={page}");
            let again = format!("{url}&{parameter}={}", 10_000_000 + page);
            let text = PageText { text: 2 * page + 1, body: 0, title: 7, simhash };
            builder.observe(url.as_bytes(), text, None, None);
            let text = PageText { text: 2 * page + 1 + u64::from(bits > 0), simhash: simhash ^ bits, ..text };
            builder.observe(again.as_bytes(), text, None, None);
        }
        builder.finish().likeness
    }

    #[test]
    fn where_one_page_never_differs_a_difference_is_a_difference() {
        let likeness = measured(0, 0, "sid");
        assert!(likeness.simhash.equal == 0 && likeness.noise < 0.02, "{likeness:?}");
    }

    #[test]
    fn what_fetches_of_one_page_differ_by_is_slight() {
        let likeness = measured(6, 3, "utm_source");
        assert_eq!(likeness.simhash.equal, 6);
        assert!((0.3..0.4).contains(&likeness.noise), "three in ten");
        let page = PageText { text: 1, body: 0, title: 7, simhash: 1 };
        assert!(likeness.is_slight(&page, &PageText { text: 2, simhash: 0b111_1111, ..page }));
        assert!(!likeness.is_slight(&page, &PageText { text: 2, simhash: u64::MAX, ..page }));
        assert!(!likeness.is_slight(&page, &PageText { title: 8, ..page }), "another title is another page");
    }

    #[test]
    fn a_tracking_parameter_that_decides_what_is_shown_is_no_ground() {
        let likeness = measured(33, 6, "utm_source");
        assert_eq!((likeness.simhash.equal, likeness.noise), (0, 1.0), "as if no pair had been seen");
    }

    #[test]
    fn a_parameter_that_nothing_is_known_of_tells_nothing() {
        assert_eq!(measured(6, 3, "flavour").simhash.equal, 0);
    }

    #[test]
    fn where_different_pages_are_alike_nothing_is_slight() {
        let mut builder = LikenessBuilder::default();
        for page in 0..200u64 {
            let text = PageText { text: page + 1, body: 0, title: 7, simhash: 1 << 63 | 1 << (page % 3) };
            builder.observe(format!("http://a.example/list?facet={page}").as_bytes(), text, None, None);
        }
        assert_eq!(builder.finish().likeness.simhash, Limits::default());
    }
}
