/*!
A folder to run the binary in, and a small crawl to run it on.
*/

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::json;
use tempfile::TempDir;

/// A folder that is gone after the test.
pub(crate) struct Sandbox {
    folder: TempDir,
}

impl Sandbox {
    /// An empty folder.
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    /// A sandbox with `rules.json`, in which `a.example` has two rules: `sid` is dropped, and `ref` is, in keys only.
    pub(crate) fn with_two_rules() -> Self {
        let rule = |name: &str, fetchable: bool| {
            let evidence = json!({"urls": 90, "support_pairs": 40, "false_pairs": 0, "groups": 20,
                                  "failed_groups": 0, "failure_bound": 0.1391, "kinds": ["digest"]});
            json!({"change": [{"drop": format!("q.{name}")}], "fetchable": fetchable, "evidence": evidence})
        };
        let rules = [rule("ref", false), rule("sid", true)];
        let sandbox = Self::new();
        let rules = json!({"version": 1, "method": "by hand", "sites": {"a.example": {"rules": rules}}});
        sandbox.write("rules.json", rules.to_string());
        sandbox
    }

    /// A folder with `crawl.jsonl`, of which [`shop`] tells, and `rules.json` with [`RULES`].
    pub(crate) fn with_rules() -> Self {
        let sandbox = Self::new();
        sandbox.write("crawl.jsonl", shop().join(""));
        sandbox.write("rules.json", RULES);
        sandbox
    }

    /// Where a file of this name is.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    /// Reads a file.
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The names in the folder, in order, those of hidden files too.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// The binary with these arguments, not yet started.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dedust"));
        command
            .args(args)
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the binary with nothing on standard input.
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Runs the binary with `input` on standard input.
    pub(crate) fn run_with(&self, args: &[&str], input: &[u8]) -> Output {
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                // The binary may end before it has read everything.
                let _ = stdin.write_all(input);
            });
            child.wait_with_output().unwrap()
        })
    }

    /// What the binary does, as text for a snapshot.
    pub(crate) fn dedust(&self, args: &[&str]) -> String {
        report(&self.run(args))
    }

    /// Like [`Sandbox::dedust`], with `input` on standard input.
    pub(crate) fn dedust_with(&self, args: &[&str], input: impl AsRef<[u8]>) -> String {
        report(&self.run_with(args, input.as_ref()))
    }
}

/// Exit code, standard output and standard error; what is empty is left out.
pub(crate) fn report(output: &Output) -> String {
    let code = output.status.code().expect("the binary was not killed");
    let mut text = format!("exit {code}\n");
    for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        if !bytes.is_empty() {
            text += &format!("--- {name}\n{}", String::from_utf8_lossy(bytes));
        }
    }
    assert!(!text.contains("panicked"), "{text}");
    text
}

/// A crawl of two sites. Products of the shop are shown under any session id, news under any campaign, and every
/// page of the archive is its own.
pub(crate) fn shop() -> Vec<String> {
    let mut rows = Vec::new();
    let mut row = |url: String, digest: String| {
        rows.push(format!("{{\"url\":\"{url}\",\"digest\":\"{digest}\",\"status\":200}}\n"));
    };
    for page in 0..40 {
        for visit in 0..3 {
            let session = 0x1234_5678_u64 * (page + 1) * (visit + 3);
            let url = format!("http://www.shop.example/view?id={page}&sid={session:016x}");
            row(url, format!("view {page}"));
        }
        row(format!("http://www.shop.example/archive/{page}"), format!("archive {page}"));
        let url = format!("http://news.example/story/{page}");
        row(format!("{url}?utm_source=mail"), format!("story {page}"));
        row(url, format!("story {page}"));
    }
    rows
}

/// Rules for the crawl of [`shop`], by hand, so that what is printed of them does not depend on any learner.
pub(crate) const RULES: &str = r#"{
  "version": 1,
  "method": "by hand",
  "sites": {
    "news.example": {
      "summary": { "urls": 80, "labelled": 80, "pages": 40, "raw_rules": 1, "qualified_rules": 1 },
      "rules": [{
        "when": { "path_0": { "is": "story" } },
        "change": [{ "drop": "q.utm_source" }],
        "fetchable": true,
        "evidence": {
          "urls": 80, "support_pairs": 40, "false_pairs": 0, "groups": 40, "failed_groups": 0,
          "failure_bound": 0.0722, "kinds": ["digest"], "observed_until": "2024-05-01",
          "examples": [
            { "url": "http://news.example/story/1?utm_source=mail", "duplicate": "http://news.example/story/1" }
          ]
        }
      }]
    },
    "shop.example": {
      "summary": { "urls": 160, "labelled": 160, "pages": 80, "raw_rules": 1, "qualified_rules": 1 },
      "rules": [{
        "when": { "path_0": { "is": "view" }, "q.sid": { "any": "hex" } },
        "change": [{ "forget": "q.sid" }],
        "evidence": {
          "urls": 120, "support_pairs": 120, "false_pairs": 0, "groups": 40, "failed_groups": 0,
          "failure_bound": 0.0722, "kinds": ["canonical", "digest"],
          "examples": [{
            "url": "http://www.shop.example/view?id=1&sid=000000006d3a06d0",
            "duplicate": "http://www.shop.example/view?id=1&sid=0000000091a2b3c0"
          }]
        }
      }]
    }
  }
}
"#;
