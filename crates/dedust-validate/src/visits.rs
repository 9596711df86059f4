/*!
The pages of one site, as far as they were visited: pairs in, what comparing their pages says out.

Pages are fetched once, however many pairs they are part of; what is kept of them is small. Only pages that differ are visited again:
they are told apart by what stays of each from one visit to the next, so that a clock does not count against a rule.
*/

use std::collections::HashMap;

use dedust_fetch::{FetchError, Fetcher, Fingerprint, Noise, Visit};

use crate::pair::Pair;
use crate::trial::{Comparison, Liveness};

/// Why nothing is learned of a page.
const UNSTEADY: &str = "a page differs from itself at each visit";

/// The pages of a site.
pub(crate) struct Visits<'f> {
    fetcher: &'f Fetcher,
    known: HashMap<String, Result<Known, FetchError>>,
    noise: Noise,
}

/// What is kept of a visit.
#[derive(Clone)]
struct Known {
    fingerprint: Fingerprint,
    is_redirected: bool,
}

/// A page, and the visit itself if it was just made.
struct Seen {
    page: Known,
    visit: Option<Visit>,
}

impl<'f> Visits<'f> {
    /// None yet.
    pub(crate) fn new(fetcher: &'f Fetcher) -> Self {
        Self { fetcher, known: HashMap::new(), noise: Noise::default() }
    }

    /// Whether both URLs show one page.
    pub(crate) fn compare(&mut self, pair: &Pair) -> Comparison {
        let compared = self.permitted(pair).and_then(|()| {
            let url = self.see(&pair.url)?;
            match self.see(&pair.other) {
                Ok(other) => self.compare_seen(pair, url, other),
                Err(error) if error.is_missing() => Ok(Comparison::Different),
                Err(error) => Err(error),
            }
        });
        compared.unwrap_or_else(|error| Comparison::Failed(error.to_string()))
    }

    /// Whether the other URL is a canonical URL of the first.
    pub(crate) fn liveness(&mut self, pair: &Pair) -> Liveness {
        let seen = self.permitted(pair).and_then(|()| {
            let canonical = match self.see(&pair.other) {
                Ok(canonical) if canonical.page.is_redirected => return Ok(Liveness::Redirected),
                Ok(canonical) => canonical,
                Err(error) if error.is_missing() => return Ok(Liveness::Missing),
                Err(error) => return Err(error),
            };
            let url = self.see(&pair.url)?;
            Ok(match self.compare_seen(pair, url, canonical)? {
                Comparison::Same(_) => Liveness::Alive,
                Comparison::Different => Liveness::Different,
                Comparison::Failed(reason) => Liveness::Failed(reason),
            })
        });
        seen.unwrap_or_else(|error| Liveness::Failed(error.to_string()))
    }

    /// Whether a URL is known to show a page without a redirect.
    pub(crate) fn is_direct(&self, url: &str) -> bool {
        matches!(self.known.get(url), Some(Ok(page)) if !page.is_redirected)
    }

    /// Both are asked for permission before either is fetched.
    fn permitted(&self, pair: &Pair) -> Result<(), FetchError> {
        self.fetcher.check(&pair.url).and_then(|()| self.fetcher.check(&pair.other))
    }

    fn compare_seen(&mut self, pair: &Pair, url: Seen, other: Seen) -> Result<Comparison, FetchError> {
        if other.page.fingerprint.is_same_page(&url.page.fingerprint) {
            return Ok(Comparison::Same(Some(other.page.fingerprint)));
        }
        // One URL after the other, so that what changes slowly is the same in both.
        let (url, other) = (self.first(&pair.url, url)?, self.first(&pair.other, other)?);
        let (url_again, other_again) = (self.fetcher.visit(&pair.url)?, self.fetcher.visit(&pair.other)?);
        self.noise.learn(&url, &url_again);
        self.noise.learn(&other, &other_again);
        let steady = (self.noise.steady(&url, &url_again), self.noise.steady(&other, &other_again));
        Ok(match steady {
            (Some(url), Some(other)) if url.is_same_page(&other) => Comparison::Same(Some(other)),
            (Some(_), Some(_)) => Comparison::Different,
            _ => Comparison::Failed(UNSTEADY.into()),
        })
    }

    /// A visit whose page is still known in full.
    fn first(&self, url: &str, seen: Seen) -> Result<Visit, FetchError> {
        seen.visit.map_or_else(|| self.fetcher.visit(url), Ok)
    }

    fn see(&mut self, url: &str) -> Result<Seen, FetchError> {
        if let Some(known) = self.known.get(url) {
            return known.clone().map(|page| Seen { page, visit: None });
        }
        let fetched = self.fetcher.visit(url);
        let known = fetched.as_ref().map_err(Clone::clone).map(|visit| Known {
            fingerprint: visit.fingerprint.clone(),
            is_redirected: visit.is_redirected,
        });
        self.known.insert(url.to_owned(), known.clone());
        Ok(Seen { page: known?, visit: fetched.ok() })
    }
}
