/*!
Ways in which the evidence of a site lies about its pages, by name.
*/

use std::fmt;
use std::str::FromStr;

/// One way in which titles, texts and links of a site suggest what is not so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Lie {
    /// Every page of a list names the first one as canonical.
    CanonicalToFirstPage,
    /// Reviews of a product name a canonical URL that redirects to the list of all reviews.
    CanonicalToRedirect,
    /// All pages of a section name the home page as canonical.
    CanonicalToHome,
    /// A filter that filters nothing in most categories, and one that changes a small box of a long page.
    IdleFilter,
    /// Long pages that differ in one number.
    NearIdentical,
    /// One error text, with status 200, in place of some pages; errors with other statuses in place of a few.
    SoftError,
    /// Pages whose text differs at every fetch, and on the whole site a counter that differs at some.
    ChangingPages,
    /// A parameter that matters in one section only.
    SectionMatters,
}

impl Lie {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::CanonicalToFirstPage,
        Self::CanonicalToRedirect,
        Self::CanonicalToHome,
        Self::IdleFilter,
        Self::NearIdentical,
        Self::SoftError,
        Self::ChangingPages,
        Self::SectionMatters,
    ];

    /// The name by which it is chosen, such as `idle-filter`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CanonicalToFirstPage => "canonical-to-first-page",
            Self::CanonicalToRedirect => "canonical-to-redirect",
            Self::CanonicalToHome => "canonical-to-home",
            Self::IdleFilter => "idle-filter",
            Self::NearIdentical => "near-identical",
            Self::SoftError => "soft-error",
            Self::ChangingPages => "changing-pages",
            Self::SectionMatters => "section-matters",
        }
    }

    /// One line on what is wrong.
    pub const fn description(self) -> &'static str {
        match self {
            Self::CanonicalToFirstPage => "every page of a list names page 1 as canonical; `page` matters",
            Self::CanonicalToRedirect => "the canonical URL of reviews redirects to a list; `review` matters",
            Self::CanonicalToHome => "pages of a section name the home page as canonical",
            Self::IdleFilter => "`color` filters in one category of five; `_facet` changes a small box",
            Self::NearIdentical => "long pages with equal titles that differ in one number",
            Self::SoftError => "an error text in place of 3 % of the pages; some 404, 429 and 503",
            Self::ChangingPages => "`do=edit` differs at every fetch, a counter elsewhere at up to 20 %",
            Self::SectionMatters => "`view` changes nothing but in one section of ten",
        }
    }
}

impl fmt::Display for Lie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no lie has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown lie `{name}`, expected `all` or some of {}", Lie::ALL.map(Lie::name).join(", "))]
pub struct UnknownLie {
    /// What was given.
    pub name: String,
}

impl FromStr for Lie {
    type Err = UnknownLie;

    fn from_str(name: &str) -> Result<Self, UnknownLie> {
        let found = Self::ALL.into_iter().find(|lie| lie.name() == name);
        found.ok_or_else(|| UnknownLie { name: name.to_owned() })
    }
}

/// A set of lies.
///
/// ```
/// use dedust_simulate::{Lie, Lies};
///
/// let some: Lies = "idle-filter,soft-error".parse()?;
/// assert!(some.contains(Lie::SoftError));
/// assert_eq!(some.to_string(), "idle-filter,soft-error");
/// assert_eq!("all".parse(), Ok(Lies::ALL));
/// # Ok::<(), dedust_simulate::UnknownLie>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lies(u32);

impl Lies {
    /// Every lie.
    pub const ALL: Self = Self((1 << Lie::ALL.len()) - 1);

    /// Whether `lie` is one of them.
    pub const fn contains(self, lie: Lie) -> bool {
        self.0 >> lie as u32 & 1 == 1
    }

    /// These lies, in the order of [`Lie::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Lie> {
        Lie::ALL.into_iter().filter(move |&lie| self.contains(lie))
    }

    /// How many they are.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl FromIterator<Lie> for Lies {
    fn from_iter<I: IntoIterator<Item = Lie>>(lies: I) -> Self {
        Self(lies.into_iter().fold(0, |set, lie| set | 1 << lie as u32))
    }
}

impl FromStr for Lies {
    type Err = UnknownLie;

    fn from_str(names: &str) -> Result<Self, UnknownLie> {
        if names == "all" {
            return Ok(Self::ALL);
        }
        names.split(',').map(|name| name.trim().parse::<Lie>()).collect()
    }
}

impl fmt::Display for Lies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::ALL {
            return f.write_str("all");
        }
        for (index, lie) in self.iter().enumerate() {
            write!(f, "{}{lie}", if index == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_read_back() {
        for (index, lie) in Lie::ALL.into_iter().enumerate() {
            assert_eq!(lie as usize, index);
            assert_eq!(lie.name().parse(), Ok(lie));
        }
        assert_eq!("all".parse(), Ok(Lies::ALL));
        let some = Lies::from_iter([Lie::SoftError, Lie::IdleFilter]);
        assert_eq!(some.to_string().parse(), Ok(some));
        let error = "soft-errors".parse::<Lies>().unwrap_err();
        assert!(error.to_string().starts_with("unknown lie `soft-errors`, expected `all` or some of canon"));
    }
}
