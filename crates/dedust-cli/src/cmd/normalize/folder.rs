/*!
Where outputs go that are written into a folder: a file for each input, at the same path below it. Writes no file.
*/

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use dedust_io::{Format, WriteError};

use super::{NormalizeArgs, UrlFormat};
use crate::failure::refuse;
use crate::line_source::is_dash;
use crate::observe;

/// Whether a path names a folder: it ends in `/`, or a folder is there.
pub(super) fn is_named_by(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/") || path.is_dir()
}

/// The output of each input, given with its path below what the user named. Fails before anything is written if two outputs are
/// the same file, or one exists.
pub(super) fn outputs(
    folder: &Path,
    inputs: &[(PathBuf, PathBuf)],
    args: &NormalizeArgs,
) -> anyhow::Result<Vec<PathBuf>> {
    let mut outputs = Vec::with_capacity(inputs.len());
    let mut met = HashSet::new();
    for (input, below) in inputs {
        if is_dash(input) {
            let problem = format!("standard input has no name, and {} is a folder", folder.display());
            return refuse(problem, "name a file with -o");
        }
        let format = observe::open(input, &args.read)?.format();
        let output = folder.join(name_of(below, format, args.format));
        if !met.insert(output.clone()) {
            let problem = format!("two inputs would be written to {}", output.display());
            return refuse(problem, "name the folder that both are in as the input");
        }
        if output.exists() && !args.force {
            return Err(WriteError::Exists { path: output }.into());
        }
        outputs.push(output);
    }
    Ok(outputs)
}

/// The name of an output. Text comes out plain, and what is no table as lines.
fn name_of(below: &Path, format: Format, written: UrlFormat) -> PathBuf {
    let is_table = written.makes_table(format);
    let mut name = below.to_owned();
    if format.is_text_table() || !is_table {
        let is_compressed = |end: &OsStr| ["gz", "zst"].iter().any(|known| end.eq_ignore_ascii_case(known));
        if name.extension().is_some_and(is_compressed) {
            name.set_extension("");
        }
    }
    let end = match written {
        _ if is_table => return name,
        UrlFormat::Same | UrlFormat::Text => "txt",
        UrlFormat::Tsv => "tsv",
        UrlFormat::Json => "jsonl",
    };
    if name.extension().is_none_or(|found| found != end) {
        name.as_mut_os_string().push(format!(".{end}"));
    }
    name
}

/// Makes the folder that an output is in.
pub(super) fn make_folder_of(output: &Path) -> anyhow::Result<()> {
    let Some(folder) = output.parent() else { return Ok(()) };
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_is_in_a_file() {
        let name = |below, format, written| name_of(Path::new(below), format, written);
        let same = UrlFormat::Same;
        assert_eq!(name("a/part-0.gz.parquet", Format::Parquet, same), Path::new("a/part-0.gz.parquet"));
        assert_eq!(name("a/index.cdxj.gz", Format::Cdxj, same), Path::new("a/index.cdxj"));
        assert_eq!(name("crawl.warc.gz", Format::Warc, same), Path::new("crawl.warc.txt"));
        assert_eq!(name("urls.txt.zst", Format::UrlList, same), Path::new("urls.txt"));
        assert_eq!(name("urls.txt", Format::UrlList, UrlFormat::Tsv), Path::new("urls.txt.tsv"));
        assert_eq!(name("a.jsonl", Format::JsonLines, UrlFormat::Json), Path::new("a.jsonl"));
    }
}
