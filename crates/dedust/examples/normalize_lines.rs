/*!
Normalizes a stream of URLs: one URL in each line of standard input, its canonical URL in the same line of standard output.

    cargo run --release -p dedust --example normalize_lines -- RULES < URLS

`RULES` is a rule file, as `dedust learn` writes it. What is no URL stays as it is, and is counted.
*/

use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};

use dedust::{Normalizer, Scratch};

fn main() -> Result<(), Box<dyn Error>> {
    let rules = std::env::args_os().nth(1).ok_or("expected a rule file: normalize_lines RULES < URLS")?;
    // Rules of strangers could move URLs to any domain by mirrors; without them, URLs stay within their site.
    let normalizer = Normalizer::compile_from(BufReader::new(File::open(rules)?))?.without_mirrors();
    let mut output = io::BufWriter::new(io::stdout().lock());
    let bad = normalize_lines(&normalizer, io::stdin().lock(), &mut output)?;
    output.flush()?;
    writeln!(io::stderr(), "{bad} lines are no URLs")?;
    Ok(())
}

/// Writes the canonical URL of each line, and returns the number of lines that are no URLs.
fn normalize_lines(
    normalizer: &Normalizer,
    mut input: impl BufRead,
    mut output: impl Write,
) -> io::Result<u64> {
    // One per thread: nothing is allocated for a URL.
    let mut scratch = Scratch::default();
    let (mut line, mut bad) = (Vec::new(), 0);
    while input.read_until(b'\n', &mut line)? > 0 {
        let url = line.trim_ascii();
        let canonical = normalizer.normalize_with(url, &mut scratch).unwrap_or_else(|_| {
            bad += 1;
            url
        });
        output.write_all(canonical)?;
        output.write_all(b"\n")?;
        line.clear();
    }
    Ok(bad)
}

#[test]
fn each_line_becomes_the_canonical_url_of_that_line() -> Result<(), Box<dyn Error>> {
    let rules = r#"{"version": 1, "sites": {"example.org": {"rules": [{"change": [{"drop": "q.sid"}], "fetchable": true}]}}}"#;
    let normalizer = Normalizer::compile_from(rules.as_bytes())?;
    let input = "http://example.org/view?sid=9&id=1\r\nnot a URL\nhttp://other.example:80/?sid=9";
    let mut output = Vec::new();
    assert_eq!(normalize_lines(&normalizer, input.as_bytes(), &mut output)?, 1);
    assert_eq!(
        String::from_utf8(output)?,
        "http://example.org/view?id=1\nnot a URL\nhttp://other.example/?sid=9\n"
    );
    Ok(())
}
