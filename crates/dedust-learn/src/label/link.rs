/*!
Ties rows by where their redirects, and then their canonical links, end.

Links lead from URL to URL, and a target need not be a row: two rows that end at one URL are tied to each
other, and to the row of that URL if there is one. Canonical links tie only rows whose titles do not differ. A row that redirects is the page it ends at, so its own
canonical link is not used, and where canonical links end at a URL that is no row, it stands in for it.
*/

use super::Sighting;
use super::chain::Chains;
use super::tie::Ties;
use super::title;
use crate::evidence::EvidenceKind;

/// The links of one site. Values are hashes of target URLs.
pub(super) struct SiteLinks<'a> {
    pub(super) url_by_row: &'a [u64],
    pub(super) redirects: &'a [Sighting],
    pub(super) canonicals: &'a [Sighting],
    /// By row.
    pub(super) titles: &'a [u64],
}

impl SiteLinks<'_> {
    pub(super) fn tie(&self, ties: &mut Ties) {
        let mut rows_by_url: Vec<Sighting> =
            (0..).zip(self.url_by_row).map(|(row, &value)| Sighting { value, row }).collect();
        rows_by_url.sort_unstable();
        let source_and_target = |link: &Sighting| (self.url_of(link.row), link.value);

        let chains = Chains::new(self.redirects.iter().map(source_and_target));
        let mut redirected: Vec<Sighting> = Vec::new();
        for arrivals in self.ends(&chains, self.redirects).chunk_by(Sighting::has_same_value) {
            let members = rows_of([arrivals, at_url(&rows_by_url, arrivals[0].value)]);
            note_evidence(ties, arrivals);
            if ties.tie(EvidenceKind::Redirect, &members) {
                redirected.extend(arrivals);
            }
        }

        let after_redirects = |url| chains.end_of(url).unwrap_or(url);
        let canonical_links = self.canonicals.iter().map(source_and_target);
        let chains = Chains::new(
            canonical_links
                .filter(|(source, _)| chains.end_of(*source).is_none())
                .map(|(source, target)| (source, after_redirects(target))),
        );
        for arrivals in self.ends(&chains, self.canonicals).chunk_by(Sighting::has_same_value) {
            let end = arrivals[0].value;
            let rows_there = at_url(&rows_by_url, end);
            let stand_ins = if rows_there.is_empty() { at_url(&redirected, end) } else { &[] };
            let mut members = rows_of([arrivals, rows_there, stand_ins]);
            note_evidence(ties, arrivals);
            title::groups(&mut members, self.titles, |group| {
                if group.len() > 1 && ties.tie(EvidenceKind::Canonical, group) {
                    let tied = stand_ins.iter().filter(|arrival| group.contains(&arrival.row));
                    tied.for_each(|arrival| ties.add_kind(EvidenceKind::Redirect, arrival.row));
                }
            });
        }
    }

    fn url_of(&self, row: u32) -> u64 {
        self.url_by_row[row as usize]
    }

    /// The rows that have a link which leads somewhere, each with the URL where it ends, sorted by that.
    fn ends(&self, chains: &Chains, links: &[Sighting]) -> Vec<Sighting> {
        let end_of = |row| Some(Sighting { value: chains.end_of(self.url_of(row))?, row });
        let mut ends: Vec<Sighting> = links.iter().filter_map(|link| end_of(link.row)).collect();
        ends.sort_unstable();
        ends.dedup();
        ends
    }
}

/// The part of `sorted` that was seen with `url`.
fn at_url(sorted: &[Sighting], url: u64) -> &[Sighting] {
    let first = sorted.partition_point(|sighting| sighting.value < url);
    let count = sorted[first..].partition_point(|sighting| sighting.value == url);
    &sorted[first..first + count]
}

fn rows_of<const N: usize>(sightings: [&[Sighting]; N]) -> Vec<u32> {
    let mut rows: Vec<u32> = sightings.concat().iter().map(|sighting| sighting.row).collect();
    rows.sort_unstable();
    rows.dedup();
    rows
}

fn note_evidence(ties: &mut Ties, sightings: &[Sighting]) {
    sightings.iter().for_each(|sighting| ties.note_evidence(sighting.row));
}
