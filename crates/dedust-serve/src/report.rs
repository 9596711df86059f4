/*!
The page and its data: what the rules of now make of the crawls that the server was started with.

The data are made when they are asked for, once for each set of rules, and kept as the JSON that is sent. Whoever asks meanwhile waits for
the same.
*/

use std::path::PathBuf;
use std::sync::Arc;

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use dedust::errors::with_causes;
use dedust_report::page::{self, Asset};
use dedust_report::{ReportBuilder, ReportSettings, TreeOf};
use tokio::sync::Mutex;

use crate::live_rules::LoadedRules;

/// The data of the page.
pub(crate) struct Report {
    crawl: Vec<PathBuf>,
    trust_mirrors: bool,
    tree: Option<TreeOf>,
    made: Arc<Mutex<Option<Made>>>,
}

/// Data of some rules.
struct Made {
    rules: Arc<LoadedRules>,
    json: Bytes,
}

/// A file of the page.
pub(crate) struct PageFile {
    /// Where it is: `/`, `/page.js`, ...
    pub(crate) path: String,
    content_type: HeaderValue,
    bytes: Bytes,
}

/// Why there are no data.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReportError {
    #[error("the server has compiled rules, which say nothing of themselves, and no crawl to try them on")]
    NothingKnown,
    #[error("the URLs of the crawl do not fit into {} MB", ReportSettings::default().max_memory / 1_000_000)]
    TooLarge,
    #[error("the crawl cannot be read")]
    Expand(#[from] dedust_io::ReadError),
    #[error("the crawl cannot be read")]
    Read(#[from] dedust_crawl::ReadCrawlError),
    #[error("the data cannot be written as JSON")]
    Json(#[from] serde_json::Error),
    #[error("the report ended early: {0}")]
    Panicked(#[from] tokio::task::JoinError),
}

impl Report {
    pub(crate) fn new(crawl: Vec<PathBuf>, trust_mirrors: bool, tree: Option<TreeOf>) -> Self {
        Self { crawl, trust_mirrors, tree, made: Arc::default() }
    }

    /// The data of these rules.
    pub(crate) async fn of(&self, rules: Arc<LoadedRules>) -> Result<Bytes, ReportError> {
        let mut made = Arc::clone(&self.made).lock_owned().await;
        if let Some(made) = made.as_ref().filter(|made| Arc::ptr_eq(&made.rules, &rules)) {
            return Ok(made.json.clone());
        }
        let crawl = self.crawl.clone();
        let settings = ReportSettings {
            trusts_mirrors: self.trust_mirrors,
            tree: self.tree,
            ..ReportSettings::default()
        };
        // Goes on if the client is gone, so that the next one finds it done.
        let making = tokio::task::spawn_blocking(move || {
            let json = make(&rules, &crawl, settings)?;
            *made = Some(Made { rules, json: json.clone() });
            Ok(json)
        });
        making.await?
    }
}

/// Reads the crawl, and makes the data.
fn make(rules: &LoadedRules, crawl: &[PathBuf], settings: ReportSettings) -> Result<Bytes, ReportError> {
    let LoadedRules { rules, normalizer } = rules;
    if rules.is_none() && crawl.is_empty() {
        return Err(ReportError::NothingKnown);
    }
    let mut builder = ReportBuilder::new(rules.as_ref(), normalizer, settings);
    if !crawl.is_empty() {
        let inputs = dedust_io::expand(crawl)?;
        let opened = inputs.iter().map(|path| dedust_crawl::open(path, None, &[]));
        let (_, read) =
            dedust_crawl::read_all(opened, &mut (), |row| Ok(builder.observe(row.url(), &row.clues())?));
        if builder.is_full() {
            return Err(ReportError::TooLarge);
        }
        read?;
    }
    Ok(serde_json::to_vec(&builder.finish())?.into())
}

impl ReportError {
    /// With its causes.
    pub(crate) fn in_words(&self) -> String {
        with_causes(self)
    }
}

/// The files of the page, as they are sent.
pub(crate) fn page_files() -> Vec<PageFile> {
    let file = |Asset { path, content_type, bytes }| PageFile {
        path: if path == "index.html" { "/".into() } else { format!("/{path}") },
        content_type: HeaderValue::from_static(content_type),
        bytes: bytes.into_owned().into(),
    };
    page::live_assets().into_iter().map(file).collect()
}

impl PageFile {
    pub(crate) fn respond(&self) -> Response {
        ([(header::CONTENT_TYPE, self.content_type.clone())], self.bytes.clone()).into_response()
    }
}
