/*!
Ties rows by where their redirects, and then their canonical links, end.

Links lead from URL to URL, and a target need not be a row: two rows that end at one URL are tied to each
other, and to the row of that URL if there is one. A row that redirects is the page it ends at, so its own canonical link
is not used.

A canonical link is a claim. It is believed where nothing speaks against it: rows whose titles differ, or whose texts
differ by more than two fetches of one page do on this site, are not one page, whatever they declare. A canonical URL that
redirects, fails or names another one as canonical is no page's name, and links to it are not heard. Where nothing was seen of a page
but its canonical link, as of one that was cut off, the link is believed as far as such links were right on this site; a site of which
next to no page was seen has nothing else.
*/

use foldhash::HashSet;

use super::Sighting;
use super::chain::Chains;
use super::content::Content;
use super::tie::Ties;
use super::title;
use crate::evidence::EvidenceKind;
use crate::likeness::Likeness;
use crate::thresholds;

/// The links of one site. Values are hashes of target URLs.
pub(super) struct SiteLinks<'a> {
    pub(super) url_by_row: &'a [u64],
    pub(super) redirects: &'a [Sighting],
    pub(super) canonicals: &'a [Sighting],
    /// By row.
    pub(super) titles: &'a [u64],
    pub(super) contents: &'a [Content],
    pub(super) likeness: &'a Likeness,
}

impl SiteLinks<'_> {
    pub(super) fn tie(&self, ties: &mut Ties) {
        let mut rows_by_url: Vec<Sighting> =
            (0..).zip(self.url_by_row).map(|(row, &value)| Sighting { value, row }).collect();
        rows_by_url.sort_unstable();
        let source_and_target = |link: &Sighting| (self.url_of(link.row), link.value);

        let redirects = Chains::new(self.redirects.iter().map(source_and_target));
        for arrivals in self.ends(&redirects, self.redirects).chunk_by(Sighting::has_same_value) {
            let members = rows_of([arrivals, at_url(&rows_by_url, arrivals[0].value)]);
            note_evidence(ties, arrivals);
            ties.tie(EvidenceKind::Redirect, &members);
        }

        let is_redirected = |url: u64| redirects.end_of(url).is_some();
        let mut claims: Vec<Sighting> = self
            .canonicals
            .iter()
            .filter(|link| !is_redirected(self.url_of(link.row)) && !is_redirected(link.value))
            .copied()
            .collect();
        claims.sort_unstable_by_key(|claim| (claim.row, claim.value));
        claims.dedup();
        // A row with two canonical links has none.
        let mut claims: Vec<Sighting> = claims
            .chunk_by(|left, right| left.row == right.row)
            .filter(|claims| claims.len() == 1)
            .flatten()
            .copied()
            .collect();
        claims.sort_unstable();
        let naming_others: HashSet<u32> = claims
            .iter()
            .filter(|claim| claim.value != self.url_of(claim.row))
            .map(|claim| claim.row)
            .collect();
        let believes_unseen = self.believes_unseen(&claims, &rows_by_url);
        let mut members = Vec::new();
        for arrivals in claims.chunk_by(Sighting::has_same_value) {
            let there = at_url(&rows_by_url, arrivals[0].value);
            note_evidence(ties, arrivals);
            let is_name = |sighting: &Sighting| {
                !self.contents[sighting.row as usize].is_error() && !naming_others.contains(&sighting.row)
            };
            if !there.iter().all(is_name) {
                continue;
            }
            members.clear();
            members.extend(rows_of([arrivals, there]));
            if !believes_unseen {
                members.retain(|&row| self.contents[row as usize].is_known());
            }
            title::groups(&mut members, self.titles, |group| self.tie_alike(ties, group, there));
        }
    }

    /// Whether canonical links are believed of pages of which nothing else was seen. By Laplace's rule of succession, from those links that
    /// could be checked.
    fn believes_unseen(&self, claims: &[Sighting], rows_by_url: &[Sighting]) -> bool {
        let known = self.contents.iter().filter(|content| content.is_known()).count();
        if 2 * known < self.contents.len() {
            return true;
        }
        let (mut right, mut checked) = (0u32, 0u32);
        for claim in claims.iter().filter(|claim| claim.value != self.url_of(claim.row)) {
            let Some(named) = at_url(rows_by_url, claim.value).first() else { continue };
            let (one, other) = (&self.contents[claim.row as usize], &self.contents[named.row as usize]);
            if one.is_known() && other.is_known() {
                checked += 1;
                right += u32::from(one.may_be_one_with(other, self.likeness));
            }
        }
        f64::from(right + 1) / f64::from(checked + 2) >= thresholds::labels::MIN_RIGHT_CLAIMS
    }

    /// Ties rows that claim to be one page, as far as their texts do not say otherwise: first those that show the page of
    /// the row that they name, then others that show the same.
    fn tie_alike(&self, ties: &mut Ties, rows: &[u32], named: &[Sighting]) {
        let is_named = |row: u32| named.iter().any(|sighting| sighting.row == row);
        let mut rows = rows.to_vec();
        // By their URLs, so that the numbers of rows leave no trace.
        rows.sort_unstable_by_key(|&row| (!is_named(row), self.url_of(row), row));
        let mut pages: Vec<Vec<u32>> = Vec::new();
        for row in rows {
            let content = &self.contents[row as usize];
            let shows_it =
                |page: &Vec<u32>| content.may_be_one_with(&self.contents[page[0] as usize], self.likeness);
            match pages.iter().position(shows_it) {
                Some(page) => pages[page].push(row),
                None if pages.len() < thresholds::labels::MAX_CLAIMED_PAGES => pages.push(vec![row]),
                None => {}
            }
        }
        for page in pages.iter().filter(|page| page.len() > 1) {
            ties.tie(EvidenceKind::Canonical, page);
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
