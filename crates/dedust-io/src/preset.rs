/*!
The names that well-known tools give to their columns, by which of them the tool is recognised, and what its values mean.

[`crate::names`] decides what is used.
*/

use std::fmt;

use crate::{Column, Observation, nutch};

/// The part of a Common Crawl index whose rows are no pages.
const NO_PAGES: &str = "robotstxt";

/// A tool whose tables or indexes are recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Preset {
    /// The columnar index of Common Crawl, and its CDXJ index.
    CommonCrawl,
    /// An export of the Screaming Frog SEO Spider.
    ScreamingFrog,
    /// A dump of the CrawlDb of Apache Nutch, as CSV or JSON.
    NutchCrawldb,
    /// Items that a Scrapy spider put into a feed.
    Scrapy,
    /// An index that `wget --warc-cdx` wrote.
    Wget,
}

/// A column, and the names it may have, the best one first.
type Candidates = (Column, &'static [&'static str]);

impl Preset {
    /// Those that are recognised by the names of their columns.
    const TABLES: [Preset; 4] =
        [Preset::CommonCrawl, Preset::ScreamingFrog, Preset::NutchCrawldb, Preset::Scrapy];

    /// The tool that gives its columns these names.
    pub(crate) fn of(names: &[&str]) -> Option<Preset> {
        let names: Vec<String> = names.iter().map(|name| simplified(name)).collect();
        let has = |wanted: &&str| names.iter().any(|name| name == wanted);
        let is_it = |preset: &Preset| match preset {
            Preset::CommonCrawl => {
                has(&"url") && ["content_digest", "fetch_status", "fetch_redirect"].iter().any(has)
            }
            Preset::ScreamingFrog => ["address", "status_code"].iter().all(has),
            Preset::NutchCrawldb => {
                has(&"url")
                    && (["status_name", "signature"].iter().all(has)
                        || ["statusname", "signature"].iter().all(has))
            }
            Preset::Scrapy => SCRAPY_MARKS.iter().any(has) && ["url", "response_url"].iter().any(has),
            Preset::Wget => false,
        };
        Self::TABLES.into_iter().find(is_it)
    }

    /// The name of the preset.
    pub fn name(self) -> &'static str {
        match self {
            Preset::CommonCrawl => "common-crawl",
            Preset::ScreamingFrog => "screaming-frog",
            Preset::NutchCrawldb => "nutch-crawldb",
            Preset::Scrapy => "scrapy",
            Preset::Wget => "wget",
        }
    }

    /// The columns under the names that the tool gives them.
    pub(crate) fn columns(self) -> &'static [Candidates] {
        match self {
            Preset::CommonCrawl => &[
                (Column::Time, &["fetch_time"]),
                (Column::Status, &["fetch_status"]),
                (Column::Redirect, &["fetch_redirect"]),
                (Column::Digest, &["content_digest"]),
                (Column::Mime, &["content_mime_detected", "content_mime_type"]),
                (Column::Truncated, &["content_truncated"]),
            ],
            Preset::ScreamingFrog => &[
                (Column::Url, &["Address"]),
                (Column::Mime, &["Content Type", "Content"]),
                (Column::Status, &["Status Code"]),
                (Column::Title, &["Title 1"]),
                (Column::Canonical, &["Canonical Link Element 1"]),
                (Column::Redirect, &["Redirect URL", "Redirect URI"]),
                (Column::Digest, &["Hash"]),
                (Column::Size, &["Size (bytes)", "Size"]),
                (Column::Time, &["Crawl Timestamp"]),
            ],
            Preset::NutchCrawldb => &[
                (Column::Url, &["Url"]),
                (Column::Status, &["Status name", "statusName"]),
                (Column::Digest, &["Signature"]),
                (Column::Time, &["Fetch Time", "fetchTime"]),
                // Among much else: see `nested_column` and `complete`.
                (Column::Redirect, &["Metadata"]),
            ],
            Preset::Scrapy => &[
                (Column::Url, &["url", "response_url"]),
                (Column::Status, &["status", "http_status", "response_status", "status_code"]),
                (Column::Title, &["title", "page_title"]),
                (Column::Canonical, &["canonical", "canonical_url"]),
                (Column::Redirect, &["redirect", "redirect_url"]),
                (Column::RedirectedFrom, &["redirected_from", "redirect_urls"]),
                (
                    Column::Digest,
                    &["digest", "body_hash", "body_sha1", "body_md5", "content_hash", "checksum"],
                ),
                (Column::Mime, &["mime", "content_type"]),
                (Column::Size, &["size", "body_size", "content_length"]),
                (Column::Time, &["time", "scraped_at", "crawled_at", "timestamp"]),
            ],
            Preset::Wget => &[],
        }
    }

    /// What finds columns by the names within the objects that a column holds, if it holds any.
    pub(crate) fn nested_column(self, column: Column) -> Option<fn(&str) -> Option<Column>> {
        (self == Preset::NutchCrawldb && column == Column::Redirect).then_some(nutch::metadata_column)
    }

    /// Completes a row by what its tool means by it. `subset` is the part of an index that its path names. `false` if it shows no
    /// page.
    pub(crate) fn complete(self, observation: &mut Observation, subset: Option<&str>) -> bool {
        match self {
            Preset::CommonCrawl => return observation.subset().or(subset) != Some(NO_PAGES),
            Preset::NutchCrawldb => {
                if let Some(metadata) = observation.redirect() {
                    let target = nutch::redirect_in(metadata).map(<[u8]>::to_vec);
                    observation.forget(Column::Redirect);
                    target.iter().for_each(|target| observation.set_address(Column::Redirect, target));
                }
                if observation.digest() == Some(nutch::NO_SIGNATURE) {
                    observation.forget(Column::Digest);
                }
            }
            Preset::ScreamingFrog | Preset::Scrapy | Preset::Wget => {}
        }
        true
    }
}

/// Names of request and item data that spiders put into feeds and hardly anyone else uses.
const SCRAPY_MARKS: [&str; 9] = [
    "response_url",
    "request_url",
    "redirect_urls",
    "redirect_reasons",
    "download_latency",
    "download_slot",
    "spider",
    "scraped_at",
    "crawled_at",
];

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name in lower case, with one underscore for whatever is neither letter nor digit.
pub(crate) fn simplified(name: &str) -> String {
    let mut simple = String::with_capacity(name.len());
    for character in name.trim().chars() {
        if character.is_alphanumeric() {
            simple.extend(character.to_lowercase());
        } else if !simple.is_empty() && !simple.ends_with('_') {
            simple.push('_');
        }
    }
    simple.truncate(simple.trim_end_matches('_').len());
    simple
}

/// Names, as [`simplified`] writes them, under which evidence is met that is not used without being asked for: a hash may
/// be one of anything.
pub(crate) const OTHER_NAMES: &[Candidates] = &[
    (
        Column::Url,
        &["uri", "address", "link", "href", "page_url", "target_uri", "loc", "location", "original"],
    ),
    (Column::Cluster, &["cluster_id", "page_id", "duplicate_of", "group_id"]),
    (
        Column::Canonical,
        &["canonical_url", "canonical_link", "canonical_link_element_1", "rel_canonical", "link_canonical"],
    ),
    (
        Column::Redirect,
        &[
            "redirect_url",
            "redirect_uri",
            "redirect_to",
            "redirect_target",
            "redirected_to",
            "redirects_to",
            "fetch_redirect",
            "location",
            "final_url",
            "target_url",
        ],
    ),
    (
        Column::Digest,
        &[
            "content_digest",
            "payload_digest",
            "body_digest",
            "hash",
            "md5",
            "sha1",
            "sha256",
            "checksum",
            "body_hash",
            "content_hash",
            "page_hash",
            "html_hash",
            "body_md5",
            "body_sha1",
            "content_md5",
            "content_sha1",
            "signature",
            "fingerprint",
        ],
    ),
    (Column::TextDigest, &["text_hash", "text_md5", "text_sha1", "plain_text_hash"]),
    (Column::Simhash, &["sim_hash", "simhash64", "text_simhash", "near_duplicate_hash"]),
    (Column::Title, &["title_1", "page_title", "html_title"]),
    (Column::Status, &["status_code", "http_status", "fetch_status", "http_code", "response_code", "code"]),
];
