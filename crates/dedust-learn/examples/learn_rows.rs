/*!
Learns rules from rows: a URL, a tab and the digest of its page in each line of standard input, a rule file on standard output.

    cargo run --release -p dedust-learn --example learn_rows < ROWS > RULES

Any other evidence is given in the same way: see `Clues`.
*/

use std::error::Error;
use std::io::{self, BufRead, Write};

use dedust_learn::{Clues, Crawl, EvidenceKinds, Trainer, Training};

fn main() -> Result<(), Box<dyn Error>> {
    let training = learn_rows(io::stdin().lock())?;
    for site in &training.sites {
        writeln!(io::stderr(), "{}: {} fetches saved", site.site, site.saved)?;
    }
    training.rules.save(io::stdout().lock())?;
    Ok(())
}

/// Learns from all rows. Those without a digest count too: they show which URLs the site has.
fn learn_rows(input: impl BufRead) -> Result<Training, Box<dyn Error>> {
    // In memory. A `CrawlStore` is for crawls that do not fit, and samples large sites.
    let mut crawl = Crawl::new(EvidenceKinds::AUTO);
    for line in input.split(b'\n') {
        let line = line?;
        let mut fields = line.trim_ascii_end().split(|byte| *byte == b'\t');
        let url = fields.next().unwrap_or_default();
        // What is no URL is data of the crawl, and no failure.
        if let Err(error) = crawl.observe(url, &Clues { digest: fields.next(), ..Clues::default() }) {
            writeln!(io::stderr(), "{}: {error}", url.escape_ascii())?;
        }
    }
    Ok(Trainer::builder().build()?.train(&crawl.into_corpora(), &())?)
}

#[test]
fn a_parameter_that_never_changes_the_page_is_dropped() -> Result<(), Box<dyn Error>> {
    let mut rows = String::from("not a URL\tx\nhttp://a.example/p?id=1\n");
    for page in 0..50 {
        rows += &format!("http://a.example/p?id={page}\t{page:032x}\n");
        rows += &format!("http://a.example/p?id={page}&sid={:x}\t{page:032x}\n", page * 7919);
    }
    let training = learn_rows(rows.as_bytes())?;
    assert_eq!(training.sites[0].saved, 50);
    let normalizer = dedust::Normalizer::compile(&training.rules);
    assert_eq!(normalizer.normalize("http://a.example/p?id=70&sid=1")?, "http://a.example/p?id=70");
    assert_eq!(normalizer.normalize("http://a.example/p?id=70&page=2")?, "http://a.example/p?id=70&page=2");
    Ok(())
}
