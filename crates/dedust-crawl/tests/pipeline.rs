/*! From paths to rules by one call, and in steps. */

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, also in what its cases share")]

use std::fs;
use std::io::Cursor;
use std::ops::ControlFlow;
use std::path::Path;

use dedust::RuleSet;
use dedust_crawl::{LearnError, Pipeline, ReadCrawlError, ReadReport, Unread, Watch, learn};
use dedust_io::{Input, ReadError, Reader};
use dedust_learn::{LearnOptions, Trainer, Training};

/// Pages of which each is there with three values of `sid`.
fn crawl(rows: std::ops::Range<u32>) -> String {
    let row =
        |at| format!("{{\"url\":\"http://a.example/p?id={}&sid={at}\",\"digest\":\"{}\"}}\n", at / 3, at / 3);
    rows.map(row).collect()
}

fn opened(text: String) -> Result<Reader, ReadError> {
    Input::from_read("crawl.jsonl", Cursor::new(text)).and_then(Input::observations)
}

fn pipeline() -> Pipeline {
    Pipeline::new(Trainer::builder().build().unwrap())
}

fn json(rules: &RuleSet) -> String {
    let mut json = Vec::new();
    rules.save(&mut json).unwrap();
    String::from_utf8(json).unwrap()
}

/// Ends the reading after some rows.
struct Rows(u32);

impl Watch for Rows {
    fn row(&mut self) -> ControlFlow<()> {
        let Some(left) = self.0.checked_sub(1) else { return ControlFlow::Break(()) };
        self.0 = left;
        ControlFlow::Continue(())
    }
}

#[test]
fn paths_and_options_come_in_and_rules_and_a_report_go_out() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.jsonl"), crawl(0..150)).unwrap();
    fs::write(folder.path().join("b.jsonl"), crawl(150..300) + "{}\n").unwrap();
    let learned = learn([folder.path()], LearnOptions::default()).unwrap();
    let normalizer = dedust::Normalizer::compile(&learned.rules);
    assert_eq!(normalizer.key("http://a.example/p?id=7&sid=999").unwrap(), "http://a.example/p?id=7");
    assert_eq!(normalizer.key("http://b.example/p?id=7&sid=999").unwrap(), "http://b.example/p?id=7&sid=999");
    assert_eq!((&*learned.sites[0].site, learned.sites[0].saved), ("a.example", 200));
    assert_eq!((learned.read.rows.good, learned.read.rows.bad), (300, 1));
    assert!(learned.read.messages[0].ends_with("b.jsonl:151: no \"url\" column, row skipped: {}"));
    // By redirects nothing is known of this crawl.
    let options = LearnOptions { evidence: "redirect".parse().unwrap(), ..LearnOptions::default() };
    assert_eq!(learn([folder.path()], options).unwrap().rules.rule_count(), 0);
}

#[test]
fn what_cannot_be_done_is_refused() {
    let refused = |path: &str, options| learn([path], options).unwrap_err();
    let error = refused("/nowhere/crawl.jsonl", LearnOptions::default());
    assert!(matches!(&error, LearnError::Read(ReadCrawlError::Read(_))), "{error:?}");
    assert_eq!(error.to_string(), "cannot open /nowhere/crawl.jsonl");
    let error = refused("x", LearnOptions { max_loss: 2.0, ..LearnOptions::default() });
    assert_eq!(error.to_string(), "max_loss is 2, expected 0 to 1");
    let error = refused("x", LearnOptions { method: "naive".into(), ..LearnOptions::default() });
    assert!(error.to_string().starts_with("method is naive, expected canonfd"), "{error}");
    let nowhere = pipeline().temporary_in("/nowhere");
    let (_, learned) = nowhere.learn([opened(crawl(0..9))], &mut (), &());
    assert_eq!(learned.unwrap_err().to_string(), "cannot put what was read into the folder /nowhere");
}

#[test]
fn rules_are_the_same_if_memory_is_short_and_no_file_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let learned = |pipeline: Pipeline| -> (ReadReport, Training) {
        let (report, training) = pipeline.learn([opened(crawl(0..300))], &mut (), &());
        (report, training.unwrap())
    };
    let (report, expected) = learned(pipeline());
    assert_eq!((report.rows.good, expected.rules.rule_count()), (300, 1));
    let (_, on_disk) = learned(pipeline().held_bytes(0).temporary_in(folder.path()));
    assert_eq!(json(&on_disk.rules), json(&expected.rules));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_reading_that_was_ended_goes_on_where_it_ended() {
    let folder = tempfile::tempdir().unwrap();
    let folder: &Path = &folder.path().join("crawl");
    let pipeline = pipeline();
    let (report, read) = pipeline.read(folder, None, [opened(crawl(0..300))], &mut Rows(100));
    let Err(Unread { error, store: Some(store) }) = read else { panic!("it was ended after 100 rows") };
    assert!(matches!(error, LearnError::Read(ReadCrawlError::Ended)), "{error}");
    let from = (report.position.unwrap(), store.suspend().unwrap());
    assert_eq!((from.0.inputs, from.0.rows), (0, 100));
    let (report, read) = pipeline.read(folder, Some(from), [opened(crawl(0..300))], &mut ());
    let read = read.unwrap();
    assert_eq!((report.rows.good, read.rows(), read.is_on_disk()), (300, 300, true));
    let rules = pipeline.trainer().train_stored(&read, &()).unwrap().rules;
    let (_, expected) = pipeline.learn([opened(crawl(0..300))], &mut (), &());
    assert_eq!(json(&rules), json(&expected.unwrap().rules));
}
