/*!
From a crawl to rules: paths and options in, rules and a report out.

[`learn`] is all of it in one call. A [`Pipeline`] does the same for programs that have another learner, limit memory, read tables, or
show how far it has come. Knows no rules of before: who has some calls [`RuleSet::keep`].
*/

use std::io;
use std::path::{Path, PathBuf};

use dedust::RuleSet;
use dedust_io::{ReadError, Reader};
use dedust_learn::errors::{InvalidOption, TrainStoredError};
use dedust_learn::support::SuspendedStore;
use dedust_learn::{CrawlStore, LearnOptions, Progress, SiteReport, StoredCrawl, Trainer, Training};

use crate::read::{ReadCrawlError, ReadPosition, ReadReport, Watch, open, read_on};

/// Memory for rows that are being read, unless another limit is set.
const HELD_BYTES: usize = 256_000_000;

/// Learns rules from crawls of any format: files, folders, patterns and lists, as the command takes them.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let crawl = folder.path().join("crawl.jsonl");
/// # let row = |at: u32| format!("{{\"url\":\"http://a.example/p?id={}&sid={at}\",\"digest\":\"{}\"}}\n", at / 2, at / 2);
/// # std::fs::write(&crawl, (0..80).map(row).collect::<String>())?;
/// use dedust_learn::LearnOptions;
///
/// let learned = dedust_crawl::learn([crawl], LearnOptions::default())?;
///
/// let normalizer = dedust::Normalizer::compile(&learned.rules);
/// assert_eq!(normalizer.key("http://a.example/p?id=7&sid=1234")?, "http://a.example/p?id=7");
/// assert_eq!((learned.sites[0].saved, learned.read.rows.good), (40, 80));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn learn<P: AsRef<Path>>(
    inputs: impl IntoIterator<Item = P>,
    options: LearnOptions,
) -> Result<Learned, LearnError> {
    let method = options.method.clone();
    let trainer = Trainer::builder().options(options).build()?;
    if trainer.options().method != method {
        return Err(LearnError::OtherMethod { method });
    }
    let inputs: Vec<PathBuf> = inputs.into_iter().map(|path| path.as_ref().to_owned()).collect();
    let files = dedust_io::expand(&inputs).map_err(ReadCrawlError::Read)?;
    let opened = files.iter().map(|file| open(file, None, &[]));
    let (read, training) = Pipeline::new(trainer).learn(opened, &mut (), &());
    let Training { rules, sites, .. } = training?;
    Ok(Learned { rules, sites, read })
}

/// What was learned of a crawl.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Learned {
    /// The rules of all sites.
    pub rules: RuleSet,
    /// What they do to the URLs that they were learned from: one report per site, in the order of their names.
    pub sites: Vec<SiteReport>,
    /// What was read, and what was left out.
    pub read: ReadReport,
}

/// Why nothing was learned of a crawl.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LearnError {
    /// An option makes no sense.
    #[error(transparent)]
    Option(#[from] InvalidOption),
    /// The options name a method that [`learn`] does not know.
    #[error(
        "method is {method}, expected canonfd; give the learner of another method to a Trainer, and that to a Pipeline"
    )]
    OtherMethod {
        /// Its name.
        method: Box<str>,
    },
    /// The crawl cannot be read, or only in part.
    #[error(transparent)]
    Read(#[from] ReadCrawlError),
    /// There is no room on disk for what memory has no room for.
    #[error("cannot put what was read into the folder {}", folder.display())]
    Store {
        /// Where it was put.
        folder: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// What an earlier reading has put on disk is not there any more, or is damaged.
    #[error("cannot read {}", folder.display())]
    Resume {
        /// Where it was put.
        folder: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Rules do not fit together, or learning was cancelled.
    #[error(transparent)]
    Train(#[from] TrainStoredError),
}

/// Reads crawls and learns from them.
#[derive(Clone, Debug)]
pub struct Pipeline {
    trainer: Trainer,
    held_bytes: usize,
    folder: PathBuf,
}

/// A crawl that was not read to its end.
#[derive(Debug)]
pub struct Unread {
    /// Why.
    pub error: LearnError,
    /// What was read until then; `None` if that cannot be kept.
    pub store: Option<CrawlStore>,
}

impl Pipeline {
    /// Learns with a trainer.
    pub fn new(trainer: Trainer) -> Self {
        Self { trainer, held_bytes: HELD_BYTES, folder: std::env::temp_dir() }
    }

    /// Memory for rows that are being read, in bytes; with more, they are put on disk. Default: 256 MB.
    #[must_use]
    pub fn held_bytes(self, held_bytes: usize) -> Self {
        Self { held_bytes, ..self }
    }

    /// Where a temporary folder is made for rows that memory has no room for. Default: that of the system.
    #[must_use]
    pub fn temporary_in(self, folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), ..self }
    }

    /// What it learns with.
    pub fn trainer(&self) -> &Trainer {
        &self.trainer
    }

    /// Reads all inputs and learns from them. What was read and left out is reported also where that fails.
    pub fn learn(
        &self,
        inputs: impl IntoIterator<Item = Result<Reader, ReadError>>,
        watch: &mut dyn Watch,
        progress: &dyn Progress,
    ) -> (ReadReport, Result<Training, LearnError>) {
        // Hidden, since it may be among files of the user.
        let folder = match tempfile::Builder::new().prefix(".dedust-learn-").tempdir_in(&self.folder) {
            Ok(folder) => folder,
            Err(source) => {
                let error = LearnError::Store { folder: self.folder.clone(), source };
                return (ReadReport::default(), Err(error));
            }
        };
        let (report, crawl) = self.read(&folder.path().join("crawl"), None, inputs, watch);
        let learned = crawl
            .map_err(|unread| unread.error)
            .and_then(|crawl| Ok(self.trainer.train_stored(&crawl, progress)?));
        (report, learned)
    }

    /// Reads all inputs, and puts them into `folder` if memory has no room for them: the first half of [`Pipeline::learn`], for
    /// those who keep what was read. The other half is [`Trainer::train_stored`].
    ///
    /// A reading that ended early, as [`ReadReport::position`] says, can go on `from` there with the inputs that it did not read to
    /// their ends, if its [store](Unread::store) was suspended in this folder.
    pub fn read(
        &self,
        folder: &Path,
        from: Option<(ReadPosition, SuspendedStore)>,
        inputs: impl IntoIterator<Item = Result<Reader, ReadError>>,
        watch: &mut dyn Watch,
    ) -> (ReadReport, Result<StoredCrawl, Unread>) {
        let owned = || folder.to_owned();
        let without_store = |error| Unread { error, store: None };
        let mut store = self.trainer.store().spill_to(folder, self.held_bytes);
        let mut position = ReadPosition::default();
        if let Some((from, suspended)) = from {
            position = from;
            store = match store.resume(suspended) {
                Ok(store) => store,
                Err(source) => {
                    let error = LearnError::Resume { folder: owned(), source };
                    return (ReadReport::default(), Err(without_store(error)));
                }
            };
        }
        let (report, read) = read_on(position, inputs, watch, |row| row.observe_in(&mut store));
        let crawl = match read {
            Ok(()) => {
                store.finish().map_err(|source| without_store(LearnError::Store { folder: owned(), source }))
            }
            Err(error) => Err(Unread { error: error.into(), store: Some(store) }),
        };
        (report, crawl)
    }
}
