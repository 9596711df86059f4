/*!
Phase 3: tries rules on URLs whose pages are known, and keeps those that hold.

"Fetching" a page is looking up the URL in the corpus. The outcome of a rule that is not there says nothing, unlike
the failed fetch of the paper. URLs are tried in the order of their hashes, which is as good as chance and the
same each time.
*/

use dedust_learn::Corpus;
use xxhash_rust::xxh3::xxh3_64;

use super::Options;
use super::eliminate::Comparable;
use super::likeness::Likeness;
use super::tokens::{END, START, TokenList};

/// A rule that holds, and how that came out.
#[derive(Debug)]
pub(super) struct ValidRule<'t> {
    pub(super) from: &'t [u32],
    pub(super) to: &'t [u32],
    pub(super) trial: Trial,
}

/// What trying a rule brought to light.
#[derive(Debug, Default)]
pub(super) struct Trial {
    /// URLs with the duplicates that the rule makes of them.
    pub(super) agreed: Vec<(u32, u32)>,
    /// URLs of which it makes another page.
    pub(super) disagreed: usize,
}

#[derive(Debug)]
enum Verdict {
    Valid(Trial),
    Refuted,
    Unknown,
}

impl Verdict {
    /// The same on the rule in the other direction.
    fn turned(self) -> Self {
        match self {
            Self::Valid(mut trial) => {
                trial.agreed.iter_mut().for_each(|pair| *pair = (pair.1, pair.0));
                Self::Valid(trial)
            }
            other => other,
        }
    }
}

/// The rules that hold, in the order given. A rule that refines one that holds adds nothing and is passed over.
pub(super) fn validate<'t>(
    store: &Store<'t>,
    likeness: Likeness<'_>,
    rules: &[Comparable<'t>],
    options: &Options,
) -> Vec<ValidRule<'t>> {
    let min_tests = options.min_tests_for(store.corpus.len());
    let mut held: Vec<&Comparable<'_>> = Vec::new();
    let mut valid = Vec::new();
    for rule in rules {
        if held.iter().any(|general| rule.refines(general)) {
            continue;
        }
        let tried = |from, to| store.try_rule(likeness, from, to, min_tests, options);
        let verdict = match tried(rule.from, rule.to) {
            // Known backwards only: the pairs are the same ones.
            Verdict::Unknown => tried(rule.to, rule.from).turned(),
            verdict => verdict,
        };
        if let Verdict::Valid(trial) = verdict {
            held.push(rule);
            valid.push(ValidRule { from: rule.from, to: rule.to, trial });
        }
    }
    valid
}

/// The URLs of a site, to be found by text and by token.
#[derive(Debug)]
pub(super) struct Store<'t> {
    corpus: &'t Corpus,
    tokens: &'t TokenList,
    /// Hashes of the URLs; rows are in their order.
    hashes: Vec<u64>,
    /// The rows with token `i` are `rows[ends[i - 1]..ends[i]]`.
    rows: Vec<u32>,
    ends: Vec<usize>,
    all_rows: Vec<u32>,
}

impl<'t> Store<'t> {
    pub(super) fn new(corpus: &'t Corpus, tokens: &'t TokenList) -> Self {
        let all_rows: Vec<u32> = (0..corpus.len() as u32).collect();
        let hashes = all_rows.iter().map(|&row| xxh3_64(corpus.url(row))).collect();
        let mut met = vec![u32::MAX; tokens.token_count()];
        let mut postings: Vec<(u32, u32)> = Vec::new();
        for &row in &all_rows {
            for &token in tokens.row(row) {
                if std::mem::replace(&mut met[token as usize], row) != row && token != START && token != END {
                    postings.push((token, row));
                }
            }
        }
        postings.sort_unstable();
        let mut ends = vec![0; tokens.token_count()];
        for (index, &(token, _)) in postings.iter().enumerate() {
            ends[token as usize] = index + 1;
        }
        for token in 1..ends.len() {
            ends[token] = ends[token].max(ends[token - 1]);
        }
        let rows = postings.into_iter().map(|(_, row)| row).collect();
        Self { corpus, tokens, hashes, rows, ends, all_rows }
    }

    /// The number of URLs that replacing `from` changes.
    pub(super) fn changed(&self, from: &[u32]) -> impl Iterator<Item = u32> {
        self.candidates(from).iter().copied().filter(|&row| find(self.tokens.row(row), from).is_some())
    }

    /// Rows among which all with `from` in them are.
    fn candidates(&self, from: &[u32]) -> &[u32] {
        from.iter()
            .filter(|&&token| token != START && token != END)
            .map(|&token| &self.rows[self.ends[token as usize - 1]..self.ends[token as usize]])
            .min_by_key(|rows| rows.len())
            .unwrap_or(&self.all_rows)
    }

    /// Tries a rule on URLs of the site until enough of them speak for it or against it.
    fn try_rule(
        &self,
        likeness: Likeness<'_>,
        from: &[u32],
        to: &[u32],
        min_tests: usize,
        options: &Options,
    ) -> Verdict {
        let tests = options.validation_count as f64;
        let enough = ((1.0 - options.max_failure_rate) * tests).ceil() as usize;
        let mut trial = Trial::default();
        let mut attempts = 0;
        let mut outcome = Vec::new();
        for &row in self.candidates(from) {
            if attempts == 3 * options.validation_count || trial.agreed.len() >= enough.max(min_tests) {
                break;
            }
            let url = self.tokens.row(row);
            let Some(at) = find(url, from).filter(|_| likeness.knows(row)) else { continue };
            attempts += 1;
            outcome.clear();
            self.tokens.write(&url[..at], &mut outcome);
            self.tokens.write(to, &mut outcome);
            self.tokens.write(&url[at + from.len()..], &mut outcome);
            let Some(other) = self.row_of(&outcome) else { continue };
            match likeness.alike(row, other) {
                Some(true) => trial.agreed.push((row, other)),
                Some(false) => trial.disagreed += 1,
                None => {}
            }
            if trial.disagreed > 0 && trial.disagreed as f64 >= options.max_failure_rate * tests {
                return Verdict::Refuted;
            }
        }
        let tested = trial.agreed.len() + trial.disagreed;
        if tested < min_tests.max(1) {
            Verdict::Unknown
        } else if trial.disagreed as f64 <= options.max_failure_rate * tested as f64 {
            Verdict::Valid(trial)
        } else {
            Verdict::Refuted
        }
    }

    fn row_of(&self, url: &[u8]) -> Option<u32> {
        let hash = xxh3_64(url);
        let first = self.hashes.partition_point(|&other| other < hash);
        let equal = self.hashes[first..].iter().take_while(|&&other| other == hash).count();
        (first..first + equal).map(|row| row as u32).find(|&row| self.corpus.url(row) == url)
    }
}

/// Where `part` is first found in `url`.
fn find(url: &[u32], part: &[u32]) -> Option<usize> {
    let Some(&first) = part.first() else { return Some(0) };
    if first == START {
        return url.starts_with(part).then_some(0);
    }
    if part.last() == Some(&END) {
        return url.ends_with(part).then(|| url.len() - part.len());
    }
    let last_start = url.len().checked_sub(part.len())?;
    (1..=last_start).find(|&at| url[at] == first && url[at..].starts_with(part))
}
