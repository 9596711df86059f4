/*!
Ways in which websites give one page many URLs, by name.
*/

use std::fmt;
use std::str::FromStr;

/// One way in which a site spells the URL of a page more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Phenomenon {
    /// Two random parameters at once, so that no two URLs differ in one of them only.
    TwoRandomKeys,
    /// A session id inside the path.
    SessionInPath,
    /// Tracking parameters on few URLs.
    RareTracking,
    /// Forty mirrors under one domain.
    Mirrors,
    /// The same pages under a second domain.
    CrossDomainMirror,
    /// With and without TLS, with and without `www`.
    HttpsAndWww,
    /// A directory, with and without slash, and its index file.
    DirectoryIndex,
    /// Several extensions for one document.
    ExtensionAliases,
    /// Parameters in any order, repeated, or empty.
    ParameterOrder,
    /// The id of a page inside a path segment, in a parameter, after a slug, or shifted.
    MovedId,
    /// A slug after the id that does not matter.
    SlugAndId,
    /// A slug before the id, in one segment with it.
    GluedSlug,
    /// A parameter that may be left out when it has its default value.
    DefaultValue,
    /// A parameter that matters in one section and not in another.
    SectionOnlyKey,
    /// A server that does not tell letter cases apart.
    CaseInsensitive,
    /// Spaces and accents encoded in two ways each.
    Encodings,
    /// Numbers with leading zeros, dates as path or as number.
    NumberFormats,
    /// Categories before an id that says it all.
    RedundantCategory,
    /// A language prefix that may be left out for the default language.
    DefaultLanguage,
    /// Names and numbers for the same categories.
    AliasTable,
    /// Pages counted from one, or by the first result on them.
    AffinePagination,
    /// One error or login page for many URLs.
    SoftErrors,
    /// Versions for print and for phones.
    PrintAndMobile,
    /// Directories that contain themselves.
    CrawlerTrap,
    /// Numbers that only the site's database can translate: no rule is possible.
    DatabaseMapping,
}

/// What is to be said about a phenomenon.
struct Facts {
    name: &'static str,
    description: &'static str,
    /// URLs of one page.
    examples: &'static [&'static str],
    /// The most URLs a page can have.
    max_urls_per_page: Option<u64>,
}

const fn facts(
    name: &'static str,
    max_urls_per_page: Option<u64>,
    description: &'static str,
    examples: &'static [&'static str],
) -> Facts {
    Facts { name, description, examples, max_urls_per_page }
}

impl Phenomenon {
    /// All of them, in the order of the specification.
    pub const ALL: [Self; 25] = [
        Self::TwoRandomKeys,
        Self::SessionInPath,
        Self::RareTracking,
        Self::Mirrors,
        Self::CrossDomainMirror,
        Self::HttpsAndWww,
        Self::DirectoryIndex,
        Self::ExtensionAliases,
        Self::ParameterOrder,
        Self::MovedId,
        Self::SlugAndId,
        Self::GluedSlug,
        Self::DefaultValue,
        Self::SectionOnlyKey,
        Self::CaseInsensitive,
        Self::Encodings,
        Self::NumberFormats,
        Self::RedundantCategory,
        Self::DefaultLanguage,
        Self::AliasTable,
        Self::AffinePagination,
        Self::SoftErrors,
        Self::PrintAndMobile,
        Self::CrawlerTrap,
        Self::DatabaseMapping,
    ];

    #[rustfmt::skip]
    const fn facts(self) -> Facts {
        match self {
            Self::TwoRandomKeys => facts("two-random-keys", None,
                "two random parameters at once; id, lang and page matter",
                &["http://a.example/view?id=7&sid=9f&ref=nav1", "http://a.example/view?id=7&sid=3c&ref=top2"]),
            Self::SessionInPath => facts("session-in-path", None,
                "a session id inside the path",
                &["http://a.example/x.do", "http://a.example/x.do;jsessionid=A1"]),
            Self::RareTracking => facts("rare-tracking", None,
                "tracking parameters on about 0.5 % of the URLs",
                &["http://a.example/story/7", "http://a.example/story/7?utm_source=mail", "http://a.example/story/7?gclid=9f"]),
            Self::Mirrors => facts("mirrors", Some(40),
                "forty mirrors under one domain",
                &["http://us.a.example/manual/7.html", "http://de.a.example/manual/7.html"]),
            Self::CrossDomainMirror => facts("cross-domain-mirror", Some(2),
                "the same pages under a second domain",
                &["http://a.example/pub/7.html", "http://a.test/pub/7.html"]),
            Self::HttpsAndWww => facts("https-and-www", Some(4),
                "with and without TLS, with and without www",
                &["http://www.a.example/about/7", "https://a.example/about/7"]),
            Self::DirectoryIndex => facts("directory-index", Some(3),
                "a directory, with and without slash, and its index file",
                &["http://a.example/dir", "http://a.example/dir/", "http://a.example/dir/index.html"]),
            Self::ExtensionAliases => facts("extension-aliases", Some(3),
                "several extensions for one document",
                &["http://a.example/x7.htm", "http://a.example/x7.html", "http://a.example/x7.php3"]),
            Self::ParameterOrder => facts("parameter-order", Some(18),
                "parameters in any order, repeated, or empty",
                &["http://a.example/find?cat=3&item=7", "http://a.example/find?item=7&cat=3&view="]),
            Self::MovedId => facts("moved-id", Some(4),
                "the id inside a segment, in a parameter, after a slug, or shifted by seven",
                &["http://a.example/thread_123.html", "http://a.example/showthread.php?t=123",
                  "http://a.example/t/big-cat-123", "http://a.example/print/130"]),
            Self::SlugAndId => facts("slug-and-id", Some(4),
                "a slug after the id that does not matter",
                &["http://a.example/questions/132218/how-to", "http://a.example/q/132218"]),
            Self::GluedSlug => facts("glued-slug", Some(6),
                "a slug before the id, in one segment with it",
                &["http://a.example/t/big-cat-123", "http://a.example/t/cat-big-123"]),
            Self::DefaultValue => facts("default-value", Some(2),
                "parameters that may be left out when they have their default value",
                &["http://a.example/list/x", "http://a.example/list/x?page=1"]),
            Self::SectionOnlyKey => facts("section-only-key", None,
                "id matters on /item and not on /help",
                &["http://a.example/help/x?id=1", "http://a.example/help/x?id=2"]),
            Self::CaseInsensitive => facts("case-insensitive", Some(3),
                "a server that does not tell letter cases of the path apart",
                &["http://a.example/News/Item.aspx", "http://a.example/news/item.aspx"]),
            Self::Encodings => facts("encodings", Some(4),
                "spaces and accents encoded in two ways each",
                &["http://a.example/search?q=a+caf%c3%a9", "http://a.example/search?q=a%20cafe%CC%81"]),
            Self::NumberFormats => facts("number-formats", Some(2),
                "numbers with leading zeros, dates as path or as number",
                &["http://a.example/diary/2010/04/01/", "http://a.example/diary?d=20100401"]),
            Self::RedundantCategory => facts("redundant-category", Some(16),
                "categories before an id that says it all",
                &["http://a.example/store/shoes/norda/p/123", "http://a.example/store/sale/p/123"]),
            Self::DefaultLanguage => facts("default-language", Some(2),
                "a language prefix that may be left out for English only",
                &["http://a.example/en/guide/x", "http://a.example/guide/x"]),
            Self::AliasTable => facts("alias-table", Some(2),
                "names and numbers for the same categories",
                &["http://a.example/browse?cat=electronics", "http://a.example/browse?c=17"]),
            Self::AffinePagination => facts("affine-pagination", Some(2),
                "pages counted from one, or by the first of their twenty results",
                &["http://a.example/results?page=3", "http://a.example/results?start=40"]),
            Self::SoftErrors => facts("soft-errors", None,
                "one error or login page for many URLs",
                &["http://a.example/account/x/9f", "http://a.example/account/x/3c"]),
            Self::PrintAndMobile => facts("print-and-mobile", Some(4),
                "versions for print and for phones",
                &["http://www.a.example/press/7", "http://www.a.example/press/7?print=1",
                  "http://m.a.example/press/7", "http://www.a.example/amp/press/7"]),
            Self::CrawlerTrap => facts("crawler-trap", Some(8),
                "directories that contain themselves",
                &["http://a.example/a/b/x", "http://a.example/a/b/a/b/a/b/x"]),
            Self::DatabaseMapping => facts("database-mapping", Some(3),
                "numbers that only the database of the site can translate; no rule is possible",
                &["http://a.example/t/prev/10135", "http://a.example/t/98579"]),
        }
    }

    /// The name by which it is chosen, such as `session-in-path`.
    pub const fn name(self) -> &'static str {
        self.facts().name
    }

    /// One line on what happens.
    pub const fn description(self) -> &'static str {
        self.facts().description
    }

    /// URLs of one page, as this phenomenon spells them.
    pub const fn examples(self) -> &'static [&'static str] {
        self.facts().examples
    }

    /// The most URLs that a page can have by this phenomenon; `None` where there is no end to them.
    pub const fn max_urls_per_page(self) -> Option<u64> {
        self.facts().max_urls_per_page
    }

    /// Whether its URLs are as the safe tier would write them.
    pub const fn is_safe_normal(self) -> bool {
        !matches!(self, Self::Encodings)
    }
}

impl fmt::Display for Phenomenon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no phenomenon has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown phenomenon `{name}`, expected `all` or some of {}", Phenomenon::ALL.map(Phenomenon::name).join(", "))]
pub struct UnknownPhenomenon {
    /// What was given.
    pub name: String,
}

impl FromStr for Phenomenon {
    type Err = UnknownPhenomenon;

    fn from_str(name: &str) -> Result<Self, UnknownPhenomenon> {
        let found = Self::ALL.into_iter().find(|phenomenon| phenomenon.name() == name);
        found.ok_or_else(|| UnknownPhenomenon { name: name.to_owned() })
    }
}

/// A set of phenomena.
///
/// ```
/// use dedust_simulate::{Phenomena, Phenomenon};
///
/// let some: Phenomena = "mirrors,glued-slug".parse()?;
/// assert!(some.contains(Phenomenon::Mirrors));
/// assert_eq!(some.to_string(), "mirrors,glued-slug");
/// assert_eq!("all".parse(), Ok(Phenomena::ALL));
/// # Ok::<(), dedust_simulate::UnknownPhenomenon>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phenomena(u32);

impl Phenomena {
    /// Every phenomenon.
    pub const ALL: Self = Self((1 << Phenomenon::ALL.len()) - 1);

    /// Whether `phenomenon` is one of them.
    pub const fn contains(self, phenomenon: Phenomenon) -> bool {
        self.0 >> phenomenon as u32 & 1 == 1
    }

    /// These phenomena, in the order of [`Phenomenon::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Phenomenon> {
        Phenomenon::ALL.into_iter().filter(move |&phenomenon| self.contains(phenomenon))
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

impl FromIterator<Phenomenon> for Phenomena {
    fn from_iter<I: IntoIterator<Item = Phenomenon>>(phenomena: I) -> Self {
        Self(phenomena.into_iter().fold(0, |set, phenomenon| set | 1 << phenomenon as u32))
    }
}

impl FromStr for Phenomena {
    type Err = UnknownPhenomenon;

    fn from_str(names: &str) -> Result<Self, UnknownPhenomenon> {
        if names == "all" {
            return Ok(Self::ALL);
        }
        names.split(',').map(|name| name.trim().parse::<Phenomenon>()).collect()
    }
}

impl fmt::Display for Phenomena {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::ALL {
            return f.write_str("all");
        }
        for (at, phenomenon) in self.iter().enumerate() {
            write!(f, "{}{phenomenon}", if at == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_read_back() {
        for (at, phenomenon) in Phenomenon::ALL.into_iter().enumerate() {
            assert_eq!(phenomenon as usize, at);
            assert_eq!(phenomenon.name().parse(), Ok(phenomenon));
            assert!(phenomenon.examples().len() >= 2);
        }
        let error = "mirror".parse::<Phenomena>().unwrap_err();
        assert!(error.to_string().starts_with("unknown phenomenon `mirror`, expected `all` or some of two-"));
    }
}
