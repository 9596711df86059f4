/*!
Which files are meant: paths, folders, patterns and lists of them to single files.

- A folder stands for all files in it and below, in the order of their paths, without hidden ones and those whose names start
  with `_`, which tools keep for their own notes.
- A path that does not exist and holds `*`, `?` or `[` is a pattern; `**` is any number of folders.
- `@FILE` stands for the paths that a file names, one per line; blank lines and those that start with `#` are skipped.
- `-` is standard input.
- `s3://bucket/folder/` stands for all objects below it, likewise, and patterns are matched there too; `gs://` as well.

Opens nothing but lists.
*/

use std::fs;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::open::url_of_object;
use crate::{ReadError, open_text};

/// The files that these arguments stand for, in order. Fails for a folder or pattern without files.
pub fn expand(arguments: &[PathBuf]) -> Result<Vec<PathBuf>, ReadError> {
    Ok(expand_below(arguments)?.into_iter().map(|(file, _)| file).collect())
}

/// The files that these arguments stand for, each with its path below the folder that was named: what follows the folder or the
/// fixed beginning of a pattern, or the name of a file. Such a path never leads out of a folder that it is put below.
pub fn expand_below(arguments: &[PathBuf]) -> Result<Vec<(PathBuf, PathBuf)>, ReadError> {
    let mut paths = Vec::new();
    for argument in arguments {
        match list_of(argument) {
            Some(list) => paths.extend(read_list(Path::new(list))?),
            None => paths.push(argument.clone()),
        }
    }
    let mut expanded = Vec::new();
    for path in &paths {
        let mut files = Vec::new();
        expand_path(path, &mut files)?;
        let folder = folder_of(path);
        expanded.extend(files.into_iter().map(|file| {
            let below = path_below(&file, &folder);
            (file, below)
        }));
    }
    Ok(expanded)
}

/// What follows the folder in the path of a file, or the name of the file if that could lead elsewhere.
fn path_below(file: &Path, folder: &Path) -> PathBuf {
    let is_below =
        |path: &&Path| path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let name = Path::new(file.file_name().unwrap_or(file.as_os_str()));
    file.strip_prefix(folder).ok().filter(is_below).unwrap_or(name).to_owned()
}

/// The folder that a path names, or that a pattern starts with; of a file the one that it is in.
fn folder_of(path: &Path) -> PathBuf {
    let names_folder = url_of_object(path).is_some() && path.as_os_str().as_encoded_bytes().ends_with(b"/");
    if names_folder || path.is_dir() {
        return path.to_owned();
    }
    let is_fixed = |part: &Component<'_>| {
        !part.as_os_str().as_encoded_bytes().iter().any(|byte| matches!(byte, b'*' | b'?' | b'['))
    };
    let is_file = path.exists() || path.components().all(|part| is_fixed(&part));
    match path.parent() {
        Some(folder) if is_file => folder.to_owned(),
        _ => path.components().take_while(is_fixed).collect(),
    }
}

/// The file after the sign of a list, unless a file has that very name.
fn list_of(argument: &Path) -> Option<&str> {
    let list = argument.to_str()?.strip_prefix('@')?;
    (!list.is_empty() && !argument.exists()).then_some(list)
}

fn read_list(list: &Path) -> Result<Vec<PathBuf>, ReadError> {
    let mut text = open_text(list)?;
    let origin = text.origin().clone();
    let mut bytes = Vec::new();
    text.read_to_end(&mut bytes).map_err(|error| origin.failure(0, bytes.len() as u64, error))?;
    let lines = String::from_utf8_lossy(&bytes);
    let lines = lines.trim_start_matches('\u{feff}').lines().map(str::trim);
    Ok(lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(PathBuf::from).collect())
}

fn expand_path(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), ReadError> {
    if path.as_os_str() == "-" || path.is_file() {
        files.push(path.to_owned());
        return Ok(());
    }
    if url_of_object(path).is_some() {
        return expand_object(path, files);
    }
    let name = || -> Arc<str> { path.display().to_string().into() };
    let before = files.len();
    if path.is_dir() {
        add_folder(path, files)?;
        return if files.len() > before { Ok(()) } else { Err(ReadError::EmptyFolder { file: name() }) };
    }
    let pattern = path.to_str().filter(|text| text.contains(['*', '?', '[']) && !path.exists());
    let Some(pattern) = pattern else {
        // Whether it can be opened is reported when it is.
        files.push(path.to_owned());
        return Ok(());
    };
    let options = glob::MatchOptions { require_literal_leading_dot: true, ..glob::MatchOptions::default() };
    let found = glob::glob_with(pattern, options)
        .map_err(|error| ReadError::BadPattern { file: name(), problem: error.msg.to_owned() })?;
    for path in found {
        let path = path.map_err(|error| {
            let file = error.path().display().to_string().into();
            ReadError::Open { file, source: error.into() }
        })?;
        if path.is_dir() {
            add_folder(&path, files)?;
        } else {
            files.push(path);
        }
    }
    if files.len() > before { Ok(()) } else { Err(ReadError::NoMatch { file: name() }) }
}

/// Adds an object of a store, or those that a URL stands for which ends in `/` or is a pattern.
fn expand_object(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), ReadError> {
    #[cfg(feature = "remote")]
    if let Some(found) = crate::remote::expand(&path.to_string_lossy())? {
        files.extend(found);
        return Ok(());
    }
    files.push(path.to_owned());
    Ok(())
}

fn add_folder(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), ReadError> {
    let failed = |source| ReadError::Open { file: folder.display().to_string().into(), source };
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        if !name.as_encoded_bytes().starts_with(b".") && !name.as_encoded_bytes().starts_with(b"_") {
            paths.push(entry.path());
        }
    }
    paths.sort();
    for path in paths {
        // A link to a folder could lead back to where it is.
        if path.is_dir() && !path.is_symlink() {
            add_folder(&path, files)?;
        } else if !path.is_dir() {
            files.push(path);
        }
    }
    Ok(())
}

/// The value of a partition folder, such as `warc` of `subset=warc`, in the path of a file.
pub(crate) fn partition<'a>(path: &'a str, name: &str) -> Option<&'a str> {
    let folders = path.split(['/', '\\']);
    folders.filter_map(|folder| folder.strip_prefix(name)?.strip_prefix('=')).next_back()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_patterns_and_lists_become_files() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["crawl=1/subset=warc", "crawl=1/subset=robotstxt", "empty", "_temporary"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        let names = [
            "crawl=1/subset=robotstxt/b.parquet",
            "crawl=1/subset=warc/a.parquet",
            "u.txt",
            "_SUCCESS",
            ".u.txt.crc",
        ];
        for name in names {
            fs::write(at(name), "").unwrap();
        }
        fs::write(at("_temporary/c.parquet"), "").unwrap();
        let files = |argument: PathBuf| expand(&[argument]).map_err(|error| error.to_string());
        let three = names[..3].iter().map(|name| at(name)).collect::<Vec<_>>();
        assert_eq!(files(folder.path().to_owned()), Ok(three.clone()));
        assert_eq!(files(at("*/*/*.parquet")), Ok(three[..2].to_vec()));
        assert_eq!(files(at("**/a.parquet")), Ok(vec![three[1].clone()]));
        assert_eq!(files(at("crawl=[1]")), Ok(three[..2].to_vec()));
        let list = format!("\u{feff}# two\r\n\r\n{}\r\n-\r\n", three[2].display());
        fs::write(at("list"), list).unwrap();
        let argument = PathBuf::from(format!("@{}", at("list").display()));
        assert_eq!(files(argument), Ok(vec![three[2].clone(), "-".into()]));
        assert!(
            files(at("empty")).unwrap_err().ends_with(
                "is a folder without files (hidden files and those that start with _ are left out)"
            )
        );
        assert!(files(at("*.csv")).unwrap_err().starts_with("no file matches"));
        assert_eq!(files(at("missing.csv")), Ok(vec![at("missing.csv")]));
        fs::remove_file(at("list")).unwrap();
        let below = |argument: PathBuf| -> Vec<PathBuf> {
            expand_below(&[argument]).unwrap().into_iter().map(|(_, below)| below).collect()
        };
        assert_eq!(below(folder.path().to_owned()), names[..3].iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(below(at("crawl=1/*/a.parquet")), [PathBuf::from("subset=warc/a.parquet")]);
        assert_eq!(below(at("u.txt")), [PathBuf::from("u.txt")]);
        assert_eq!(below(at("crawl=1/*/../../u.txt")), [PathBuf::from("u.txt"), PathBuf::from("u.txt")]);
        let bucket = folder_of(Path::new("s3://archive/crawl/"));
        let object = Path::new("s3://archive/crawl/part=1/a.jsonl");
        assert_eq!(path_below(object, &bucket), Path::new("part=1/a.jsonl"));
        let object = Path::new("s3://archive/crawl/../../a.jsonl");
        assert_eq!(path_below(object, &bucket), Path::new("a.jsonl"));
    }

    #[test]
    fn partitions_are_in_the_path() {
        let path =
            "cc-index/table/cc-main/warc/crawl=CC-MAIN-2024-10/subset=crawldiagnostics/part-0.gz.parquet";
        assert_eq!(partition(path, "subset"), Some("crawldiagnostics"));
        assert_eq!(partition(path, "crawl"), Some("CC-MAIN-2024-10"));
        assert_eq!(partition(path, "sub"), None);
    }
}
