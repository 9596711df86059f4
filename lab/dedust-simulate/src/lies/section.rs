/*!
The sections of a lying site: what is found at which path and query.

Every section counts its states, and each state is a path and query with what is shown there. States that show one page
have one identity. Two sections, items and articles, tell the truth; every other belongs to a [`Lie`]. How else a URL is
spelled is decided in [`super::spelling`].
*/

use super::lie::Lie;
use crate::chance::{mix_two, scatter};
use crate::text::word;

/// Values of the filter that is idle in most categories.
const COLORS: [&str; 4] = ["red", "blue", "green", "black"];
/// Values of the filter that changes a small box.
const FACETS: [&str; 4] = ["new", "sale", "local", "rated"];
/// Values of the parameter that matters in one section.
const VIEWS: [&str; 2] = ["grid", "full"];
/// That parameter matters in one section of so many.
const VIEW_SECTIONS: u64 = 10;
/// The idle filter filters in one category of so many.
const CATEGORIES_PER_FILTERED: u64 = 5;

/// Features of a long page, of a small box on it, and of one number on it.
const LONG_FEATURES: u32 = 290;
const BOX_FEATURES: u32 = 9;
const NUMBER_FEATURES: u32 = 1;

/// A part of a site whose pages are made alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Section {
    Items,
    Articles,
    Lists,
    Reviews,
    Company,
    Search,
    Orders,
    Documents,
    Views,
}

/// What is found at a path and query.
pub(super) struct Resource {
    /// Path and query.
    pub(super) target: String,
    /// Equal for the states of a section that show one page.
    pub(super) identity: u64,
    pub(super) title: String,
    /// Features of the template, of the page, and of a part of the page: where they come from, and how many.
    pub(super) text: [(u64, u32); 3],
    /// Path and query of the page that is named as canonical.
    pub(super) canonical: Option<String>,
    /// Path and query that a redirect leads to.
    pub(super) redirect: Option<String>,
    /// Whether the text differs at every fetch.
    pub(super) is_changing: bool,
}

impl Section {
    /// The section of its own that a lie needs, if any.
    pub(super) fn of(lie: Lie) -> Option<Self> {
        match lie {
            Lie::CanonicalToFirstPage => Some(Self::Lists),
            Lie::CanonicalToRedirect => Some(Self::Reviews),
            Lie::CanonicalToHome => Some(Self::Company),
            Lie::IdleFilter => Some(Self::Search),
            Lie::NearIdentical => Some(Self::Orders),
            Lie::SoftError => None,
            Lie::ChangingPages => Some(Self::Documents),
            Lie::SectionMatters => Some(Self::Views),
        }
    }

    /// How many URLs lead to a state.
    pub(super) fn urls_of(self, seed: u64, state: u64) -> u64 {
        let hash = self.hash(seed, Salt::Urls, state);
        match self {
            Self::Items | Self::Articles => 1 + hash % 5,
            Self::Documents if state % 2 == 1 => 1 + hash % 3,
            _ => 1 + u64::from(hash % 100 < 15),
        }
    }

    /// What is found at a state.
    pub(super) fn resource(self, seed: u64, state: u64) -> Resource {
        match self {
            Self::Items => self.honest(seed, state, format!("/item?id={}", 10_007 + 3 * state)),
            Self::Articles => self.honest(seed, state, format!("/a/{}", self.name(seed, state))),
            Self::Lists => self.list(seed, state),
            Self::Reviews => self.review(seed, state),
            Self::Company => self.company(seed, state),
            Self::Search => self.search(seed, state),
            Self::Orders => self.order(seed, state),
            Self::Documents => self.document(seed, state),
            Self::Views => self.view(seed, state),
        }
    }

    /// A page whose canonical link is right, where it has one.
    fn honest(self, seed: u64, state: u64, target: String) -> Resource {
        let linked_percent = 30 + 30 * (seed % 2);
        let is_linked = self.hash(seed, Salt::Link, state) % 100 < linked_percent;
        let canonical = is_linked.then(|| target.clone());
        let title = format!("{} {state}", word(self.hash(seed, Salt::Title, state)));
        Resource { canonical, ..self.page(seed, state, target, title) }
    }

    /// A page of a blog, or of one of many topics.
    fn list(self, seed: u64, state: u64) -> Resource {
        let (list, path, number) = match (state % 4, state - state / 4) {
            (0, _) => (0, "/blog/list".to_owned(), state / 4),
            (_, topics) => {
                let topic = (topics - 1) / 7;
                (1 + topic, format!("/topic/{}", self.name(seed, topic)), (topics - 1) % 7)
            }
        };
        let target = if number == 0 { path.clone() } else { format!("{path}?page={number}") };
        let title = format!("All about {}", word(list));
        // The first page is shown without a number and with number 1.
        let identity = list << 32 | number.max(1);
        Resource { canonical: Some(path), ..self.page(seed, identity, target, title) }
    }

    /// All reviews of a product, the URL that redirects to them, or one review.
    fn review(self, seed: u64, state: u64) -> Resource {
        let (product, which) = (state / 6, state % 6);
        let number = 1_000 + 3 * product;
        let all = format!("/shop/reviews?product={number}");
        let redirecting = format!("/shop/review?product={number}");
        let title = format!("Reviews of {} {number}", word(self.hash(seed, Salt::Title, product)));
        match which {
            0 => Resource { canonical: Some(all.clone()), ..self.page(seed, state, all, title) },
            1 => Resource { redirect: Some(all), ..self.page(seed, state - 1, redirecting, title) },
            _ => {
                let target = format!("{redirecting}&review={}", 10 * product + which);
                Resource { canonical: Some(redirecting), ..self.page(seed, state, target, title) }
            }
        }
    }

    /// The home page, or one that names it as canonical; on half of the sites with the title of the home page.
    fn company(self, seed: u64, state: u64) -> Resource {
        let target = match (state, state % 2) {
            (0, _) => "/".to_owned(),
            (_, 0) => format!("/office?place={}", 20 + state / 2),
            _ => format!("/about/{}", self.name(seed, state)),
        };
        let has_own_title = state > 0 && self.hash(seed, Salt::Style, 0).is_multiple_of(2);
        let title = if has_own_title { format!("Company {state}") } else { "Welcome".to_owned() };
        Resource { canonical: Some("/".to_owned()), ..self.page(seed, state, target, title) }
    }

    /// A category with and without two filters.
    fn search(self, seed: u64, state: u64) -> Resource {
        let (category, combination) = (state / 12, state % 12);
        let (color, facet) = match combination {
            0..=4 => (combination, 0),
            5..=8 => (0, combination - 4),
            _ => (combination - 8, combination - 8),
        };
        let mut target = format!("/find?cat={}", 10 + category);
        if let Some(color) = value(&COLORS, color) {
            target.push_str("&color=");
            target.push_str(color);
        }
        if let Some(facet) = value(&FACETS, facet) {
            target.push_str("&_facet=");
            target.push_str(facet);
        }
        let filters = category % CATEGORIES_PER_FILTERED == seed % CATEGORIES_PER_FILTERED;
        let results = 8 * category + if filters { color } else { 0 };
        let text = [
            (self.hash(seed, Salt::Template, 0), LONG_FEATURES / 3),
            (self.hash(seed, Salt::Text, results), LONG_FEATURES - LONG_FEATURES / 3),
            (self.hash(seed, Salt::Part, 8 * category + facet), BOX_FEATURES),
        ];
        let title = format!("Find {} {category}", word(category));
        Resource { text, ..self.page(seed, 8 * results + facet, target, title) }
    }

    /// A long page of which one number is its own.
    fn order(self, seed: u64, state: u64) -> Resource {
        let (kind, number) = (state % 2, 40_000 + 7 * (state / 2));
        let (target, title) = match kind {
            0 => (format!("/order/{number}"), "Your order"),
            _ => (format!("/stock/item?id={number}"), "Item in stock"),
        };
        let text = [
            (self.hash(seed, Salt::Template, kind), LONG_FEATURES / 2),
            (self.hash(seed, Salt::Text, kind), LONG_FEATURES / 2),
            (self.hash(seed, Salt::Part, state), NUMBER_FEATURES),
        ];
        Resource { text, ..self.page(seed, state, target, title.to_owned()) }
    }

    /// A document, or its source in an editor.
    fn document(self, seed: u64, state: u64) -> Resource {
        let (document, is_editor) = (state / 2, state % 2 == 1);
        let name = self.name(seed, document);
        let target = format!("/doc/{name}{}", if is_editor { "?do=edit" } else { "" });
        let mut page = self.page(seed, state, target, format!("{name} (documentation)"));
        page.text[1].0 = self.hash(seed, Salt::Text, document);
        if is_editor {
            page.text[2] = (self.hash(seed, Salt::Part, 0), LONG_FEATURES / 5);
        }
        Resource { is_changing: is_editor, ..page }
    }

    /// A page of one of ten sections, in one of which `view` matters.
    fn view(self, seed: u64, state: u64) -> Resource {
        let (section, rest) = (state % VIEW_SECTIONS, state / VIEW_SECTIONS);
        let (number, view) = (rest / 3, rest % 3);
        let mut target = format!("/{}/{}", word(section.wrapping_add(seed)), 300 + number);
        if let Some(view) = value(&VIEWS, view) {
            target.push_str("?view=");
            target.push_str(view);
        }
        let matters = section == seed % VIEW_SECTIONS;
        let page = VIEW_SECTIONS * number + section;
        let title = format!("{} {number}", word(section.wrapping_add(seed)));
        self.page(seed, 3 * page + if matters { view } else { 0 }, target, title)
    }

    /// A page with a text of its own and without links.
    fn page(self, seed: u64, identity: u64, target: String, title: String) -> Resource {
        let style = self.hash(seed, Salt::Style, 1);
        let text = [
            (self.hash(seed, Salt::Template, 0), 70 + (style % 60) as u32),
            (
                self.hash(seed, Salt::Text, identity),
                80 + (self.hash(seed, Salt::Length, identity) % 80) as u32,
            ),
            (0, 0),
        ];
        Resource { target, identity, title, text, canonical: None, redirect: None, is_changing: false }
    }

    /// Three words, or for numbers beyond 18 bits three words and a number; distinct for distinct numbers.
    fn name(self, seed: u64, number: u64) -> String {
        let words = scatter(number % (1 << 18), 18, self.hash(seed, Salt::Name, 0));
        let [one, two, three] = [words, words >> 6, words >> 12].map(word);
        match number >> 18 {
            0 => format!("{one}-{two}-{three}"),
            round => format!("{one}-{two}-{three}-{round}"),
        }
    }

    fn hash(self, seed: u64, salt: Salt, number: u64) -> u64 {
        mix_two(mix_two(seed, (self as u64) << 8 | salt as u64), number)
    }
}

/// What a hash is for.
#[derive(Clone, Copy)]
enum Salt {
    Urls,
    Link,
    Title,
    Style,
    Template,
    Text,
    Length,
    Part,
    Name,
}

/// The value of a parameter, which is absent for 0.
fn value(values: &[&'static str], number: u64) -> Option<&'static str> {
    values.get((number as usize).checked_sub(1)?).copied()
}
