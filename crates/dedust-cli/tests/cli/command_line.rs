/*!
Arguments and help.
*/

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

const COMMANDS: [&str; 13] = [
    "learn",
    "normalize",
    "dedup",
    "seen",
    "rules",
    "compile",
    "groups",
    "evaluate",
    "compare",
    "explain",
    "tree",
    "validate",
    "simulate",
];

/// Reading comes after: that there is no input does not matter.
#[cfg(not(feature = "seq2seq"))]
#[test]
fn a_method_that_was_not_built_in_says_how_to_get_it() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.dedust(&["learn", "none.jsonl", "-o", "rules.json", "--method", "seq2seq"]), @r"
    exit 2
    --- stderr
    error: this build of dedust has no seq2seq
    hint: build it with `cargo build --release -p dedust-cli --features seq2seq`
    ");
    assert_snapshot!(sandbox.dedust(&["compare", "none.jsonl", "--methods", "standard,seq2seq"]), @r"
    exit 2
    --- stderr
    error: this build of dedust has no seq2seq
    hint: build it with `cargo build --release -p dedust-cli --features seq2seq`
    ");
}

#[test]
fn a_variant_is_refused_where_no_method_has_one() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.dedust(&["learn", "none.jsonl", "-o", "rules.json", "--variant", "paper"]), @r"
    exit 2
    --- stderr
    error: --variant says which model seq2seq trains, and is not for canonfd
    hint: ask for seq2seq, or leave --variant out
    ");
    assert_snapshot!(sandbox.dedust(&["compare", "none.jsonl", "--methods", "standard,tree-graph", "--variant", "copy"]), @r"
    exit 2
    --- stderr
    error: --variant says which model seq2seq trains, and is not for tree-graph, standard
    hint: ask for seq2seq, or leave --variant out
    ");
}

#[test]
fn unknown_values_are_refused_with_the_known_ones() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.dedust(&["learn", "-", "-o", "-", "--method", "tree-graf"]), @r"
    exit 2
    --- stderr
    error: invalid value 'tree-graf' for '--method <METHOD>'
      [possible values: canonfd, tree-graph, tree-naive, decision-tree, fanout-5, fanout-10, dustbuster, seq2seq, standard, keep-all]

      tip: a similar value exists: 'tree-graph'

    For more information, try '--help'.
    ");
    assert_snapshot!(sandbox.dedust(&["learn", "-", "-o", "-", "--evidence", "digest,shape"]), @r#"
    exit 2
    --- stderr
    error: invalid value 'digest,shape' for '--evidence <KINDS>': unknown kind of evidence "shape", expected cluster, canonical, redirect, digest, signature (or text_digest), main, simhash, shingles or size

    For more information, try '--help'.
    "#);
    assert_snapshot!(sandbox.dedust(&["learn", "-", "-o", "-", "--max-fpr", "5"]), @r"
    exit 2
    --- stderr
    error: --max-fpr is 5, expected 0 to 1
    hint: correct it, or leave it out
    ");
    assert_snapshot!(sandbox.dedust(&["learn", "-", "-o", "-", "--threads", "0"]), @r"
    exit 2
    --- stderr
    error: invalid value '0' for '--threads <N>': 0 is not in 1..=1024

    For more information, try '--help'.
    ");
}

#[test]
fn short_help_is_one_screen() {
    let sandbox = Sandbox::new();
    for command in COMMANDS {
        let run = sandbox.run(&[command, "-h"]);
        let help = String::from_utf8(run.stdout).unwrap();
        assert_eq!((run.status.code(), run.stderr.len()), (Some(0), 0));
        assert!(help.lines().count() <= 32, "{help}");
    }
}

#[test]
fn long_help_has_examples() {
    let sandbox = Sandbox::new();
    for command in COMMANDS {
        let run = sandbox.run(&[command, "--help"]);
        let help = String::from_utf8(run.stdout).unwrap();
        assert!(help.contains(&format!("  dedust {command} ")), "{help}");
        // What `simulate` writes is JSON Lines in any case, and what `compile` writes is never.
        assert!(matches!(command, "simulate" | "compile") || help.contains("With --format json"), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    }
    assert_snapshot!(sandbox.dedust(&["-h"]), @r"
    exit 0
    --- stdout
    Learn how websites spell their URLs, and rewrite every URL of a page to one form

    Usage: dedust [OPTIONS] <COMMAND>

    Commands:
      learn        Learn rules for every site of a crawl
      merge        Learn rules from the parts that `learn --part` has written
      collect      Put the rules of many sites, one in each row of a table, into one file
      budget       Learn which patterns of URLs bring nothing new, and how much of each to fetch
      cluster      Find which URLs of a crawl show the same page
      normalize    Rewrite URLs to their canonical form; tables get two columns more
      dedup        Print only URLs of pages that were not met before
      seen         Look after the set of `dedup --seen`: check, repair, end sessions
      serve        Answer crawlers in any language, and people, over HTTP
      rules        List, show and decide about the rules of a rule file
      compile      Bring rules into a form that opens at once, for any number of sites
      groups       Show which URLs of a crawl rules bring together, and what that saves
      report       Make a web page of what rules save, risk and leave of a crawl
      waste        Say in one sentence what of a crawl was not needed, and what is behind it
      evaluate     Tell how good rules are on URLs whose pages are known
      compare      Put methods side by side: what they save, lose and cost
      explain      Say which rules change a URL, what they do and why they are trusted
      validate     Fetch pages to confirm or refute rules
      tree         Print the pattern tree of a site
      simulate     Make synthetic sites whose pages are known
      man          Print the manual page, or write those of all commands into a folder
      completions  Print what a shell needs to complete commands and options
      help         Print this message or the help of the given subcommand(s)

    Options:
      -h, --help     Print help (see more with '--help')
      -V, --version  Print version

    Global options:
          --threads <N>  Threads to use, up to 1024 [default: one per core]
      -q, --quiet        Print data and errors only
      -v, --verbose      Print more about what is done
          --no-progress  Show no progress bars, also where standard error is a terminal
    ");
}

#[test]
fn quiet_and_verbose_exclude_each_other() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.run(&["learn", "-", "-o", "-", "-q", "-v"]).status.code(), Some(2));
}

#[test]
fn every_command_has_a_manual_page() {
    let sandbox = Sandbox::new();
    let first = sandbox.dedust(&["man"]);
    assert!(first.contains(".TH dedust 1") && first.contains("dedust\\-learn(1)"), "{first}");
    assert_snapshot!(sandbox.dedust(&["man", "-o", "man", "-q"]), @"exit 0");
    for command in COMMANDS {
        let page = sandbox.read(&format!("man/dedust-{command}.1"));
        assert!(page.contains(&format!("dedust {command}").replace('-', "\\-")), "{page}");
    }
    assert!(sandbox.read("man/dedust-seen-check.1").contains("SYNOPSIS"));
}

#[test]
fn shells_are_told_of_every_command() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish"] {
        assert_eq!(sandbox.dedust(&["completions", shell, "-o", shell]), "exit 0\n");
        let script = sandbox.read(shell);
        assert!(COMMANDS.iter().all(|command| script.contains(command)), "{shell}");
        assert!(script.contains("max-loss"), "{shell}");
    }
    let status = std::process::Command::new("bash").arg("-n").arg(sandbox.path("bash")).status();
    assert!(status.is_ok_and(|status| status.success()), "bash cannot read its script");
}

#[test]
fn what_is_printed_can_go_to_a_file() {
    let sandbox = Sandbox::with_rules();
    let url = "http://www.shop.example/view?id=7&sid=00000000deadbeef";
    for args in [
        &["explain", "rules.json", url][..],
        &["evaluate", "rules.json", "crawl.jsonl"],
        &["tree", "crawl.jsonl", "-q"],
        &["compare", "crawl.jsonl", "--methods", "standard", "--format", "json", "-q"],
    ] {
        let printed = sandbox.run(args);
        let written = sandbox.run(&[args, &["-o", "out.txt", "--force"]].concat());
        assert_eq!((written.status.code(), written.stdout.len()), (Some(0), 0), "{args:?}");
        let counted = |text: &str| text.lines().count();
        assert_eq!(counted(&sandbox.read("out.txt")), counted(&String::from_utf8_lossy(&printed.stdout)));
        let refused = sandbox.dedust(&[args, &["-o", "out.txt"]].concat());
        assert!(refused.contains("out.txt already exists"), "{refused}");
    }
    // What fails leaves no file.
    sandbox.run(&["explain", "missing.json", url, "-o", "none.txt"]);
    assert!(!sandbox.path("none.txt").exists());
}

#[test]
fn colour_is_for_terminals_or_for_those_who_ask() {
    let sandbox = Sandbox::new();
    let error = |args: &[&str]| String::from_utf8(sandbox.run(args).stderr).unwrap();
    for wrong in [&["explain", "missing.json", "http://a.example/"][..], &["nonsense"]] {
        let has_colour = |colour: &[&str]| error(&[colour, wrong].concat()).contains('\u{1b}');
        assert!(!has_colour(&[]) && !has_colour(&["--color", "never"]), "{wrong:?}");
        assert!(has_colour(&["--color", "always"]) && has_colour(&["--color=always"]), "{wrong:?}");
    }
}
