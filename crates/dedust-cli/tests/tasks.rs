/*!
Runs the transcripts in `docs/tasks`: is what users read there what they get?

A document is Markdown. A fenced block whose first line ends in `file=NAME` writes that file into an empty folder. Of a
block `console`, lines that start with `$ ` are commands; a line that ends in `\` goes on in the next. What follows up to the
next command is its output, standard error included, and `[exit 1]` if it did not end with 0. A line `...` stands for
any lines; all others are compared as they are. Commands run with bash, one after the other, in the folder, which has a
link to `testdata`. Each is a process of its own, so that variables and `cd` do not last.

`DEDUST_UPDATE_TASKS=1 cargo test -p dedust-cli --test tasks` writes what was printed in the place of what was expected. One
line `...` stays where it was; output with several is to be changed by hand.
*/
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::fmt::Write as _;
use std::io::{self, Read as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use tempfile::TempDir;

#[test]
fn archivist() {
    follow("archivist");
}

#[test]
fn common_crawl() {
    follow("common-crawl");
}

#[test]
fn crawler() {
    follow("crawler");
}

#[test]
fn data_engineer() {
    follow("data-engineer");
}

#[test]
fn site_owner() {
    follow("site-owner");
}

#[test]
fn researcher() {
    follow("researcher");
}

#[test]
fn every_document_is_followed() {
    let Some(folder) = documents() else { return };
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "archivist.md",
            "common-crawl.md",
            "crawler.md",
            "data-engineer.md",
            "researcher.md",
            "site-owner.md"
        ]
    );
}

#[test]
fn three_dots_stand_for_any_lines() {
    let matches = |expected: &[&str], printed: &[&str]| {
        let owned = |lines: &[&str]| lines.iter().map(ToString::to_string).collect::<Vec<_>>();
        are_alike(&owned(expected), &owned(printed))
    };
    assert!(matches(&["a", "..."], &["a"]));
    assert!(matches(&["...", "b", "...", "b"], &["a", "b", "b", "c", "b"]));
    assert!(!matches(&["a", "...", "b"], &["a", "b", "c"]));
    assert!(!matches(&["a ..."], &["a b"]));
    assert!(!matches(&["a"], &["a", ""]));
}

#[test]
fn an_update_keeps_the_three_dots() {
    let update = |expected: &[&str], printed: &[&str]| {
        let owned = |lines: &[&str]| lines.iter().map(ToString::to_string).collect::<Vec<_>>();
        with_dots(&owned(expected), owned(printed))
    };
    assert_eq!(update(&["a", "...", "b"], &["A", "1", "2", "B"]).unwrap(), ["A", "...", "B"]);
    assert_eq!(update(&["a"], &["A", "B"]).unwrap(), ["A", "B"]);
    assert_eq!(update(&["...", "a", "..."], &["A"]), None);
}

#[test]
fn a_document_is_files_and_commands_with_their_output() {
    let text = "# Task\n```csv file=a.csv\nurl\n$ no\n```\n```sh\n$ no\n```\n\
                ```console\n$ cat \\\n  a.csv\nurl\n\n$ true\n```\n";
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let expected = [
        Step::File { name: "a.csv".to_owned(), lines: 2..4 },
        Step::Command { lines: 9..11, output: 11..13 },
        Step::Command { lines: 13..14, output: 14..14 },
    ];
    assert_eq!(steps(&lines), expected);
}

/// What a document asks for, in its order. Ranges are of its lines.
#[derive(Debug, PartialEq)]
enum Step {
    File { name: String, lines: Range<usize> },
    Command { lines: Range<usize>, output: Range<usize> },
}

/// Where the documents are. A packaged crate is without them.
#[expect(clippy::print_stderr, reason = "a test that was skipped says so")]
fn documents() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tasks");
    if !folder.exists() {
        eprintln!("not tested: {} is not there", folder.display());
        return None;
    }
    Some(folder.canonicalize().unwrap())
}

/// Does what a document says, and compares what is printed.
fn follow(name: &str) {
    let Some(folder) = documents() else { return };
    let path = folder.join(name).with_extension("md");
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let steps = steps(&lines);
    assert!(steps.iter().any(|step| matches!(step, Step::Command { .. })), "{name}.md has no commands");

    let workplace = Workplace::new(&folder.join("../../testdata"));
    let mut updated = lines.clone();
    let mut differences = String::new();
    let mut differences_left = false;
    let mut lines_added = 0_isize;
    for step in steps {
        match step {
            Step::File { name, lines: content } => workplace.write(&name, &lines[content]),
            Step::Command { lines: command, output } => {
                let printed = workplace.run(&command_of(&lines[command.clone()]));
                let expected = &lines[output.clone()];
                if are_alike(expected, &printed) {
                    continue;
                }
                write!(
                    differences,
                    "\n{name}.md:{}\n{}\n--- expected\n{}\n--- printed\n{}\n",
                    command.start + 1,
                    lines[command].join("\n"),
                    expected.join("\n"),
                    printed.join("\n"),
                )
                .unwrap();
                let Some(printed) = with_dots(expected, printed) else {
                    differences_left = true;
                    continue;
                };
                let moved = |at: usize| at.checked_add_signed(lines_added).unwrap();
                let added = printed.len() as isize - output.len() as isize;
                updated.splice(moved(output.start)..moved(output.end), printed);
                lines_added += added;
            }
        }
    }
    if env::var_os("DEDUST_UPDATE_TASKS").is_some() && !differences.is_empty() {
        fs::write(&path, updated.join("\n") + "\n").unwrap();
        assert!(!differences_left, "{differences}\nto be changed by hand where several lines are `...`");
    } else {
        assert!(
            differences.is_empty(),
            "{differences}\nto accept what was printed: DEDUST_UPDATE_TASKS=1 cargo test -p dedust-cli --test tasks"
        );
    }
}

/// The files and commands of a document.
fn steps(lines: &[String]) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let Some(info) = lines[at].strip_prefix("```") else {
            at += 1;
            continue;
        };
        let start = at + 1;
        let length = lines[start..].iter().position(|line| line == "```").expect("a block has an end");
        let block = start..start + length;
        at = block.end + 1;
        if let Some((_, name)) = info.split_once(" file=") {
            steps.push(Step::File { name: name.to_owned(), lines: block });
        } else if info == "console" {
            steps.extend(commands(lines, block));
        }
    }
    steps
}

/// The commands of a block, each with its output.
fn commands(lines: &[String], block: Range<usize>) -> Vec<Step> {
    let mut commands = Vec::new();
    let mut at = block.start;
    while at < block.end {
        let start = at;
        assert!(lines[start].starts_with("$ "), "line {} is no command", start + 1);
        while lines[at].ends_with('\\') {
            at += 1;
        }
        at += 1;
        let output = at;
        while at < block.end && !lines[at].starts_with("$ ") {
            at += 1;
        }
        commands.push(Step::Command { lines: start..output, output: output..at });
    }
    commands
}

/// The command that these lines show.
fn command_of(lines: &[String]) -> String {
    lines.join("\n").trim_start_matches("$ ").to_owned()
}

/// Whether this was expected: line by line, and `...` is any number of lines.
fn are_alike(expected: &[String], printed: &[String]) -> bool {
    match expected.split_first() {
        None => printed.is_empty(),
        Some((line, rest)) if line == "..." => {
            (0..=printed.len()).any(|skipped| are_alike(rest, &printed[skipped..]))
        }
        Some((line, rest)) => printed.first() == Some(line) && are_alike(rest, &printed[1..]),
    }
}

/// What was printed, with `...` in the place of the lines that it stood for. `None`: `...` stands at several places.
fn with_dots(expected: &[String], printed: Vec<String>) -> Option<Vec<String>> {
    let mut dots = expected.iter().enumerate().filter(|(_, line)| *line == "...");
    let Some((before, dot)) = dots.next() else { return Some(printed) };
    let after = expected.len() - before - 1;
    if dots.next().is_some() || printed.len() < before + after {
        return None;
    }
    let (first, last) = (&printed[..before], &printed[printed.len() - after..]);
    Some([first, std::slice::from_ref(dot), last].concat())
}

/// A folder to work in, and one with the command `dedust` alone. Both are gone after the test.
struct Workplace {
    folder: TempDir,
    commands: TempDir,
}

impl Workplace {
    fn new(testdata: &Path) -> Self {
        use std::os::unix::fs::symlink;

        let (folder, commands) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        symlink(testdata, folder.path().join("testdata")).unwrap();
        symlink(env!("CARGO_BIN_EXE_dedust"), commands.path().join("dedust")).unwrap();
        Self { folder, commands }
    }

    fn write(&self, name: &str, lines: &[String]) {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    }

    /// What the command prints, in lines, with its exit code as the last unless that is 0.
    fn run(&self, command: &str) -> Vec<String> {
        let path = env::var_os("PATH").unwrap_or_default();
        let path =
            env::join_paths([self.commands.path().to_owned()].into_iter().chain(env::split_paths(&path)));
        let (mut reader, writer) = io::pipe().unwrap();
        let mut bash = Command::new("bash");
        bash.args(["-c", command])
            .current_dir(self.folder.path())
            .env("PATH", path.unwrap())
            .env("LC_ALL", "C")
            .env("NO_COLOR", "1")
            .env_remove("COLUMNS")
            .stdin(Stdio::null())
            .stdout(writer.try_clone().unwrap())
            .stderr(writer);
        let mut child = bash.spawn().unwrap();
        // It holds the end of the pipe that is written to, so that reading would not end.
        drop(bash);
        let mut printed = Vec::new();
        reader.read_to_end(&mut printed).unwrap();
        let status = child.wait().unwrap();
        let mut lines: Vec<String> = String::from_utf8_lossy(&printed).lines().map(str::to_owned).collect();
        match status.code() {
            Some(0) => {}
            Some(code) => lines.push(format!("[exit {code}]")),
            None => lines.push(format!("[{status}]")),
        }
        lines
    }
}
