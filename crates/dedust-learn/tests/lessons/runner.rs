//! Runs lessons: takes a folder of them and what learns, and fails unless each is learned. `testdata/learn/README.md` describes their form.

use std::fs;
use std::path::Path;

use dedust::rules::SiteEntry;
use dedust::{Normalizer, RuleSet};
use dedust_learn::support::{Learner, SampleSize, rule_text};
use dedust_learn::{Clues, CrawlStore, EvidenceKinds, LearnOptions, Trainer};

/// Fails unless every lesson of a folder is learned. `learner` gives the learner of a name.
pub fn check_all<L: Learner + 'static>(folder: &Path, learner: impl Fn(&str) -> L) {
    let mut lessons: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    lessons.retain(|path| {
        path.extension().is_some_and(|extension| extension == "md") && !path.ends_with("README.md")
    });
    lessons.sort();
    assert!(!lessons.is_empty(), "no lessons in {}", folder.display());
    let wrong: Vec<String> = lessons.iter().flat_map(|path| check(path, &learner)).collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// What is wrong with a lesson.
fn check<L: Learner + 'static>(path: &Path, learner: &impl Fn(&str) -> L) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let blocks = blocks(&text);
    let crawl: Vec<Row> = blocks.iter().filter(|block| block.is_crawl()).flat_map(Block::rows).collect();
    let mut wrong = Vec::new();
    let mut unchanged = 0;
    for block in blocks.iter().filter(|block| !block.is_crawl()) {
        let rules = learn(&crawl, learner(&block.argument));
        let normalizer = Normalizer::compile(&rules);
        let place = format!("{name}, {} {}", block.kind, block.argument);
        if block.kind == "rules" {
            let found: Vec<String> =
                rules.sites().flat_map(|(_, site)| site.entries().map(entry_text)).collect();
            if found != block.lines {
                wrong.push(format!(
                    "{place}: learned\n{}\nexpected\n{}",
                    found.join("\n"),
                    block.lines.join("\n")
                ));
            }
            continue;
        }
        if block.kind == "same" {
            for line in &block.lines {
                let keys: Vec<String> =
                    line.split(' ').map(|url| normalizer.key(url).unwrap().to_string()).collect();
                if keys.iter().any(|key| *key != keys[0]) {
                    wrong.push(format!("{place}: these should be one\n   {}", keys.join("\n   ")));
                }
            }
            continue;
        }
        for line in &block.lines {
            let (url, expected) = match line.split_once(" -> ") {
                Some(parts) => parts,
                None => {
                    unchanged += 1;
                    let url = line.strip_suffix(" unchanged").expect("`URL -> RESULT` or `URL unchanged`");
                    (url, url)
                }
            };
            let result = match &*block.kind {
                "keys" => normalizer.key(url).unwrap().to_string(),
                "canonical" | "missed" => normalizer.normalize(url).unwrap().to_string(),
                other => panic!("{place}: no such block as {other}"),
            };
            if block.kind == "missed" {
                if result == expected {
                    wrong.push(format!("{place}: {url} is right now, and no longer missed"));
                }
            } else if result != expected {
                wrong.push(format!("{place}: {url}\n   gave {result}\n   not  {expected}"));
            }
        }
    }
    if unchanged == 0 {
        wrong.push(format!("{name}: names no URL that must stay unchanged"));
    }
    wrong
}

fn learn(rows: &[Row], learner: impl Learner + 'static) -> RuleSet {
    let mut crawl = CrawlStore::new(EvidenceKinds::AUTO, SampleSize::default());
    if learner.leaves_out_mirrors() {
        // Labels say nothing of who owns a site, so lessons name what is to be a mirror.
        crawl = crawl.with_named_mirror("old.example", "new.example");
    }
    for row in rows {
        crawl.observe(row.url.as_bytes(), &row.shows.clues(), None).unwrap();
    }
    let options = LearnOptions { trust_hosts: true, ..LearnOptions::default() };
    let trainer = Trainer::builder().learner(learner).options(options).build().unwrap();
    trainer.train_stored(&crawl.finish().unwrap(), &()).unwrap().rules
}

struct Block {
    kind: String,
    argument: String,
    lines: Vec<String>,
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if let Some(head) = line.strip_prefix("~~~") {
            inside = !inside;
            if inside {
                let (kind, argument) = head.split_once(' ').unwrap_or((head, ""));
                blocks.push(Block { kind: kind.into(), argument: argument.into(), lines: Vec::new() });
            }
        } else if inside {
            blocks.last_mut().unwrap().lines.push(line.into());
        }
    }
    blocks
}

/// A URL of a crawl.
struct Row {
    url: String,
    shows: Shows,
}

/// What a crawl says of a URL.
enum Shows {
    /// Somebody has labelled it.
    Label(String),
    /// A page, which may name its canonical URL.
    Page(String, Option<String>),
    RedirectTo(String),
}

impl Shows {
    fn clues(&self) -> Clues<'_> {
        match self {
            Self::Label(label) => Clues { cluster: Some(label.as_bytes()), ..Clues::default() },
            Self::Page(page, canonical) => Clues {
                digest: Some(page.as_bytes()),
                canonical: canonical.as_ref().map(String::as_bytes),
                status: Some(200),
                ..Clues::default()
            },
            Self::RedirectTo(target) => {
                Clues { redirect: Some(target.as_bytes()), status: Some(301), ..Clues::default() }
            }
        }
    }
}

/// Reads `LABEL URL`, `200 PAGE URL`, `200 PAGE URL names URL` or `301 URL to URL`.
fn read_row(kind: &str, line: &str) -> Row {
    let words: Vec<&str> = line.split(' ').collect();
    let (url, shows) = match (kind, &*words) {
        ("urls", [label, url]) => (url, Shows::Label((*label).into())),
        ("crawl", ["200", page, url]) => (url, Shows::Page((*page).into(), None)),
        ("crawl", ["200", page, url, "names", named]) => {
            (url, Shows::Page((*page).into(), Some((*named).into())))
        }
        ("crawl", ["301", url, "to", target]) => (url, Shows::RedirectTo((*target).into())),
        _ => panic!("`{line}` is no line of {kind}"),
    };
    Row { url: (*url).into(), shows }
}

impl Block {
    fn is_crawl(&self) -> bool {
        matches!(&*self.kind, "urls" | "crawl")
    }

    fn rows(&self) -> Vec<Row> {
        let (first, last) = match self.argument.split_once("..") {
            Some((first, last)) => (first.parse().unwrap(), last.parse().unwrap()),
            None => (1, 1),
        };
        let mut seed = 0u64;
        let mut rows = Vec::new();
        for n in first..=last {
            for line in &self.lines {
                let mut line = counted(line, n).replace("{x}", &random(u64::MAX - n));
                while line.contains("{r}") {
                    seed += 1;
                    line = line.replacen("{r}", &random(seed), 1);
                }
                rows.push(read_row(&self.kind, &line));
            }
        }
        rows
    }
}

/// Writes numbers for `{n}`, `{n+7}` and `{n*20-20}`; from left to right, without precedence.
fn counted(line: &str, n: u64) -> String {
    let mut pieces = line.split("{n");
    let mut text = pieces.next().unwrap().to_owned();
    for piece in pieces {
        let (steps, rest) = piece.split_once('}').expect("`{n` is closed");
        let mut number = i64::try_from(n).unwrap();
        let mut steps = steps;
        while let Some(operator) = steps.chars().next() {
            let end = steps[1..].find(['+', '-', '*']).map_or(steps.len(), |end| end + 1);
            let operand: i64 = steps[1..end].parse().expect("a number after + - *");
            match operator {
                '+' => number += operand,
                '-' => number -= operand,
                '*' => number *= operand,
                other => panic!("{other} in `{line}`, expected + - *"),
            }
            steps = &steps[end..];
        }
        text += &format!("{number}{rest}");
    }
    text
}

fn random(seed: u64) -> String {
    format!("{:08x}", seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32)
}

fn entry_text(entry: SiteEntry<'_>) -> String {
    match entry {
        SiteEntry::Rule(rule) => rule_text(rule),
        SiteEntry::Mirror(mirror) => mirror.to_string(),
    }
}
