/*!
How much work is done to choose the rules of a site: no more than its size allows, whatever its URLs are.
*/

use rayon::prelude::*;

use super::search::{Candidate, Search};
use crate::corpus::Corpus;
use crate::thresholds;

/// The work that may be done to choose the rules of a site.
pub(super) fn max_work(corpus: &Corpus) -> u64 {
    let bytes: usize = (0..corpus.len() as u32).map(|row| corpus.url(row).len()).sum();
    (thresholds::work::PER_BYTE * bytes as u64).max(thresholds::work::MIN)
}

impl Search<'_> {
    /// What is found out about candidates, in their order, as far as that can be afforded: how much work is done is bounded by
    /// the size of a site, so that none takes much longer than others.
    pub(super) fn each_affordable<T: Send>(
        &self,
        candidates: Vec<Candidate>,
        find_out: impl Fn(Candidate) -> T + Sync,
    ) -> Vec<T> {
        let mut found = Vec::with_capacity(candidates.len());
        let mut candidates = candidates.into_iter().peekable();
        while candidates.peek().is_some() {
            let left = self.max_work.saturating_sub(self.table.work());
            let mut together = Vec::new();
            let mut work = 0;
            while work < left / thresholds::work::AT_ONCE_ONE_IN
                && let Some(candidate) = candidates.next()
            {
                let more = self.table.work_for(&candidate.draft);
                if work + more <= left {
                    work += more;
                    together.push(candidate);
                }
            }
            if together.is_empty() {
                break;
            }
            found.par_extend(together.into_par_iter().map(&find_out));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proof::Proof;
    use crate::{Clues, Crawl, EvidenceKinds};

    /// Learns from URLs of `p.example`, each with the number of its page; the work, what may be done, and the bytes of the URLs.
    fn work_of(urls: impl Iterator<Item = (String, u32)>) -> (u64, u64, u64) {
        let mut crawl = Crawl::new(EvidenceKinds::AUTO);
        let mut bytes = 0;
        for (url, page) in urls {
            let (url, page) = (format!("http://p.example/{url}"), page.to_string());
            bytes += url.len() as u64;
            let _ =
                crawl.observe(url.as_bytes(), &Clues { cluster: Some(page.as_bytes()), ..Clues::default() });
        }
        let corpora = crawl.into_corpora();
        let mut search = Search::new(&corpora[0], Proof::default(), 0.0);
        search.run();
        (search.table.work(), search.max_work, bytes)
    }

    /// A name or value that looks random.
    fn noise(number: u32) -> u32 {
        number.wrapping_mul(0x9e37_79b1) >> 7
    }

    #[test]
    fn the_work_is_bounded_by_the_bytes_of_the_urls() {
        let params = |row: u32, names: u32| {
            let param = |at: u32| format!("a{}={}", noise(row * 997 + at) % names, noise(row + 31 * at) % 9);
            format!("p?{}", (0..200).map(param).collect::<Vec<_>>().join("&"))
        };
        let path =
            |row: u32| (0..200).map(|at| format!("{}/", noise(row * 997 + at) % 3)).collect::<String>();
        type Url<'u> = &'u dyn Fn(u32) -> String;
        let hostile: [(&str, Url<'_>); 4] = [
            ("many names", &|row| params(row, 2000)),
            ("one name", &|row| params(row, 1)),
            ("deep paths", &path),
            ("new names", &|row| format!("p?x{row}=1&id={}", row / 3)),
        ];
        for (what, url) in hostile {
            let (work, max_work, bytes) = work_of((0..900).map(|row| (url(row), row / 3)));
            assert!(max_work <= (thresholds::work::PER_BYTE * bytes).max(thresholds::work::MIN), "{what}");
            assert!(work <= 2 * max_work, "{what}: {work} of {max_work}");
        }
    }

    #[test]
    fn an_honest_site_needs_a_small_part_of_what_it_may_take() {
        let url = |row: u32| (format!("view?id={}&sid={:x}", row / 3, noise(row)), row / 3);
        let (work, max_work, _) = work_of((0..900).map(url));
        assert!(0 < work && 5 * work < max_work, "{work} of {max_work}");
    }
}
