/*!
What a page shows at one visit, and what of it stays at the next.

Pages have clocks, counters and advertisements in them, so that a page may differ from itself. Two visits of each of two pages tell
whether the pages differ in more: what one visit shows and the other does not is [`Noise`] of the site, and is left out of all
its pages; what remains has a [`Fingerprint`] and is compared as pages are.
*/

use std::collections::HashSet;

use crate::Fingerprint;
use crate::passages::Passages;

/// Passages that are remembered as noise of a site.
const MAX_NOISE: usize = 1 << 18;

/// A page, and how it was reached.
#[derive(Clone, Debug)]
pub struct Visit {
    /// All that is needed to compare the page.
    pub fingerprint: Fingerprint,
    /// Whether another URL showed it.
    pub is_redirected: bool,
    /// Those of a text that says something.
    pub(crate) passages: Option<Passages>,
}

/// What pages of a site showed at one visit and not at another.
#[derive(Clone, Debug, Default)]
pub struct Noise {
    passages: HashSet<u64>,
}

impl Noise {
    /// Learns from two visits of one page.
    pub fn learn(&mut self, first: &Visit, second: &Visit) {
        if let (Some(first), Some(second)) = (&first.passages, &second.passages) {
            let room = MAX_NOISE.saturating_sub(self.passages.len());
            self.passages.extend(first.without(second).chain(second.without(first)).take(room));
        }
    }

    /// What stays of a page from one visit to another and is no noise. `None` if that is less than half of it, and nothing can be told.
    /// What has no text, or a short one, stays only as a whole.
    pub fn steady(&self, first: &Visit, second: &Visit) -> Option<Fingerprint> {
        let (Some(seen), Some(again)) = (&first.passages, &second.passages) else {
            let is_same = first.fingerprint.is_same_body(&second.fingerprint);
            return is_same.then(|| first.fingerprint.clone());
        };
        let is_steady = |passage: &u64| again.has(*passage) && !self.passages.contains(passage);
        let steady: Vec<u64> = seen.hashes.iter().copied().filter(is_steady).collect();
        let title = seen.title.filter(|title| again.title == Some(*title));
        (2 * steady.len() >= seen.hashes.len().max(again.hashes.len()))
            .then(|| Fingerprint::of_passages(&steady, title))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visit(text: &str) -> Visit {
        let html = format!("<body>{text}");
        let (fingerprint, passages) = Fingerprint::with_passages(html.as_bytes(), Some("text/html"));
        Visit { fingerprint, is_redirected: false, passages }
    }

    fn words(seed: u32) -> String {
        (0..30).map(|at| format!("w{} ", (31 * seed + at).wrapping_mul(2_654_435_761) >> 12)).collect()
    }

    /// Two visits of a page whose clock goes on.
    fn visits(seed: u32, clock: u32) -> [Visit; 2] {
        [0, 1].map(|later| visit(&format!("{}It is {} seconds past.", words(seed), clock + later)))
    }

    /// What stays of each page.
    fn steady(noise: &mut Noise, pages: &[[Visit; 2]]) -> Vec<Option<Fingerprint>> {
        pages.iter().for_each(|[first, second]| noise.learn(first, second));
        pages.iter().map(|[first, second]| noise.steady(first, second)).collect()
    }

    #[test]
    fn what_changes_at_each_visit_is_left_out() {
        let pages = [visits(1, 10), visits(1, 20), visits(2, 30)];
        assert!(!pages[0][0].fingerprint.is_same_page(&pages[1][0].fingerprint));
        let steady = steady(&mut Noise::default(), &pages);
        let [Some(one), Some(same), Some(other)] = &steady[..] else { panic!("{steady:?}") };
        assert!(one.is_same_page(same) && !one.is_same_page(other));
    }

    #[test]
    fn noise_of_one_page_is_noise_of_all() {
        // An advertisement that the other page happened to show twice.
        let [old, new] = ["Buy a red boat.", "Buy a blue car."].map(|ad| visit(&format!("{}{ad}", words(1))));
        let pages = [[old.clone(), old], [visit(&format!("{}Buy a red boat.", words(1))), new]];
        let steady = steady(&mut Noise::default(), &pages);
        let [Some(one), Some(same)] = &steady[..] else { panic!("{steady:?}") };
        assert!(one.is_same_page(same));
    }

    #[test]
    fn a_page_that_is_another_at_each_visit_says_nothing() {
        let pages = [[visit(&words(1)), visit(&words(2))], [visit("short 1"), visit("short 2")]];
        assert_eq!(steady(&mut Noise::default(), &pages), [None, None]);
        let short = [visit("short"), visit("short")];
        assert!(steady(&mut Noise::default(), &[short])[0].is_some());
    }
}
