/*!
Bars on standard error for those who wait, and only when they can see them.

indicatif draws nothing unless standard error is a terminal. Bars are wiped when dropped, so that what remains on the
screen is the report.
*/

use std::fmt;
use std::time::Duration;

use dedust_learn::{Progress, SiteReport};
use indicatif::{
    MultiProgress, ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressState, ProgressStyle,
};

use crate::number::count;
use crate::printer::Printer;

const REDRAW: Duration = Duration::from_millis(100);
/// Rows counted before the bar is told.
const ROWS_AT_ONCE: u64 = 4096;

/// Rows read so far, of unknown many.
pub(crate) struct Reading {
    bar: ProgressBar,
    untold: u64,
}

/// Sites learned so far.
pub(crate) struct Learning {
    bar: ProgressBar,
}

fn bar(printer: &Printer, template: &str) -> ProgressBar {
    if !printer.shows_bars() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())
        .with_style(style.progress_chars("=> ").with_key("rate", write_rate))
        .with_finish(ProgressFinish::AndClear);
    if !bar.is_hidden() {
        bar.enable_steady_tick(REDRAW);
    }
    bar
}

fn write_rate(state: &ProgressState, out: &mut dyn fmt::Write) {
    // A bar that cannot be drawn has no one to tell.
    let _ = out.write_str(&count(state.per_sec() as u64));
}

impl Reading {
    /// Starts to count rows.
    pub(crate) fn new(printer: &Printer) -> Self {
        Self { bar: bar(printer, "{spinner} reading {wide_msg} {human_pos} rows, {rate} rows/s"), untold: 0 }
    }

    /// Names the input being read.
    pub(crate) fn open(&self, name: &str) {
        self.bar.set_message(name.to_owned());
    }

    /// Counts a row.
    pub(crate) fn row(&mut self) {
        self.untold += 1;
        if self.untold == ROWS_AT_ONCE {
            self.bar.inc(std::mem::take(&mut self.untold));
        }
    }
}

impl Learning {
    /// Starts to count sites.
    pub(crate) fn new(printer: &Printer) -> Self {
        Self { bar: bar(printer, "learning [{wide_bar}] {human_pos}/{human_len} sites, {elapsed} {msg}") }
    }
}

/// Rules being validated, a bar for each.
pub(crate) struct Validating {
    bars: MultiProgress,
}

/// Pairs of one rule.
pub(crate) struct ValidatingRule {
    bar: ProgressBar,
}

impl Validating {
    /// No rules yet.
    pub(crate) fn new(printer: &Printer) -> Self {
        let target =
            if printer.shows_bars() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        Self { bars: MultiProgress::with_draw_target(target) }
    }

    /// Starts to count the pairs of a rule, of which `needed` must be the same.
    pub(crate) fn rule(&self, name: String, needed: u64) -> ValidatingRule {
        let style = ProgressStyle::with_template("{prefix} [{wide_bar}] {pos}/{len} {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::new(needed).with_style(style.progress_chars("=> ")).with_prefix(name);
        ValidatingRule { bar: self.bars.add(bar) }
    }
}

impl ValidatingRule {
    /// Says what is known of the pairs so far.
    pub(crate) fn counts(&self, same: u64, different: u64, failed: u64) {
        self.bar.set_position(same);
        self.bar.set_message(format!("same, {} different, {} failed", count(different), count(failed)));
    }
}

impl Drop for ValidatingRule {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Progress for Learning {
    fn start(&self, sites: usize) {
        self.bar.set_length(sites as u64);
    }

    fn epoch_done(&self, site: &str, epoch: usize, held_out_loss: f64, exact_match: f64) {
        let figures = format!("loss {held_out_loss:.3}, {:.1} % exact", 100.0 * exact_match);
        self.bar.set_message(format!("{site}: epoch {epoch}, {figures}"));
    }

    fn site_done(&self, _: &SiteReport) {
        self.bar.inc(1);
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for Learning {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
