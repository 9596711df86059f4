/*!
`dedust simulate --lies`: synthetic sites whose titles, texts and links lie about their pages.
*/

use anyhow::Context as _;
use dedust_simulate::{InvalidSiteSpec, Lies, LyingSite, LyingSpec};

use super::SimulateArgs;
use crate::ExitStatus;
use crate::cmd::simulate::{Written, write_sites};
use crate::number::{count, percent};
use crate::printer::Printer;
use crate::table::Table;

/// Sites, and URLs per site, if nothing is said.
const DEFAULT_SITES: u32 = 20;
const DEFAULT_URLS: u64 = 4_000;

/// Makes the sites, each with all of `lies`, and writes them.
pub(super) fn run(lies: Lies, args: &SimulateArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    let sites = plan(lies, args).context("no such sites can be made")?;
    let urls: u64 = sites.iter().map(LyingSite::urls).sum();
    let pages: u64 = sites.iter().map(LyingSite::pages).sum();
    let written: Vec<Written<'_>> = sites
        .iter()
        .map(|site| Written {
            domain: site.spec().domain(),
            urls: site.urls(),
            pages: site.pages(),
            ways: format!("noise {}, {}", site.spec().chosen_noise(), site.spec().chosen_lies()),
            write: Box::new(|observations, truth| site.write_json_lines(observations, truth)),
        })
        .collect();
    let seconds = write_sites(&written, args, printer)?;
    let mut table = Table::new(&["lies", "sites", "URLs", "pages", "duplicates", "seconds", "URLs/s"]);
    table.push([
        lies.len().to_string(),
        count(sites.len() as u64),
        count(urls),
        count(pages),
        percent(1.0 - pages as f64 / urls.max(1) as f64),
        format!("{seconds:.1}"),
        count((urls as f64 / seconds) as u64),
    ]);
    printer.note(table);
    Ok(ExitStatus::Success)
}

/// The sites, with pages that no two of them share.
fn plan(lies: Lies, args: &SimulateArgs) -> Result<Vec<LyingSite>, InvalidSiteSpec> {
    let urls = args.urls.unwrap_or(DEFAULT_URLS);
    let mut first_page = 0;
    let site = |number: u32| {
        let spec = LyingSpec::new(format!("site-{number:04}.example"), urls)
            .lies(lies)
            .seed(args.seed.wrapping_mul(1_000_000).wrapping_add(u64::from(number)))
            .first_page(first_page);
        let site = LyingSite::new(spec)?;
        first_page = site.page_end();
        Ok(site)
    };
    (1..=args.sites.unwrap_or(DEFAULT_SITES)).map(site).collect()
}
