/*!
What rules promise to lose at most, beside what they lose.
*/

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use dedust::rules::Promise;
use dedust::{Normalizer, RuleSet};
use dedust_eval::Evaluation;

use crate::number::{count, counted, percent_of};
use crate::printer::Printer;
use crate::rule_file;
use crate::table::Table;

/// The promises of a rule file, by site. Compiled rules have none.
#[derive(Default)]
pub(super) struct Promises(BTreeMap<Box<str>, Promise>);

/// Rules to be evaluated.
pub(super) struct Opened {
    pub(super) normalizer: Normalizer,
    pub(super) promises: Promises,
    /// `None` if they are compiled.
    pub(super) rules: Option<RuleSet>,
}

/// Opens the rules at `path`, with what they promise.
pub(super) fn open(path: &Path, urls_on_stdin: bool) -> anyhow::Result<Opened> {
    let (rules, normalizer) = rule_file::open(path, urls_on_stdin)?.compiled();
    let promises = rules.as_ref().map(Promises::of_rules).unwrap_or_default();
    Ok(Opened { normalizer, promises, rules })
}

impl Promises {
    fn of_rules(rules: &RuleSet) -> Self {
        let promised = rules.sites().filter_map(|(site, rules)| Some((site.into(), rules.promise()?)));
        Self(promised.collect())
    }

    /// What the rules of a site promise.
    pub(super) fn of(&self, site: &str) -> Option<Promise> {
        self.0.get(site).copied()
    }

    /// A table of what was promised and what was found.
    pub(super) fn print(&self, evaluation: &Evaluation, printer: &mut Printer) -> io::Result<()> {
        let mut table =
            Table::new(&["site", "pages lost, at most, 95 %", "share", "pages lost here", "share", "kept"]);
        let (mut rows, mut unclear) = (0, 0);
        for (site, scores) in &evaluation.sites {
            let Some(Promise { lost, pages }) = self.of(site) else { continue };
            let found = scores.key.lost;
            // Shares are compared: the URLs may be others than those that were learned from.
            let is_kept =
                u128::from(found) * u128::from(pages) <= u128::from(lost) * u128::from(scores.key.pages);
            table.push([
                site.to_string(),
                format!("{} of {}", count(lost), count(pages)),
                percent_of(lost, pages),
                format!("{} of {}", count(found), count(scores.key.pages)),
                percent_of(found, scores.key.pages),
                if is_kept { "yes" } else { "no" }.to_owned(),
            ]);
            rows += 1;
            unclear += scores.key.pages - scores.key.covered - found;
        }
        if rows == 0 {
            return Ok(());
        }
        printer.line("")?;
        printer.line(table)?;
        if unclear > 0 {
            printer.line(format_args!(
                "besides, {} by labels alone: too little is known of what is shown, or it differs no more than two fetches of one page",
                counted(unclear, "page", "pages"),
            ))?;
        }
        Ok(())
    }
}
