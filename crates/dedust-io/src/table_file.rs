/*!
A table that can be read from anywhere: a file, or an object of a store.
*/

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use ::parquet::errors::Result;
use ::parquet::file::reader::{ChunkReader, Length};
use bytes::Bytes;

#[cfg(feature = "remote")]
use crate::remote::ObjectReader;

/// Where the bytes of a table are.
pub(crate) enum TableFile {
    /// In a file.
    Local(File),
    /// In a store, from which only what is asked for is fetched.
    #[cfg(feature = "remote")]
    Remote(ObjectReader),
}

impl TableFile {
    /// How many bytes there are.
    pub(crate) fn size(&self) -> io::Result<u64> {
        match self {
            Self::Local(file) => Ok(file.metadata()?.len()),
            #[cfg(feature = "remote")]
            Self::Remote(object) => Ok(object.size()),
        }
    }

    /// Another one of the same bytes. Where it is in them may change when this one moves.
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Local(file) => Self::Local(file.try_clone()?),
            #[cfg(feature = "remote")]
            Self::Remote(object) => Self::Remote(object.another()),
        })
    }
}

impl Read for TableFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Local(file) => file.read(buffer),
            #[cfg(feature = "remote")]
            Self::Remote(object) => object.read(buffer),
        }
    }
}

impl Seek for TableFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        match self {
            Self::Local(file) => file.seek(position),
            #[cfg(feature = "remote")]
            Self::Remote(object) => object.seek(position),
        }
    }
}

impl Length for TableFile {
    fn len(&self) -> u64 {
        self.size().unwrap_or(0)
    }
}

impl ChunkReader for TableFile {
    type T = BufReader<TableFile>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let mut reader = self.try_clone()?;
        reader.seek(SeekFrom::Start(start))?;
        Ok(BufReader::new(reader))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let mut reader = self.try_clone()?;
        reader.seek(SeekFrom::Start(start))?;
        let mut bytes = vec![0; length];
        reader.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}
