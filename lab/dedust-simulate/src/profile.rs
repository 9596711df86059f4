/*!
Many sites at once, with the statistics of known collections.

[`Profile::Www10`] follows Table 1 of the WWW 2010 paper on pattern trees. Sizes are not drawn but are the quantiles of
one distribution, so that the table holds for any number of sites and not only on average:

```text
N(q) = min + (max - min) c q / (c + 1 - q),   q = 0 .. 1, c such that the mean is right
```

The duplicate rate of a site grows with its size, 1 - C/N = a + b sqrt((N - min) / (max - min)), with a and b such that
both the mean rate over sites and the mean number of clusters are right. The smallest site has the fewest clusters, the
largest the most, and the second largest the largest cluster.
*/

use std::fmt;
use std::str::FromStr;

use super::chance::{Sequence, mix_two};
use super::phenomenon::{Phenomena, Phenomenon};
use super::site::Site;
use super::spec::{InvalidSiteSpec, SiteSpec};

const MEAN_URLS: f64 = 352_106.0;
const MIN_URLS: f64 = 24_147.0;
const MAX_URLS: f64 = 3_000_000.0;
const MEAN_CLUSTERS: f64 = 92_365.0;
const MIN_CLUSTERS: f64 = 158.0;
const MAX_CLUSTERS: f64 = 976_862.0;
const LARGEST_CLUSTER: f64 = 314_465.0;
const MEAN_DUPLICATE_RATE: f64 = 0.6336;

/// Duplicate rates of neighbours in size differ by twice as much, at the upper end.
const RATE_SPREAD: f64 = 0.03;
/// Every cluster has two URLs, so half of them are duplicates at least.
const RATES: (f64, f64) = (0.5, 0.97);
/// A profile of fewer sites has no room for the extremes.
const FULL_SHAPE_SITES: usize = 20;
/// Phenomena on one site.
const PHENOMENA_PER_SITE: usize = 8;
/// Except on one site, the largest cluster is one part in so many.
const LARGEST_PART: u64 = 100;

/// A collection of sites.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Profile {
    /// As in Table 1 of the WWW 2010 paper: no page has a single URL, and each site has eight of the phenomena.
    #[default]
    Www10,
    /// Sites of one phenomenon each, of which some pages have a single URL.
    Small,
}

impl Profile {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Www10, Self::Small];

    /// The name by which it is chosen.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Www10 => "www10",
            Self::Small => "small",
        }
    }

    /// How many sites it has if nothing is said.
    pub const fn default_sites(self) -> usize {
        match self {
            Self::Www10 => 200,
            Self::Small => Phenomenon::ALL.len(),
        }
    }

    /// How many URLs its sites have on average if nothing is said.
    pub const fn default_mean_urls(self) -> u64 {
        match self {
            Self::Www10 => 350_000,
            Self::Small => 4_000,
        }
    }

    /// Specifies `sites` sites of `mean_urls` URLs on average, with all phenomena.
    pub fn site_specs(self, sites: usize, mean_urls: u64, seed: u64) -> Vec<SiteSpec> {
        self.site_specs_of(Phenomena::ALL, sites, mean_urls, seed)
    }

    /// Like [`Profile::site_specs`], with some of the phenomena only.
    pub fn site_specs_of(self, some: Phenomena, sites: usize, mean_urls: u64, seed: u64) -> Vec<SiteSpec> {
        let domain = |at: usize| format!("site-{:04}.example", at + 1);
        let site_seed = |at: usize| mix_two(seed, at as u64);
        match self {
            Self::Www10 => {
                let shapes = www10_shapes(sites, mean_urls as f64, seed).into_iter().enumerate();
                let spec = |((at, shape), phenomena): ((usize, Shape), Phenomena)| {
                    SiteSpec::new(domain(at), shape.urls)
                        .duplicated_pages(shape.clusters)
                        .largest_cluster(shape.largest)
                        .phenomena(phenomena)
                        .seed(site_seed(at))
                };
                shapes.zip(rounds(some, seed)).map(spec).collect()
            }
            Self::Small => {
                let spec = |(at, phenomenon)| SiteSpec {
                    domain: domain(at),
                    ..SiteSpec::single(phenomenon, mean_urls, site_seed(at))
                };
                let phenomena: Vec<Phenomenon> = some.iter().collect();
                phenomena.into_iter().cycle().take(sites).enumerate().map(spec).collect()
            }
        }
    }

    /// Plans the sites of `specs`, with labels that no two of them share.
    pub fn plan(specs: impl IntoIterator<Item = SiteSpec>) -> Result<Vec<Site>, InvalidSiteSpec> {
        let mut label = 0;
        let plan = |spec: SiteSpec| {
            let site = Site::new(spec.first_label(label))?;
            label = site.label_end();
            Ok(site)
        };
        specs.into_iter().map(plan).collect()
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no profile has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown profile `{name}`, expected `www10` or `small`")]
pub struct UnknownProfile {
    /// What was given.
    pub name: String,
}

impl FromStr for Profile {
    type Err = UnknownProfile;

    fn from_str(name: &str) -> Result<Self, UnknownProfile> {
        let found = Self::ALL.into_iter().find(|profile| profile.name() == name);
        found.ok_or_else(|| UnknownProfile { name: name.to_owned() })
    }
}

/// How large a site is.
#[derive(Clone, Copy, Debug)]
struct Shape {
    urls: u64,
    clusters: u64,
    largest: u64,
}

/// Phenomena for one site after the other, each as often as any other.
fn rounds(some: Phenomena, seed: u64) -> impl Iterator<Item = Phenomena> {
    let mut round: Vec<Phenomenon> = some.iter().collect();
    Sequence::new(mix_two(seed, u64::MAX)).shuffle(&mut round);
    let per_site = PHENOMENA_PER_SITE.min(round.len());
    (0..).map(move |site| (0..per_site).map(|at| round[(site * per_site + at) % round.len()]).collect())
}

/// Shapes by Table 1, scaled to another mean, in random order.
fn www10_shapes(sites: usize, mean_urls: f64, seed: u64) -> Vec<Shape> {
    let scale = mean_urls / MEAN_URLS;
    let urls = quantiles(sites, mean_urls);
    let rates = duplicate_rates(&urls, scale);
    let largest_at = sites.saturating_sub(2);
    let shape = |at: usize| {
        let urls = urls[at] as u64;
        let clusters = (urls as f64 * (1.0 - rates[at]) + 0.5) as u64;
        let largest = if at == largest_at {
            ((LARGEST_CLUSTER * scale) as u64).min(urls / 3)
        } else {
            urls / LARGEST_PART
        };
        Shape { urls, clusters: clusters.clamp(1, (urls / 2).max(1)), largest }
    };
    let mut shapes: Vec<Shape> = (0..sites).map(shape).collect();
    Sequence::new(seed).shuffle(&mut shapes);
    shapes
}

/// URLs of each site, the smallest first.
fn quantiles(sites: usize, mean: f64) -> Vec<f64> {
    let scale = mean / MEAN_URLS;
    let smallest = MIN_URLS * scale;
    let room =
        if sites < FULL_SHAPE_SITES { 1.0 + 0.4 * sites.saturating_sub(1) as f64 } else { f64::INFINITY };
    let largest = (MAX_URLS * scale).min(mean * room);
    let with = |bend: f64| {
        let size = |at: usize| {
            let rank = if sites > 1 { at as f64 / (sites - 1) as f64 } else { 1.0 };
            smallest + (largest - smallest) * bend * rank / (bend + 1.0 - rank)
        };
        (0..sites).map(size).collect::<Vec<f64>>()
    };
    let mean_of = |sizes: &[f64]| sizes.iter().sum::<f64>() / sites.max(1) as f64;
    let (mut low, mut high) = (1e-6, 1e3);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if mean_of(&with(middle)) < mean {
            low = middle;
        } else {
            high = middle;
        }
    }
    let mut sizes = with(high);
    // Too few sites cannot have both ends and the mean; the mean was asked for.
    let correction = mean / mean_of(&sizes);
    if sites < FULL_SHAPE_SITES {
        sizes.iter_mut().for_each(|size| *size *= correction);
    }
    sizes
}

/// The duplicate rate of each site, of sizes in ascending order.
fn duplicate_rates(urls: &[f64], scale: f64) -> Vec<f64> {
    let (Some(&smallest), Some(&largest)) = (urls.first(), urls.last()) else {
        return Vec::new();
    };
    let sites = urls.len();
    if sites < FULL_SHAPE_SITES {
        return vec![MEAN_DUPLICATE_RATE; sites];
    }
    let relative: Vec<f64> =
        urls.iter().map(|size| ((size - smallest) / (largest - smallest)).sqrt()).collect();
    let spread = |at: usize| relative[at] * if at.is_multiple_of(2) { -RATE_SPREAD } else { RATE_SPREAD };
    let first = 1.0 - MIN_CLUSTERS / MIN_URLS;
    let last = 1.0 - MAX_CLUSTERS / MAX_URLS;
    // Two equations in a and b, over all sites but the first and the last: sum of rates, and sum of duplicate URLs.
    let mut rates_left = MEAN_DUPLICATE_RATE * sites as f64 - first - last;
    let mut duplicates_left = urls.iter().sum::<f64>() - MEAN_CLUSTERS * scale * sites as f64;
    duplicates_left -= smallest * first + largest * last;
    let [mut count, mut sum, mut weight, mut weighted] = [0.0; 4];
    for at in 1..sites - 1 {
        rates_left -= spread(at);
        duplicates_left -= urls[at] * spread(at);
        count += 1.0;
        sum += relative[at];
        weight += urls[at];
        weighted += urls[at] * relative[at];
    }
    let determinant = count * weighted - sum * weight;
    let offset = (rates_left * weighted - sum * duplicates_left) / determinant;
    let slope = (count * duplicates_left - weight * rates_left) / determinant;
    let rate = |at: usize| match at {
        0 => first,
        _ if at == sites - 1 => last,
        _ => (offset + slope * relative[at] + spread(at)).clamp(RATES.0, RATES.1),
    };
    (0..sites).map(rate).collect()
}
