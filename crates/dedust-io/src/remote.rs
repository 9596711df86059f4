/*!
Objects of stores, `s3://bucket/key`, `gs://bucket/key`, `https://host/path`: read by ranges, so that little of them is in memory.

The crate `object_store` makes the requests, and repeats those that fail for a while, with growing pauses. Credentials come from the
environment, as its documentation says (`AWS_ACCESS_KEY_ID`, `GOOGLE_APPLICATION_CREDENTIALS` and so on). An object that changes
while it is read is an error.
*/

use std::collections::{HashMap, VecDeque};
use std::error::Error;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use object_store::aws::AmazonS3Builder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::path::Path as Key;
use object_store::{BackoffConfig, ClientOptions, GetOptions, ObjectStore, ObjectStoreExt as _, RetryConfig};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use url::Url;

use crate::ReadError;

/// Bytes of a request.
const BLOCK_BYTES: u64 = 4 << 20;

/// Blocks of a table that are held: its columns are read side by side, some megabytes of each.
const HELD_BLOCKS: usize = 24;

/// How long requests that fail are repeated.
const RETRIES: RetryConfig = RetryConfig {
    backoff: BackoffConfig {
        init_backoff: Duration::from_millis(100),
        max_backoff: Duration::from_secs(10),
        base: 2.,
    },
    max_retries: 6,
    retry_timeout: Duration::from_secs(90),
};

/// How often a range is asked for again whose bytes stopped coming.
const ATTEMPTS: u32 = 4;

/// There is nothing that servers could be checked against, as in an empty root or an image without certificates.
#[derive(Debug, thiserror::Error)]
#[error(
    "no certificates of authorities are installed here, so that no server can be checked; install them (Debian: apt install ca-certificates), or name a file of them with the variable SSL_CERT_FILE"
)]
struct NoCertificates;

/// An object of a store.
struct Object {
    url: Box<str>,
    store: Arc<dyn ObjectStore>,
    key: Key,
    size: u64,
    /// Changes when the object does.
    tag: Option<String>,
    /// Those fetched last, by number, for tables.
    blocks: Mutex<VecDeque<(u64, Bytes)>>,
}

/// Reads an object, from anywhere in it.
pub(crate) struct ObjectReader {
    object: Arc<Object>,
    position: u64,
    /// The block that was read last, and its number.
    block: Option<(u64, Bytes)>,
    /// The one after it, being fetched.
    ahead: Option<(u64, JoinHandle<io::Result<Bytes>>)>,
    /// Whether blocks are held for others that read the same object.
    is_table: bool,
}

/// Opens an object to be read from its start.
pub(crate) fn open(url: &str) -> Result<ObjectReader, ReadError> {
    let failed = |source| ReadError::Open { file: url.into(), source };
    let (store, key, runtime) = locate(url).map_err(failed)?;
    let meta = runtime.block_on(store.head(&key)).map_err(io_error).map_err(failed)?;
    let object =
        Object { url: url.into(), store, key, size: meta.size, tag: meta.e_tag, blocks: Mutex::default() };
    Ok(ObjectReader { object: Arc::new(object), position: 0, block: None, ahead: None, is_table: false })
}

/// The objects that a URL of a bucket stands for, if it ends in `/` or is a pattern; `None` if it is one object.
pub(crate) fn expand(url: &str) -> Result<Option<Vec<PathBuf>>, ReadError> {
    let is_bucket = url.starts_with("s3://") || url.starts_with("gs://");
    let wildcard = url.find(['*', '?', '[']);
    if !is_bucket || (wildcard.is_none() && !url.ends_with('/')) {
        return Ok(None);
    }
    let failed = |source| ReadError::Open { file: url.into(), source };
    // What stands before the first wildcard, up to its last slash.
    let folder = &url[..wildcard.map_or(url.len(), |at| url[..at].rfind('/').map_or(at, |slash| slash + 1))];
    let pattern = wildcard
        .map(|_| glob::Pattern::new(url))
        .transpose()
        .map_err(|error| ReadError::BadPattern { file: url.into(), problem: error.msg.to_owned() })?;
    let (store, prefix, runtime) = locate(folder).map_err(failed)?;
    let listed = runtime.block_on(store.list(Some(&prefix)).try_collect::<Vec<_>>());
    let bucket_end = url.find("://").map_or(0, |at| at + 3);
    let bucket = &url[..url[bucket_end..].find('/').map_or(url.len(), |slash| bucket_end + slash)];
    let options = glob::MatchOptions { require_literal_separator: true, ..glob::MatchOptions::default() };
    let mut found: Vec<PathBuf> = Vec::new();
    for object in listed.map_err(io_error).map_err(failed)? {
        let name = format!("{bucket}/{}", object.location);
        // Names that start with `_` or `.` are notes of tools, as in folders of files.
        let is_note =
            name[folder.len().min(name.len())..].split('/').any(|part| part.starts_with(['_', '.']));
        let is_meant = match &pattern {
            Some(pattern) => pattern.matches_with(&name, options),
            None => !is_note,
        };
        if is_meant {
            found.push(name.into());
        }
    }
    found.sort();
    match found.is_empty() {
        false => Ok(Some(found)),
        true if pattern.is_some() => Err(ReadError::NoMatch { file: url.into() }),
        true => Err(ReadError::EmptyFolder { file: url.into() }),
    }
}

/// The store of an object, its place there, and what requests are made by. Stores are made once, since they keep connections.
fn locate(text: &str) -> io::Result<(Arc<dyn ObjectStore>, Key, &'static Runtime)> {
    static STORES: Mutex<Option<HashMap<String, Arc<dyn ObjectStore>>>> = Mutex::new(None);
    let invalid = |problem: String| io::Error::new(io::ErrorKind::InvalidInput, problem);
    let url = Url::parse(text).map_err(|error| invalid(error.to_string()))?;
    let place = &url[..url::Position::BeforePath];
    let is_web = matches!(url.scheme(), "http" | "https");
    // In keys of buckets `%` and `#` mean themselves; in URLs of the web they do not.
    let key = match is_web {
        true => Key::from_url_path(url.path()),
        false => Key::parse(text[place.len().min(text.len())..].trim_start_matches('/')),
    };
    let key = key.map_err(|error| invalid(error.to_string()))?;
    if is_web && url.query().is_some() {
        return Err(invalid("URLs with a query cannot be read; download the file first".to_owned()));
    }
    // Before any store is made, since it chooses who does TLS.
    let runtime = runtime()?;
    let mut stores = STORES.lock().unwrap_or_else(PoisonError::into_inner);
    let stores = stores.get_or_insert_default();
    if let Some(store) = stores.get(place) {
        return Ok((store.clone(), key, runtime));
    }
    let bucket = url.host_str().unwrap_or_default();
    let store: Arc<dyn ObjectStore> = match url.scheme() {
        "s3" => Arc::new(
            AmazonS3Builder::from_env()
                .with_bucket_name(bucket)
                .with_retry(RETRIES)
                .build()
                .map_err(store_error)?,
        ),
        "gs" => Arc::new(
            GoogleCloudStorageBuilder::from_env()
                .with_bucket_name(bucket)
                .with_retry(RETRIES)
                .build()
                .map_err(store_error)?,
        ),
        _ => Arc::new(
            HttpBuilder::new()
                .with_url(place)
                .with_client_options(ClientOptions::new().with_allow_http(url.scheme() == "http"))
                .with_retry(RETRIES)
                .build()
                .map_err(store_error)?,
        ),
    };
    stores.insert(place.to_owned(), store.clone());
    Ok((store, key, runtime))
}

/// Runs requests. Two threads are enough: what they carry is worked on elsewhere.
fn runtime() -> io::Result<&'static Runtime> {
    static RUNTIME: OnceLock<io::Result<Runtime>> = OnceLock::new();
    let made = RUNTIME.get_or_init(|| {
        // TLS by the provider that the rest of the program uses. An error means that one is chosen.
        let _ = rustls::crypto::ring::default_provider().install_default();
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()
    });
    made.as_ref().map_err(|error| io::Error::new(error.kind(), error.to_string()))
}

fn io_error(error: object_store::Error) -> io::Error {
    let kind = match &error {
        object_store::Error::NotFound { .. } => io::ErrorKind::NotFound,
        object_store::Error::PermissionDenied { .. } | object_store::Error::Unauthenticated { .. } => {
            io::ErrorKind::PermissionDenied
        }
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, error)
}

/// Why a store could not be made. Its client reads the certificates of this machine, which is where TLS can fail so early.
fn store_error(error: object_store::Error) -> io::Error {
    let mut cause: Option<&(dyn Error + 'static)> = Some(&error);
    while let Some(inner) = cause {
        if inner.is::<rustls::Error>() {
            return io::Error::other(NoCertificates);
        }
        cause = inner.source();
    }
    io_error(error)
}

impl Object {
    fn blocks(&self) -> u64 {
        self.size.div_ceil(BLOCK_BYTES)
    }

    /// Fetches a block.
    async fn fetch(self: Arc<Self>, number: u64) -> io::Result<Bytes> {
        let start = number * BLOCK_BYTES;
        let range = start..(start + BLOCK_BYTES).min(self.size);
        let mut attempt = 1;
        loop {
            let options = GetOptions {
                range: Some(range.clone().into()),
                if_match: self.tag.clone(),
                ..GetOptions::default()
            };
            let fetched = async { self.store.get_opts(&self.key, options).await?.bytes().await }.await;
            match fetched {
                Ok(bytes) if bytes.len() as u64 == range.end - range.start => return Ok(bytes),
                Err(object_store::Error::Precondition { .. }) => {
                    return Err(io::Error::other(format!("{} was changed while it was read", self.url)));
                }
                // Answers that came in part; requests that get none are repeated by the store.
                Ok(_) | Err(object_store::Error::Generic { .. }) if attempt < ATTEMPTS => {
                    tokio::time::sleep(RETRIES.backoff.init_backoff * 2u32.pow(attempt)).await;
                    attempt += 1;
                }
                Ok(_) => return Err(self.broken(start, "the answer is too short")),
                Err(error) => return Err(self.broken(start, error)),
            }
        }
    }

    fn broken(&self, start: u64, problem: impl std::fmt::Display) -> io::Error {
        io::Error::other(format!("{} at byte {start}: {problem}", self.url))
    }

    fn held(&self, number: u64) -> Option<Bytes> {
        let blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        blocks.iter().find(|(held, _)| *held == number).map(|(_, bytes)| bytes.clone())
    }

    fn hold(&self, number: u64, bytes: Bytes) {
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        if blocks.len() == HELD_BLOCKS {
            blocks.pop_front();
        }
        blocks.push_back((number, bytes));
    }
}

impl ObjectReader {
    /// How many bytes there are.
    pub(crate) fn size(&self) -> u64 {
        self.object.size
    }

    /// Changes when the object does: its size and the tag that the store gives it.
    pub(crate) fn version(&self) -> String {
        format!("{} bytes, {}", self.object.size, self.object.tag.as_deref().unwrap_or("no tag"))
    }

    /// The same object, as a table whose columns are read side by side.
    pub(crate) fn into_table(self) -> Self {
        Self { is_table: true, ahead: None, ..self }
    }

    /// Another reader of the same object, at the same place.
    pub(crate) fn another(&self) -> Self {
        Self { object: self.object.clone(), block: None, ahead: None, ..*self }
    }

    fn block(&mut self, number: u64) -> io::Result<Bytes> {
        if let Some((read, bytes)) = &self.block
            && *read == number
        {
            return Ok(bytes.clone());
        }
        let runtime = runtime()?;
        let follows = self.block.as_ref().map_or(number == 0, |(read, _)| read + 1 == number);
        let ahead = self.ahead.take().filter(|(fetched, _)| *fetched == number);
        let bytes = match (self.object.held(number), ahead) {
            (Some(bytes), _) => bytes,
            (None, Some((_, fetched))) => runtime.block_on(fetched).map_err(io::Error::other)??,
            (None, None) => runtime.block_on(self.object.clone().fetch(number))?,
        };
        if self.is_table {
            if self.object.held(number).is_none() {
                self.object.hold(number, bytes.clone());
            }
        } else if follows && number + 1 < self.object.blocks() {
            self.ahead = Some((number + 1, runtime.spawn(self.object.clone().fetch(number + 1))));
        }
        self.block = Some((number, bytes.clone()));
        Ok(bytes)
    }
}

impl Read for ObjectReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.position >= self.object.size || buffer.is_empty() {
            return Ok(0);
        }
        let bytes = self.block(self.position / BLOCK_BYTES)?;
        let start = (self.position % BLOCK_BYTES) as usize;
        let taken = buffer.len().min(bytes.len() - start);
        buffer[..taken].copy_from_slice(&bytes[start..start + taken]);
        self.position += taken as u64;
        Ok(taken)
    }
}

impl Seek for ObjectReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(offset) => self.object.size.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = position.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.position)
    }
}
