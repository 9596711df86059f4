/*!
The bar of `dedust compare`, drawn by the conventions of [`crate::progress`].
*/

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};

use crate::printer::Printer;

const TEMPLATE: &str = "comparing [{wide_bar}] {human_pos}/{human_len} {msg}, {elapsed}";
const REDRAW: Duration = Duration::from_millis(100);

/// A bar of this many steps, hidden where no one can see it.
pub(super) fn bar(printer: &Printer, steps: u64) -> ProgressBar {
    if !printer.shows_bars() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(TEMPLATE).unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr())
        .with_style(style.progress_chars("=> "))
        .with_message("methods on sites")
        .with_finish(ProgressFinish::AndClear);
    if !bar.is_hidden() {
        bar.enable_steady_tick(REDRAW);
    }
    bar
}
