/*!
Takes Arrow files and streams apart into messages, and refuses those that are too large before any memory is allocated for
what they declare.

The readers of the `arrow-ipc` crate allocate what the footer of a file or the head of a compressed buffer declares. Here a
message is read only if the file holds it, and the sizes of its buffers are added up before they are unpacked.

A file is a stream between two marks and a footer, and is read as one: batches come in the order in which they were written.
Dictionaries must come before the batches that use them, as all known writers put them.
*/

use std::collections::HashMap;
use std::io::{self, BufRead, Read as _};

use arrow_buffer::Buffer;
use arrow_ipc::{Block, DictionaryBatch, Message, MessageHeader, RecordBatch, root_as_message};
use arrow_schema::ArrowError;

use crate::error::OversizedBatch;

/// What a file starts with; a stream starts otherwise.
pub(super) const FILE_MAGIC: &[u8] = b"ARROW1";
/// The magic of a file and the zeros after it, at most.
const MAX_START_BYTES: usize = 64;
/// What a message starts with, except in streams of old writers.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// Bytes of the head of a message, which names all columns or buffers.
pub(super) const MAX_HEAD_BYTES: u64 = 64 << 20;
/// Bytes of a batch, packed or unpacked, and of all dictionaries.
pub(super) const MAX_BATCH_BYTES: u64 = 1 << 30;
/// Bytes that may be copied to append to dictionaries. Each time, all of the dictionary is copied.
const MAX_APPENDED_BYTES: u64 = 16 << 30;

/// Why there is no next message.
#[derive(Debug)]
pub(crate) enum MessageError {
    Oversized(OversizedBatch),
    Damaged(ArrowError),
}

impl From<io::Error> for MessageError {
    fn from(error: io::Error) -> Self {
        Self::Damaged(error.into())
    }
}

impl From<ArrowError> for MessageError {
    fn from(error: ArrowError) -> Self {
        Self::Damaged(error)
    }
}

/// A message that is within the limits.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(super) kind: MessageHeader,
    /// Where its body is in the bytes.
    pub(super) block: Block,
    /// As they are in the file.
    pub(super) bytes: Buffer,
}

impl Checked {
    /// The head.
    pub(crate) fn head(&self) -> Result<Message<'_>, ArrowError> {
        let prefix = if self.bytes.starts_with(&CONTINUATION) { 8 } else { 4 };
        parse(&self.bytes[prefix..])
    }
}

/// Reads messages.
#[derive(Debug)]
pub(super) struct Messages<R> {
    source: R,
    /// Bytes that were not read yet.
    left: u64,
    is_file: bool,
    dictionary_bytes: HashMap<i64, u64>,
    appended_bytes: u64,
}

impl<R: BufRead> Messages<R> {
    /// Reads from the start of a file of `length` bytes. `is_file` says that it is no stream.
    pub(super) fn new(mut source: R, length: u64, is_file: bool) -> Result<Self, MessageError> {
        let mut left = length;
        if is_file {
            let zeros = source.fill_buf()?.iter().take(MAX_START_BYTES).skip(FILE_MAGIC.len());
            let start_len = FILE_MAGIC.len() + zeros.take_while(|&&byte| byte == 0).count();
            source.consume(start_len);
            left = left.saturating_sub(start_len as u64);
        }
        Ok(Self { source, left, is_file, dictionary_bytes: HashMap::new(), appended_bytes: 0 })
    }

    /// The next message; nothing at the end.
    pub(super) fn next(&mut self) -> Result<Option<Checked>, MessageError> {
        // Only a stream may end without a mark.
        if self.left == 0 && !self.is_file {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        self.append(4, &mut bytes)?;
        if bytes == CONTINUATION {
            self.append(4, &mut bytes)?;
        }
        let prefix = bytes.len();
        let Some(head_len) = bytes.last_chunk().map(|&length| i32::from_le_bytes(length)) else {
            return Ok(None);
        };
        if head_len == 0 {
            return Ok(None);
        }
        let head_len = u64::try_from(head_len)
            .map_err(|_| ArrowError::ParseError(format!("a message head of {head_len} bytes")))?;
        limit(head_len, MAX_HEAD_BYTES, OversizedBatch::HeadBytes)?;
        self.append(head_len, &mut bytes)?;
        let head = parse(&bytes[prefix..])?;
        let (kind, declared) = (head.header_type(), head.bodyLength());
        let body_len = u64::try_from(declared)
            .map_err(|_| ArrowError::ParseError(format!("a message body of {declared} bytes")))?;
        limit(body_len, MAX_BATCH_BYTES, OversizedBatch::BatchBytes)?;
        let body_start = bytes.len();
        self.append(body_len, &mut bytes)?;
        self.check(parse(&bytes[prefix..body_start])?, &bytes[body_start..])?;
        // Both are below their limits.
        let block = Block::new(0, body_start as i32, body_len as i64);
        Ok(Some(Checked { kind, block, bytes: Buffer::from_vec(bytes) }))
    }

    /// Appends the next bytes, for which memory is allocated only if the file holds them.
    fn append(&mut self, length: u64, bytes: &mut Vec<u8>) -> Result<(), MessageError> {
        if length > self.left {
            let text = format!("a part of {length} bytes is cut off: {} bytes are left", self.left);
            return Err(ArrowError::ParseError(text).into());
        }
        bytes.reserve_exact(length as usize);
        let read = (&mut self.source).take(length).read_to_end(bytes)?;
        self.left -= read as u64;
        if (read as u64) < length {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        Ok(())
    }

    /// Whether what a message unpacks to is within the limits.
    fn check(&mut self, head: Message<'_>, body: &[u8]) -> Result<(), MessageError> {
        if let Some(batch) = head.header_as_record_batch() {
            limit(unpacked_bytes(batch, body), MAX_BATCH_BYTES, OversizedBatch::BatchBytes)?;
        }
        match head.header_as_dictionary_batch() {
            Some(dictionary) => self.check_dictionary(dictionary, body),
            None => Ok(()),
        }
    }

    fn check_dictionary(&mut self, dictionary: DictionaryBatch<'_>, body: &[u8]) -> Result<(), MessageError> {
        let unpacked = dictionary.data().map_or(0, |batch| unpacked_bytes(batch, body));
        let bytes = self.dictionary_bytes.entry(dictionary.id()).or_default();
        if dictionary.isDelta() {
            *bytes = bytes.saturating_add(unpacked);
            self.appended_bytes = self.appended_bytes.saturating_add(*bytes);
        } else {
            *bytes = unpacked;
        }
        let all = self.dictionary_bytes.values().fold(0u64, |all, bytes| all.saturating_add(*bytes));
        limit(all, MAX_BATCH_BYTES, OversizedBatch::DictionaryBytes)?;
        limit(self.appended_bytes, MAX_APPENDED_BYTES, OversizedBatch::AppendedBytes)
    }
}

fn parse(head: &[u8]) -> Result<Message<'_>, ArrowError> {
    root_as_message(head)
        .map_err(|error| ArrowError::ParseError(format!("a message head is damaged: {error:?}")))
}

fn limit(found: u64, most: u64, oversized: fn(u64) -> OversizedBatch) -> Result<(), MessageError> {
    if found > most { Err(MessageError::Oversized(oversized(found))) } else { Ok(()) }
}

/// The bytes of all buffers of a batch. A compressed one starts with its size, or with -1 if it is not packed after all.
fn unpacked_bytes(batch: RecordBatch<'_>, body: &[u8]) -> u64 {
    let is_packed = batch.compression().is_some();
    let bytes_of = |buffer: &arrow_ipc::Buffer| {
        let length = u64::try_from(buffer.length()).unwrap_or_default();
        let size = usize::try_from(buffer.offset())
            .ok()
            .and_then(|at| body.get(at..)?.first_chunk())
            .map(|&size| i64::from_le_bytes(size));
        match size.map(u64::try_from) {
            Some(Ok(size)) if is_packed && length > 0 => size.saturating_add(length),
            _ => length,
        }
    };
    let buffers = batch.buffers().into_iter().flatten();
    buffers.map(bytes_of).fold(0, u64::saturating_add)
}
