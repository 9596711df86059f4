/*!
Spaces of URLs of which it is known whether they are worth fetching: endless and worthless ones, and others that look like them.

A [`SpaceSite`] has articles and one [`Space`], and hands out rows of a URL and hashes of the lines of text that its page shows, in the
order in which a crawler that goes breadth first meets them. Other spaces are beside the articles, each in a folder of its own.
*/

use std::fmt;

use super::chance::mix_two;

/// A kind of space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    /// A month per page, without end, with a few events.
    Calendar,
    /// Lists of the same products by colour, size, order and page.
    FacetGrid,
    /// A relative link that adds a directory to the page that it stands on.
    RelativeLinkLoop,
    /// Articles again, under a session in the path.
    SessionInPath,
    /// "Not found" with status 200, under any path.
    SoftErrors,
    /// Old versions of articles.
    History,
    /// Worth every fetch: an archive by day, with one article each.
    DailyArchive,
    /// Worth every fetch: a grid of products, each with a description.
    ProductGrid,
}

impl Space {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Calendar,
        Self::FacetGrid,
        Self::RelativeLinkLoop,
        Self::SessionInPath,
        Self::SoftErrors,
        Self::History,
        Self::DailyArchive,
        Self::ProductGrid,
    ];

    /// Whether its pages bring what no other page shows.
    pub fn is_worth_fetching(self) -> bool {
        matches!(self, Self::DailyArchive | Self::ProductGrid)
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Calendar => "calendar",
            Self::FacetGrid => "facet-grid",
            Self::RelativeLinkLoop => "relative-link-loop",
            Self::SessionInPath => "session-in-path",
            Self::SoftErrors => "soft-errors",
            Self::History => "history",
            Self::DailyArchive => "daily-archive",
            Self::ProductGrid => "product-grid",
        })
    }
}

/// A site with articles and a space.
#[derive(Clone, Copy, Debug)]
pub struct SpaceSite {
    space: Space,
    articles: u64,
    seed: u64,
}

/// Lines that all pages of a site have.
const FURNITURE: u64 = 12;

impl SpaceSite {
    /// A site with so many articles.
    pub fn new(space: Space, articles: u64, seed: u64) -> Self {
        Self { space, articles: articles.max(2), seed }
    }

    /// How many articles there are.
    pub fn articles(&self) -> u64 {
        self.articles
    }

    /// The URL of an article, and the lines that it shows.
    pub fn article(&self, number: u64, lines: &mut Vec<u64>) -> String {
        self.start(lines);
        lines.extend((0..self.length(number)).map(|line| self.line(1, number, line)));
        format!(
            "http://www.site-{}.example/articles/{}-{number}.html",
            self.seed,
            word(self.hash(2, number, 0))
        )
    }

    /// The URL of a page of the space, and the lines that it shows. There are any number of them.
    pub fn of_space(&self, number: u64, lines: &mut Vec<u64>) -> String {
        let host = format!("http://www.site-{}.example", self.seed);
        self.start(lines);
        let article = self.hash(3, number, 0) % self.articles;
        match self.space {
            Space::Calendar => {
                lines.extend((0..31).map(|day| self.line(4, 0, day)));
                // Now and then an event, which the articles tell of.
                lines.extend(number.is_multiple_of(7).then(|| self.line(1, article, 0)));
                format!("{host}/calendar/{}/{:02}/", 2000 + number / 12, number % 12 + 1)
            }
            Space::FacetGrid => {
                let first = self.hash(4, number, 0) % 40;
                lines.extend((first..first + 10).map(|product| self.line(5, product, 0)));
                let [color, size, sort, page] = [number % 9, number / 9 % 7, number / 63 % 5, number / 315];
                format!("{host}/shop/list?color={color}&size={size}&sort={sort}&page={page}")
            }
            Space::RelativeLinkLoop => {
                let (leaf, depth) = (number % 20, 1 + number / 20 % 12);
                lines.extend((0..15).map(|line| self.line(6, leaf, line)));
                format!(
                    "{host}/img/{}{}.html",
                    "img/".repeat(depth as usize),
                    word(self.hash(6, number / 240, leaf))
                )
            }
            Space::SessionInPath => {
                lines.extend((0..self.length(article)).map(|line| self.line(1, article, line)));
                format!("{host}/s/{:016x}/articles/{article}.html", self.hash(7, number, 1))
            }
            Space::SoftErrors => {
                lines.extend((0..3).map(|line| self.line(8, 0, line)));
                let depth = 1 + number % 3;
                let path: Vec<String> = (0..depth).map(|at| word(self.hash(8, number, at))).collect();
                format!("{host}/old/{}", path.join("/"))
            }
            Space::History => {
                // An old version says what the article says, but for a few lines that were changed by most versions.
                let length = self.length(article);
                lines.extend(
                    (0..length).filter(|line| line % 9 != number % 9).map(|line| self.line(1, article, line)),
                );
                if number.is_multiple_of(12) {
                    lines.push(self.line(9, number, 0));
                }
                format!(
                    "{host}/wiki/{}-{article}?version={}",
                    word(self.hash(2, article, 0)),
                    number / self.articles + 1
                )
            }
            Space::DailyArchive => {
                lines.extend((0..self.length(number)).map(|line| self.line(10, number, line)));
                format!("{host}/{}/{:02}/{:02}/", 2000 + number / 336, number / 28 % 12 + 1, number % 28 + 1)
            }
            Space::ProductGrid => {
                lines.extend((0..8).map(|line| self.line(11, number, line)));
                lines.extend((0..10).map(|line| self.line(11, u64::MAX, line)));
                format!("{host}/shop/product?id={number}&category={}", number % 17)
            }
        }
    }

    fn start(&self, lines: &mut Vec<u64>) {
        lines.clear();
        lines.extend((0..FURNITURE).map(|line| self.line(0, 0, line)));
    }

    fn length(&self, article: u64) -> u64 {
        10 + self.hash(12, article, 0) % 60
    }

    fn line(&self, kind: u64, page: u64, line: u64) -> u64 {
        self.hash(kind + 100, page, line)
    }

    fn hash(&self, kind: u64, first: u64, second: u64) -> u64 {
        mix_two(mix_two(mix_two(self.seed, kind), first), second)
    }
}

/// A word of a few letters.
fn word(hash: u64) -> String {
    let letter = |at: u64| char::from(b'a' + (hash >> (8 * at) & 0xff) as u8 % 26);
    (0..4 + hash % 5).map(|at| letter(at % 8)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Lines of the second half of a space that neither the articles nor the first half show, for each URL.
    fn new_lines(space: Space) -> f64 {
        let site = SpaceSite::new(space, 200, 7);
        let (mut known, mut lines) = (HashSet::new(), Vec::new());
        for number in 0..200 {
            site.article(number, &mut lines);
            known.extend(lines.iter().copied());
        }
        let mut new = 0;
        for number in 0..800 {
            site.of_space(number, &mut lines);
            let count = lines.iter().filter(|line| known.insert(**line)).count();
            new += if number >= 400 { count } else { 0 };
        }
        new as f64 / 400.0
    }

    #[test]
    fn spaces_bring_what_they_are_said_to_bring() {
        for space in Space::ALL {
            let new = new_lines(space);
            assert_eq!(new >= 5.0, space.is_worth_fetching(), "{space}: {new} new lines for each URL");
        }
    }

    #[test]
    fn most_urls_of_a_space_are_new() {
        for space in Space::ALL {
            let site = SpaceSite::new(space, 50, 3);
            let mut lines = Vec::new();
            let urls: HashSet<String> = (0..1_000).map(|number| site.of_space(number, &mut lines)).collect();
            assert!(urls.len() > 500, "{space}: {} URLs of 1000", urls.len());
        }
    }
}
