/*!
What a rule merges among the training URLs: counts for its proof, and the evidence to write with it.

Shared by the learners that rewrite single URLs. URLs that the rule covers count by their result; URLs that have such
a result already stand beside them. All others keep their identity and cannot meet.
*/

use dedust::rules::Evidence;
use dedust_learn::support::{PairCounter, PairCounts, rule_evidence};
use dedust_learn::{Corpus, EvidenceKinds};
use foldhash::{HashMap, HashSet};

/// The URLs of a site by a hash of their form.
pub(crate) struct Forms {
    /// Sorted.
    rows_by_form: Vec<(u64, u32)>,
}

/// A rule at work: its results, and the URLs that have them already.
pub(crate) struct Merges {
    /// Results of the URLs that the rule covers, with their rows.
    pub(crate) sources: Vec<(u64, u32)>,
    /// URLs it does not cover, with the form that makes them a result.
    pub(crate) there: Vec<(u64, u32)>,
}

impl Forms {
    pub(crate) fn new(forms: impl Iterator<Item = (u64, u32)>) -> Self {
        let mut rows_by_form: Vec<(u64, u32)> = forms.collect();
        rows_by_form.sort_unstable();
        Self { rows_by_form }
    }

    /// The rows of this form.
    pub(crate) fn rows(&self, form: u64) -> impl Iterator<Item = u32> {
        let start = self.rows_by_form.partition_point(|&(other, _)| other < form);
        self.rows_by_form[start..].iter().take_while(move |&&(other, _)| other == form).map(|&(_, row)| row)
    }
}

impl Merges {
    /// Sources and results; the rows of the results come from `forms`.
    pub(crate) fn new(sources: Vec<(u64, u32)>, forms: &Forms) -> Self {
        let covered: HashSet<u32> = sources.iter().map(|&(_, row)| row).collect();
        let mut results: Vec<u64> = sources.iter().map(|&(result, _)| result).collect();
        results.sort_unstable();
        results.dedup();
        let there = results
            .into_iter()
            .flat_map(|result| forms.rows(result).map(move |row| (result, row)))
            .filter(|(_, row)| !covered.contains(row))
            .collect();
        Self { sources, there }
    }

    /// Pairs of labelled URLs with one result.
    pub(crate) fn counts(&self, corpus: &Corpus, counter: &mut PairCounter) -> PairCounts {
        let all = self.sources.iter().chain(&self.there);
        counter.count(all.filter_map(|&(result, row)| Some((result, corpus.label(row)?))))
    }

    /// Sources that meet another URL.
    pub(crate) fn joined(&self) -> usize {
        let mut urls_by_result: HashMap<u64, u32> = HashMap::default();
        for (result, _) in self.sources.iter().chain(&self.there) {
            *urls_by_result.entry(*result).or_default() += 1;
        }
        self.sources.iter().filter(|(result, _)| urls_by_result[result] > 1).count()
    }

    /// The evidence of a rule with these counts.
    pub(crate) fn evidence(&self, corpus: &Corpus, counts: &PairCounts) -> Evidence {
        let order = |row: u32| (corpus.url(row).len(), corpus.url(row));
        // For every result, the shortest URL of each page.
        let mut shortest: HashMap<(u64, u32), u32> = HashMap::default();
        for &(result, row) in self.there.iter().chain(&self.sources) {
            if let Some(label) = corpus.label(row) {
                let known = shortest.entry((result, label)).or_insert(row);
                if order(row) < order(*known) {
                    *known = row;
                }
            }
        }
        let mut kinds = EvidenceKinds::NONE;
        let mut examples: Vec<(u32, u32)> = Vec::new();
        for &(result, row) in &self.sources {
            let Some(label) = corpus.label(row) else { continue };
            kinds |= corpus.kinds(row);
            if let Some(&duplicate) = shortest.get(&(result, label))
                && duplicate != row
            {
                examples.push((row, duplicate));
            }
        }
        rule_evidence(corpus, self.sources.len(), counts, kinds, examples)
    }
}

/// Spreads the bits of a number.
pub(crate) fn mix(number: u64) -> u64 {
    let mut x = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
