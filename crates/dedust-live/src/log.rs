/*!
The records of all sites on disk: appended to a journal before an answer is given, and put into a file for each site later.

A record is handed to the system by [`Log::save`], so that nothing is lost when the process is killed. When the journal is large, the
records of each site go to the end of its file, compressed, and a new journal is begun. Records of a site are numbered, so that those
that are in both are read once. Frames have checksums: what follows the first that is damaged counts as not written.
*/

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use foldhash::{HashMap, HashSet};
use xxhash_rust::xxh3::xxh3_64;

use crate::error::LiveError;
use crate::folder::Folder;
use crate::record::Records;

/// Frames of a file of a site are compressed by this level, which costs least.
const LEVEL: i32 = 1;
/// `length:u32 check:u64`
const FRAME_BYTES: usize = 12;
/// `number:u64 records:u32 raw_length:u32 name_length:u16`
const SITE_HEAD_BYTES: usize = 18;
/// `name_length:u16 number:u64 length:u32`
const JOURNAL_HEAD_BYTES: usize = 14;

/// Records of a site that are in the journal alone.
#[derive(Clone, Debug, Default)]
struct Pending {
    /// The number of the first.
    first: u64,
    count: u64,
    bytes: Vec<u8>,
}

/// The records of all sites.
#[derive(Debug)]
pub(crate) struct Log {
    pub(crate) folder: Folder,
    journal: File,
    journal_number: u64,
    journal_bytes: u64,
    most_journal_bytes: u64,
    /// What is not in the journal yet.
    unsaved: Vec<u8>,
    pending: HashMap<Arc<str>, Pending>,
    /// Sites whose files are known to end with a whole frame.
    whole: HashSet<Arc<str>>,
}

/// The records of a site at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    path: PathBuf,
    pending: Pending,
}

/// Records of a site, uncompressed.
#[derive(Debug, Default)]
pub(crate) struct Read {
    pub(crate) bytes: Vec<u8>,
    /// How many there are.
    pub(crate) count: u64,
}

impl Log {
    /// Opens the log of a folder, and the names of the sites that are in the journal alone.
    pub(crate) fn open(folder: Folder, most_journal_bytes: u64) -> Result<Self, LiveError> {
        let numbers = folder.journals()?;
        let mut pending = HashMap::default();
        for &number in &numbers {
            let path = folder.journal(number);
            let bytes = fs::read(&path).map_err(LiveError::io("read", &path))?;
            read_journal(&bytes, &mut pending);
        }
        let journal_number = numbers.last().map_or(1, |number| number + 1);
        let journal = create(&folder.journal(journal_number))?;
        let mut log = Self {
            folder,
            journal,
            journal_number,
            journal_bytes: 0,
            most_journal_bytes,
            unsaved: Vec::new(),
            pending,
            whole: HashSet::default(),
        };
        log.store_pending()?;
        for number in numbers {
            let path = log.folder.journal(number);
            fs::remove_file(&path).map_err(LiveError::io("remove", path))?;
        }
        Ok(log)
    }

    /// Appends records of a site. They are kept when they were [saved](Self::save).
    pub(crate) fn append(&mut self, site: &Arc<str>, number: u64, records: &[u8], count: u64) {
        self.unsaved.extend_from_slice(&(site.len() as u16).to_le_bytes());
        self.unsaved.extend_from_slice(&number.to_le_bytes());
        self.unsaved.extend_from_slice(&(records.len() as u32).to_le_bytes());
        self.unsaved.extend_from_slice(site.as_bytes());
        self.unsaved.extend_from_slice(records);
        let pending = match self.pending.get_mut(site) {
            Some(pending) => pending,
            None => self
                .pending
                .entry(Arc::clone(site))
                .or_insert(Pending { first: number, ..Pending::default() }),
        };
        pending.bytes.extend_from_slice(records);
        pending.count += count;
    }

    /// Hands all that was appended to the system.
    pub(crate) fn save(&mut self) -> Result<(), LiveError> {
        if self.unsaved.is_empty() {
            return Ok(());
        }
        let mut frame = Vec::with_capacity(self.unsaved.len() + FRAME_BYTES);
        write_frame(&self.unsaved, &mut frame);
        let path = self.folder.journal(self.journal_number);
        self.journal.write_all(&frame).map_err(LiveError::io("write", path))?;
        self.journal_bytes += frame.len() as u64;
        self.unsaved.clear();
        if self.journal_bytes > self.most_journal_bytes {
            self.begin_journal()?;
        }
        Ok(())
    }

    /// Puts what is in the journal into the files of the sites, and begins a new one.
    fn begin_journal(&mut self) -> Result<(), LiveError> {
        self.store_pending()?;
        let old = self.folder.journal(self.journal_number);
        self.journal = create(&self.folder.journal(self.journal_number + 1))?;
        self.journal_number += 1;
        self.journal_bytes = 0;
        fs::remove_file(&old).map_err(LiveError::io("remove", old))
    }

    fn store_pending(&mut self) -> Result<(), LiveError> {
        for (site, pending) in std::mem::take(&mut self.pending) {
            let path = self.folder.site(&site);
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder).map_err(LiveError::io("create the folder", folder))?;
            }
            let cannot = || LiveError::io("write", &path);
            let mut options = OpenOptions::new();
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let mut file = options.create(true).append(true).open(&path).map_err(cannot())?;
            let mut known = pending.first;
            if self.whole.insert(Arc::clone(&site)) {
                let bytes = fs::read(&path).map_err(LiveError::io("read", &path))?;
                let (length, count) = whole_frames(&bytes);
                file.set_len(length as u64).map_err(cannot())?;
                known = count;
            }
            let Some(records) = pending.behind(known) else { continue };
            let body = zstd::bulk::compress(records.bytes, LEVEL).map_err(cannot())?;
            let mut payload = Vec::with_capacity(SITE_HEAD_BYTES + site.len() + body.len());
            payload.extend_from_slice(&records.first.to_le_bytes());
            payload.extend_from_slice(&(records.count as u32).to_le_bytes());
            payload.extend_from_slice(&(records.bytes.len() as u32).to_le_bytes());
            payload.extend_from_slice(&(site.len() as u16).to_le_bytes());
            payload.extend_from_slice(site.as_bytes());
            payload.extend_from_slice(&body);
            let mut frame = Vec::with_capacity(payload.len() + FRAME_BYTES);
            write_frame(&payload, &mut frame);
            file.write_all(&frame).map_err(cannot())?;
        }
        Ok(())
    }

    /// The records of a site as they are now.
    pub(crate) fn snapshot(&self, site: &str) -> Snapshot {
        let pending = self.pending.get(site).cloned().unwrap_or_default();
        Snapshot { path: self.folder.site(site), pending }
    }

    /// Whether there is anything of a site.
    pub(crate) fn knows(&self, site: &str) -> bool {
        self.whole.contains(site) || self.pending.contains_key(site) || self.folder.site(site).exists()
    }

    /// The names of all sites.
    pub(crate) fn sites(&self) -> Result<Vec<Arc<str>>, LiveError> {
        let mut names: Vec<Arc<str>> = self.pending.keys().cloned().collect();
        for path in self.folder.sites()? {
            let mut start = vec![0; FRAME_BYTES + SITE_HEAD_BYTES + 256];
            let length = File::open(&path).and_then(|file| read_up_to(file, &mut start));
            let length = length.map_err(LiveError::io("read", &path))?;
            let payload = start.get(FRAME_BYTES..length).unwrap_or_default();
            if let Some(name) = SiteFrame::head(payload).and_then(|head| payload.get(head.name())) {
                names.push(String::from_utf8_lossy(name).into());
            }
        }
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }
}

fn read_up_to(mut file: File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match io::Read::read(&mut file, &mut buffer[length..])? {
            0 => break,
            count => length += count,
        }
    }
    Ok(length)
}

/// Records behind those that a file has.
struct Behind<'a> {
    first: u64,
    count: u64,
    bytes: &'a [u8],
}

impl Pending {
    /// Those that are not among the first so many of the site.
    fn behind(&self, known: u64) -> Option<Behind<'_>> {
        let skipped = known.saturating_sub(self.first);
        if skipped >= self.count {
            return None;
        }
        let mut records = Records(&self.bytes);
        let _ = records.by_ref().take(skipped as usize).count();
        Some(Behind { first: self.first + skipped, count: self.count - skipped, bytes: records.0 })
    }
}

impl Snapshot {
    /// Reads the records.
    pub(crate) fn read(&self) -> Result<Read, LiveError> {
        let cannot = || LiveError::io("read", &self.path);
        let file = match fs::read(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(cannot()(error)),
        };
        let mut read = Read::default();
        for payload in Frames(&file) {
            let Some(frame) = SiteFrame::head(payload).filter(|frame| frame.first == read.count) else {
                break;
            };
            let body = payload.get(frame.name().end..).unwrap_or_default();
            let raw = zstd::bulk::decompress(body, frame.raw_bytes as usize).map_err(cannot())?;
            read.bytes.extend_from_slice(&raw);
            read.count += u64::from(frame.count);
        }
        if let Some(behind) = self.pending.behind(read.count).filter(|behind| behind.first == read.count) {
            read.bytes.extend_from_slice(behind.bytes);
            read.count += behind.count;
        }
        Ok(read)
    }
}

/// The head of a frame of a site.
struct SiteFrame {
    first: u64,
    count: u32,
    raw_bytes: u32,
    name_bytes: u16,
}

impl SiteFrame {
    fn head(payload: &[u8]) -> Option<Self> {
        let head: &[u8; SITE_HEAD_BYTES] = payload.first_chunk()?;
        Some(Self {
            first: u64::from_le_bytes(head[..8].try_into().ok()?),
            count: u32::from_le_bytes(head[8..12].try_into().ok()?),
            raw_bytes: u32::from_le_bytes(head[12..16].try_into().ok()?),
            name_bytes: u16::from_le_bytes(head[16..].try_into().ok()?),
        })
    }

    fn name(&self) -> std::ops::Range<usize> {
        SITE_HEAD_BYTES..SITE_HEAD_BYTES + usize::from(self.name_bytes)
    }
}

fn create(path: &Path) -> Result<File, LiveError> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.create(true).write(true).truncate(true).open(path).map_err(LiveError::io("create", path))
}

fn write_frame(payload: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(payload.len() as u32).to_le_bytes());
    out.extend_from_slice(&xxh3_64(payload).to_le_bytes());
    out.extend_from_slice(payload);
}

/// The frames of a file, up to the first that is not whole.
struct Frames<'a>(&'a [u8]);

impl<'a> Iterator for Frames<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_first_chunk::<FRAME_BYTES>()?;
        let length = u32::from_le_bytes(head[..4].try_into().ok()?);
        let check = u64::from_le_bytes(head[4..].try_into().ok()?);
        let (payload, rest) = rest.split_at_checked(length as usize)?;
        if xxh3_64(payload) != check {
            return None;
        }
        self.0 = rest;
        Some(payload)
    }
}

/// Bytes of a file of a site that are whole frames, and how many records these have.
fn whole_frames(file: &[u8]) -> (usize, u64) {
    let mut frames = Frames(file);
    let (mut length, mut count) = (0, 0);
    while let Some(frame) = frames.next().and_then(SiteFrame::head).filter(|frame| frame.first == count) {
        count += u64::from(frame.count);
        length = file.len() - frames.0.len();
    }
    (length, count)
}

/// Adds the records of a journal to those that are pending.
fn read_journal(file: &[u8], pending: &mut HashMap<Arc<str>, Pending>) {
    for mut payload in Frames(file) {
        while let Some((head, rest)) = payload.split_first_chunk::<JOURNAL_HEAD_BYTES>() {
            let name_bytes = usize::from(u16::from_le_bytes([head[0], head[1]]));
            let number = u64::from_le_bytes(head[2..10].try_into().unwrap_or_default());
            let length = u32::from_le_bytes(head[10..].try_into().unwrap_or_default()) as usize;
            let Some((name, rest)) = rest.split_at_checked(name_bytes) else { break };
            let Some((records, rest)) = rest.split_at_checked(length) else { break };
            payload = rest;
            let name: Arc<str> = String::from_utf8_lossy(name).into();
            let site = pending.entry(name).or_insert_with(|| Pending { first: number, ..Pending::default() });
            if number != site.first + site.count {
                continue;
            }
            site.count += Records(records).count() as u64;
            site.bytes.extend_from_slice(records);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Record;
    use crate::verdict::Verdict;

    fn met(number: u64) -> Vec<u8> {
        let url = format!("http://a.example/{number}");
        let mut bytes = Vec::new();
        Record::Met { verdict: Verdict::Fetch, epoch: 1, url: url.as_bytes() }.write(&mut bytes);
        bytes
    }

    /// Appends the records from..to, in as many saves.
    fn append(log: &mut Log, site: &Arc<str>, numbers: std::ops::Range<u64>) {
        for number in numbers {
            log.append(site, number, &met(number), 1);
            log.save().unwrap();
        }
    }

    #[test]
    fn records_are_there_again_wherever_the_process_ended() {
        let folder = tempfile::tempdir().unwrap();
        let (path, copy) = (folder.path().join("state"), folder.path().join("copy"));
        let site: Arc<str> = "a.example".into();
        let mut log = Log::open(Folder::open(&path).unwrap(), 600).unwrap();
        append(&mut log, &site, 0..40);
        let expected: Vec<u8> = (0..40).flat_map(met).collect();
        assert_eq!(log.snapshot(&site).read().unwrap().bytes, expected);
        drop(log);
        let journal = Folder::open(&path).unwrap().journals().unwrap().pop().unwrap();
        let whole = fs::read(path.join(format!("journal-{journal}"))).unwrap();
        // Cut off at any byte of the journal, it has the records before, and goes on.
        for length in 0..=whole.len() {
            let _ = fs::remove_dir_all(&copy);
            copy_folder(&path, &copy);
            fs::write(copy.join(format!("journal-{journal}")), &whole[..length]).unwrap();
            let mut log = Log::open(Folder::open(&copy).unwrap(), 600).unwrap();
            let read = log.snapshot(&site).read().unwrap();
            assert!(expected.starts_with(&read.bytes), "{length}");
            append(&mut log, &site, read.count..40);
            drop(log);
            let log = Log::open(Folder::open(&copy).unwrap(), 600).unwrap();
            assert_eq!(log.snapshot(&site).read().unwrap().bytes, expected, "{length}");
            assert_eq!(log.sites().unwrap(), [Arc::clone(&site)]);
        }
    }

    fn copy_folder(from: &Path, to: &Path) {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            let target = to.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                copy_folder(&entry.path(), &target);
            } else {
                fs::copy(entry.path(), target).unwrap();
            }
        }
    }
}
