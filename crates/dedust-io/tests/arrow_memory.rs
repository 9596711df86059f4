/*!
Arrow files that declare far more than they hold: memory is counted by the allocator.
*/
#![cfg(feature = "arrow")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking, also in what its cases share")]

use std::io::Cursor;
use std::sync::Arc;

use arrow_array::{ArrayRef, DictionaryArray, Int32Array, RecordBatch, StringArray};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use dedust_io::{Input, Observation, Reader};
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// A file or stream of one column `url`.
fn table(urls: ArrayRef, is_file: bool, compression: Option<CompressionType>) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter([("url", urls)]).unwrap();
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let mut bytes = Vec::new();
    if is_file {
        let mut writer = FileWriter::try_new_with_options(&mut bytes, &batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
    } else {
        let mut writer = StreamWriter::try_new_with_options(&mut bytes, &batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
    }
    bytes
}

/// The same bytes with another number in place of one that is there.
fn with_number(mut bytes: Vec<u8>, number: i64, other: i64) -> Vec<u8> {
    let number = number.to_le_bytes();
    let places: Vec<usize> = (0..bytes.len() - 8).filter(|&at| bytes[at..at + 8] == number).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + 8].copy_from_slice(&other.to_le_bytes());
    }
    bytes
}

fn open(bytes: Vec<u8>) -> Result<Reader, dedust_io::ReadError> {
    Input::from_read("rows.arrow", Cursor::new(bytes)).and_then(Input::observations)
}

/// What reading ends with, and the most bytes that were allocated at a time.
fn refusal(bytes: Vec<u8>) -> (String, usize) {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let read = open(bytes).and_then(|mut reader| reader.read(&mut Observation::new()).map(|_| ()));
    let error = read.unwrap_err();
    let text = std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source())
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(": ");
    (text, MEMORY.peak_usage() - before)
}

// One test, since the counters are those of the process.
#[test]
fn what_a_file_declares_is_refused_before_memory_is_allocated_for_it() {
    let url = format!("http://a.example/{}", "a".repeat(123_440));
    let (length, huge) = (url.len() as i64, 1 << 40);
    let urls: ArrayRef = Arc::new(StringArray::from(vec![url.as_str()]));
    for is_file in [true, false] {
        for compression in [CompressionType::ZSTD, CompressionType::LZ4_FRAME] {
            let packed = table(urls.clone(), is_file, Some(compression));
            assert!(packed.len() < 10_000, "{} bytes", packed.len());
            assert_eq!(open(packed.clone()).unwrap().read(&mut Observation::new()).unwrap(), Some(Ok(())));
            let (text, peak) = refusal(with_number(packed, length, huge));
            let found: u64 = text.split(' ').find_map(|word| word.parse().ok()).unwrap();
            assert!(found >= huge as u64 && found < huge as u64 + 10_000, "{text}");
            assert_eq!(
                text,
                format!(
                    "rows.arrow: a batch of {found} bytes, expected at most 1 GiB, so no row was read \
                     (write the table again in smaller batches)"
                )
            );
            assert!(peak < 1 << 20, "{peak} bytes at a time");
        }
        // A body: 64 bytes of offsets, 64 of validity or none, and the texts.
        let plain = table(urls.clone(), is_file, None);
        let body = (plain.len() as i64 - 4096..plain.len() as i64)
            .find(|&body| body % 64 == 0 && plain.windows(8).any(|bytes| bytes == body.to_le_bytes()))
            .unwrap();
        for (declared, refused) in [(huge, "a batch of 1099511627776 bytes"), (1 << 29, "is cut off")] {
            let (text, peak) = refusal(with_number(plain.clone(), body, declared));
            assert!(text.contains("rows.arrow") && text.contains(refused), "{text}");
            assert!(peak < 1 << 20, "{peak} bytes at a time");
        }
    }

    // The same long value in all rows.
    let long = format!("http://a.example/{}", "a".repeat(1 << 20));
    let keys = Int32Array::from(vec![0; 10_000]);
    let values = Arc::new(StringArray::from(vec![long.as_str()]));
    let repeated = table(Arc::new(DictionaryArray::new(keys, values)), false, None);
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let (mut reader, mut observation, mut rows) = (open(repeated).unwrap(), Observation::new(), 0);
    while let Some(row) = reader.read(&mut observation).unwrap() {
        assert_eq!((row, observation.url().len()), (Ok(()), long.len()));
        rows += 1;
    }
    assert_eq!(rows, 10_000);
    let peak = MEMORY.peak_usage() - before;
    assert!(peak < 16 << 20, "{peak} bytes at a time");
}
