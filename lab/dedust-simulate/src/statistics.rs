/*!
Table 1 of a collection: how many URLs and pages its sites have.
*/

use super::site::Site;

/// The least, the most and the mean of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// The least.
    pub min: u64,
    /// The most.
    pub max: u64,
    /// The mean.
    pub mean: f64,
}

/// What sites are like, all together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    /// URLs of all sites.
    pub urls: u64,
    /// Pages of all sites.
    pub pages: u64,
    /// URLs of a site.
    pub urls_per_site: Spread,
    /// Pages of a site.
    pub pages_per_site: Spread,
    /// URLs of a page, over the pages of all sites.
    pub urls_per_page: Spread,
    /// Share of the URLs that could be spared, the mean over sites.
    pub mean_duplicate_rate: f64,
}

impl Statistics {
    /// Counts `sites`, without making their URLs. All are 0 for none.
    pub fn of(sites: &[Site]) -> Self {
        let (urls, pages) = (spread(sites, Site::urls), spread(sites, Site::pages));
        let (all_urls, all_pages) = (sites.iter().map(Site::urls).sum(), sites.iter().map(Site::pages).sum());
        Self {
            urls: all_urls,
            pages: all_pages,
            urls_per_site: urls,
            pages_per_site: pages,
            urls_per_page: Spread {
                min: sites.iter().map(Site::smallest_cluster).min().unwrap_or(0),
                max: sites.iter().map(Site::largest_cluster).max().unwrap_or(0),
                mean: mean(all_urls as f64, all_pages),
            },
            mean_duplicate_rate: mean(sites.iter().map(Site::duplicate_rate).sum(), sites.len() as u64),
        }
    }
}

fn spread(sites: &[Site], number: impl Fn(&Site) -> u64) -> Spread {
    let numbers = || sites.iter().map(&number);
    Spread {
        min: numbers().min().unwrap_or(0),
        max: numbers().max().unwrap_or(0),
        mean: mean(numbers().sum::<u64>() as f64, sites.len() as u64),
    }
}

fn mean(sum: f64, count: u64) -> f64 {
    if count == 0 { 0.0 } else { sum / count as f64 }
}
