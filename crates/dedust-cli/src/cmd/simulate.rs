/*!
`dedust simulate`: synthetic sites, as observations for learners and as the truth to judge them by.
*/

mod args;
mod lies;

pub(crate) use self::args::SimulateArgs;

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Instant;

use anyhow::Context as _;
use dedust_io::{OutputFile, WriteError};
use dedust_simulate::{Lie, Noise, Phenomenon, Profile, Site, Statistics};
use rayon::prelude::*;

use self::args::ObservationFormat;
use crate::ExitStatus;
use crate::failure::refuse;
use crate::line_source::is_dash;
use crate::number::{count, percent};
use crate::printer::Printer;
use crate::progress;
use crate::table::Table;

/// The folder of files that say which page a URL shows.
const TRUTH: &str = "_truth";

/// The template of the progress bar.
const BAR: &str = "simulating [{wide_bar}] {human_pos}/{human_len} URLs, {elapsed}";

/// Makes the sites and writes them.
pub(crate) fn run(args: &SimulateArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    let ObservationFormat::Jsonl = args.format;
    if let Some(lies) = args.lies {
        return lies::run(lies, args, printer);
    }
    let sites = plan(args)?;
    let statistics = Statistics::of(&sites);
    let written: Vec<Written<'_>> = sites
        .iter()
        .map(|site| Written {
            domain: site.spec().domain(),
            urls: site.urls(),
            pages: site.pages(),
            ways: site.spec().chosen_phenomena().to_string(),
            write: Box::new(|observations, truth| site.write_json_lines(observations, truth)),
        })
        .collect();
    let seconds = write_sites(&written, args, printer)?;
    printer.note(summary(args.profile, sites.len(), &statistics, seconds));
    Ok(ExitStatus::Success)
}

/// A site that is to be written.
struct Written<'s> {
    domain: &'s str,
    urls: u64,
    pages: u64,
    /// In which ways its pages have many URLs.
    ways: String,
    /// Writes its observations and the truth.
    write: WriteSite<'s>,
}

type WriteSite<'s> = Box<dyn Fn(&mut dyn io::Write, &mut dyn io::Write) -> io::Result<()> + Sync + 's>;

/// Writes sites where the arguments say; how many seconds it took.
fn write_sites(sites: &[Written<'_>], args: &SimulateArgs, printer: &mut Printer) -> anyhow::Result<f64> {
    let started = Instant::now();
    let bar = progress::bar(printer, BAR, Some(sites.iter().map(|site| site.urls).sum()));
    if is_dash(&args.output) {
        for site in sites {
            (site.write)(printer.data(), &mut io::sink())?;
            bar.inc(site.urls);
        }
    } else {
        prepare(&args.output, args.force)?;
        sites.par_iter().try_for_each(|site| {
            write_files(site.domain, args, |observations, truth| (site.write)(observations, truth))
                .inspect(|()| bar.inc(site.urls))
        })?;
    }
    bar.finish_and_clear();
    for site in sites {
        let (urls, pages) = (count(site.urls), count(site.pages));
        printer.detail(format_args!("{}: {urls} URLs, {pages} pages, {}", site.domain, site.ways));
    }
    Ok(started.elapsed().as_secs_f64())
}

fn plan(args: &SimulateArgs) -> anyhow::Result<Vec<Site>> {
    let profile = args.profile;
    let sites = args.sites.map_or(profile.default_sites(), |sites| sites as usize);
    let urls = args.urls.unwrap_or(profile.default_mean_urls());
    let noise = Noise { fake: args.fake, fragmented: args.fragmented };
    let specs = profile.site_specs_of(args.phenomena, sites, urls, args.seed).into_iter().map(|spec| {
        let spec = spec.noise(noise);
        match args.singletons {
            Some(share) => spec.dilute(share),
            None => spec,
        }
    });
    Profile::plan(specs).context("no such sites can be made")
}

/// Makes sure that there is a folder, and nothing in it that is not to be lost.
fn prepare(folder: &Path, force: bool) -> anyhow::Result<()> {
    let made = |folder: &Path| {
        fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))
    };
    made(folder)?;
    let mut entries =
        fs::read_dir(folder).with_context(|| format!("cannot read the folder {}", folder.display()))?;
    if !force && entries.next().is_some() {
        return refuse(
            format!("the folder {} is not empty", folder.display()),
            "choose another one, or overwrite files in it with --force",
        );
    }
    made(&folder.join(TRUTH))
}

/// `DOMAIN.jsonl` and `_truth/DOMAIN.jsonl`, each complete or not there. Folders that start with `_` are not read by learners.
fn write_files(
    domain: &str,
    args: &SimulateArgs,
    write: impl FnOnce(&mut OutputFile, &mut OutputFile) -> io::Result<()>,
) -> Result<(), WriteError> {
    let name = format!("{domain}.jsonl");
    let path = args.output.join(&name);
    let mut observations = OutputFile::create(&path, args.force)?;
    let mut truth = OutputFile::create(args.output.join(TRUTH).join(name), args.force)?;
    write(&mut observations, &mut truth).map_err(|source| WriteError::Write { path, source })?;
    observations.commit()?;
    truth.commit()
}

fn summary(profile: Profile, sites: usize, statistics: &Statistics, seconds: f64) -> Table {
    let mut table = Table::new(&[
        "profile",
        "sites",
        "URLs",
        "pages",
        "duplicates",
        "largest cluster",
        "seconds",
        "URLs/s",
    ]);
    let spared = 1.0 - statistics.pages as f64 / statistics.urls.max(1) as f64;
    table.push([
        profile.to_string(),
        count(sites as u64),
        count(statistics.urls),
        count(statistics.pages),
        percent(spared),
        count(statistics.urls_per_page.max),
        format!("{seconds:.1}"),
        count((statistics.urls as f64 / seconds) as u64),
    ]);
    table
}

/// What `--help` says beyond the list of options.
pub(crate) fn long_help() -> String {
    let mut text = String::from(
        r#"Examples:
  dedust simulate -o sites --sites 20 --urls 10000
  dedust simulate -o sites --profile small --fake 0.05 --fragmented 0.02
  dedust simulate -o - --sites 1 --phenomena mirrors,glued-slug | head
  dedust simulate -o sites --lies canonical-to-home,soft-error

DIR/DOMAIN.jsonl is for learners and has a line {"url":..,"cluster":..} per URL, in the order a crawler might meet them. DIR/_truth/DOMAIN.jsonl has {"url":..,"page":..}, in the same order: the page, where `cluster` is what a hash of its content would say. `dedust learn DIR` does not read it, since names that start with _ are left out. All domains are reserved for examples. The same options give the same bytes.

Profiles:
  www10  the statistics of the WWW 2010 paper on pattern trees: 24,147 to
         3,000,000 URLs per site, 3.8 per page; eight phenomena per site
  small  one phenomenon per site, to test learners

Phenomena:
"#,
    );
    push_list(&mut text, &Phenomenon::ALL.map(|phenomenon| (phenomenon.name(), phenomenon.description())));
    text.push_str(
        r#"
With --lies there are no labels. A line of DIR/DOMAIN.jsonl has what a crawler sees, "status", "title", "text_digest", "simhash", "words", "canonical" and "redirect", and these lie on each site in all of the ways that are named. Every site also has honest duplicates: with and without TLS and www, tracking parameters, session ids. Whoever believes the lies merges pages that differ, which the truth shows.

Lies:
"#,
    );
    push_list(&mut text, &Lie::ALL.map(|lie| (lie.name(), lie.description())));
    text.truncate(text.trim_end().len());
    text
}

/// Appends a line for each name and what is said of it.
fn push_list(text: &mut String, entries: &[(&str, &str)]) {
    let width = entries.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, description) in entries {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {name:<width$}  {description}");
    }
}
