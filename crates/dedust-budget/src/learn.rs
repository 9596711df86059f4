/*!
From a crawl to budgets: makes a plan, tries it, and says of each pattern what was found.
*/

use foldhash::{HashMap, HashMapExt as _};

use crate::budgets::{Budgets, FORMAT_VERSION, Pattern, Seen, Verdict};
use crate::corpus::Corpus;
use crate::crawl::{Crawl, Row};
use crate::plan::{Figures, LeaveOut, MIN_URLS, plan};
use crate::trial::allowed_loss;

/// URLs that are shown of a pattern.
const EXAMPLES: usize = 3;

/// Lines below which two lists are the same by chance.
const MIN_LIST_LINES: usize = 3;

/// Learns budgets. Of the new text of the crawl, the share `keep_text` is expected to be fetched still.
pub fn learn(crawl: Crawl, keep_text: f64) -> Budgets {
    let has_lines = crawl.has_lines();
    let names = crawl.host_names();
    let corpus = Corpus::new(crawl);
    let allowed = (1.0 - keep_text).max(0.0);
    let (expected, lost_text) = allowed_loss(&corpus, allowed);
    let plan = plan(&corpus, |_| true);
    let mut steps: Vec<Option<LeaveOut>> = vec![None; plan.figures.len()];
    for step in plan.up_to(expected) {
        steps[step.pattern as usize] = Some(step);
    }
    let own_total: f64 = plan.figures.iter().map(|figures| figures.own).sum();
    let halves = Halves::new(&corpus);
    let mut patterns = Vec::new();
    for ((name, host), (tree, first)) in
        names.iter().zip(&corpus.hosts).zip(plan.trees.iter().zip(&plan.first))
    {
        for (index, leaf) in tree.leaves.iter().enumerate() {
            let at = *first as usize + index;
            let (figures, step) = (&plan.figures[at], steps[at]);
            if (figures.urls as usize) < MIN_URLS {
                continue;
            }
            let rows: Vec<&Row> = leaf.rows.iter().map(|row| &corpus.rows[*row as usize]).collect();
            let seen = halves.seen(&rows, figures, own_total);
            let pattern = Pattern {
                id: String::new(),
                host: String::from_utf8_lossy(name).into_owned(),
                when: corpus.tests_of(host, leaf),
                fetch: step.map_or(1.0, |step| step.fetch),
                decided: false,
                verdict: verdict(&rows, figures, &seen, step),
                seen,
            };
            patterns.push(Pattern { id: pattern.computed_id(), ..pattern });
        }
    }
    patterns.sort_by(|left, right| {
        let saved = |pattern: &Pattern| ((1.0 - pattern.fetch) * pattern.seen.urls as f64).round() as u64;
        (saved(right), right.seen.urls, &left.id).cmp(&(saved(left), left.seen.urls, &right.id))
    });
    let urls = corpus.rows.len() as u64;
    Budgets { version: FORMAT_VERSION, keep_text, lost_text, has_lines, urls, patterns }
}

fn verdict(rows: &[&Row], figures: &Figures, seen: &Seen, step: Option<LeaveOut>) -> Verdict {
    if step.is_none() {
        return Verdict::WorthFetching;
    }
    let is_most = |urls: usize| 2 * urls > figures.urls as usize;
    let mut urls_of_page: HashMap<u64, usize> = HashMap::new();
    for row in rows {
        *urls_of_page.entry(row.page()).or_default() += 1;
    }
    if urls_of_page.values().any(|urls| is_most(*urls)) {
        return Verdict::Sink;
    }
    if is_most(rows.iter().filter(|row| is_reordered(row, &urls_of_page)).count()) {
        return Verdict::Facet;
    }
    if seen.late_urls >= 0.5 && seen.late_text < 0.25 {
        return Verdict::Endless;
    }
    Verdict::LowYield
}

/// Whether a URL with parameters shows the lines of another, and answers differently: the same list in another order.
fn is_reordered(row: &Row, urls_of_page: &HashMap<u64, usize>) -> bool {
    row.lines.len() >= MIN_LIST_LINES
        && row.url.contains(&b'?')
        && urls_of_page.get(&row.page()).is_some_and(|urls| *urls > 1)
}

/// The second half of a crawl, in its order.
struct Halves {
    middle: u64,
    /// When each line was met first.
    first_met: HashMap<u32, u64>,
}

impl Halves {
    fn new(corpus: &Corpus) -> Self {
        let mut orders: Vec<u64> = corpus.rows.iter().map(|row| row.order).collect();
        let middle = orders.len() / 2;
        let middle = if orders.is_empty() { 0 } else { *orders.select_nth_unstable(middle).1 };
        let mut first_met: HashMap<u32, u64> = HashMap::new();
        for row in &corpus.rows {
            for line in &row.lines {
                let first = first_met.entry(*line).or_insert(u64::MAX);
                *first = row.order.min(*first);
            }
        }
        Self { middle, first_met }
    }

    fn seen(&self, rows: &[&Row], figures: &Figures, own_total: f64) -> Seen {
        let urls = f64::from(figures.urls.max(1));
        let late = rows.iter().filter(|row| row.order >= self.middle).count();
        let (mut first, mut first_late) = (0u64, 0u64);
        for row in rows {
            let met_here =
                row.lines.iter().filter(|line| self.first_met.get(*line) == Some(&row.order)).count() as u64;
            first += met_here;
            first_late += if row.order >= self.middle { met_here } else { 0 };
        }
        let mut pages: Vec<(u64, &[u32])> = rows.iter().map(|row| (row.answer, &*row.lines)).collect();
        pages.sort_unstable();
        pages.dedup();
        let mut by_order: Vec<&&Row> = rows.iter().collect();
        by_order.sort_unstable_by_key(|row| row.hash);
        let examples =
            by_order.iter().take(EXAMPLES).map(|row| String::from_utf8_lossy(&row.url).into_owned());
        Seen {
            urls: figures.urls.into(),
            pages: pages.len() as u64,
            new_text: rounded(figures.new_share()),
            new_text_at_most: rounded(figures.new_at_most),
            share_of_text: rounded(figures.own / own_total.max(1.0)),
            late_urls: rounded(late as f64 / urls),
            late_text: rounded(first_late as f64 / first.max(1) as f64),
            examples: examples.collect(),
        }
    }
}

/// To four digits, which is what is written.
fn rounded(share: f64) -> f64 {
    (share * 10_000.0).round() / 10_000.0
}
