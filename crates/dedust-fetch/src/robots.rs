/*!
What a site lets us fetch, by its robots.txt.

As RFC 9309 has it: no file, no limits; a file that cannot be had, nothing is allowed. Of a file, the first 500 KiB are
read. One that has more than [`MAX_LINES`] rules and sitemaps for us is not kept, and its site is left alone.

`robotxt` reads the file and matches its rules, in time linear in the length of a rule and that of the URL, so that
`MAX_LINES` bounds both the memory of a file and the time of a check.
*/

use std::time::Duration;

use url::Url;

use crate::FetchError;

/// Longest pause between requests that is granted.
const MAX_DELAY: Duration = Duration::from_secs(60);

/// Rules and sitemaps of a file that is kept.
const MAX_LINES: usize = 5_000;

/// What a site lets us fetch.
#[derive(Debug)]
pub(crate) enum Robots {
    /// Everything.
    Free,
    /// What the file says.
    File(robotxt::Robots),
    /// Nothing, as the file is too long to be kept.
    TooLong,
    /// Nothing, as the file cannot be had.
    Unreachable(FetchError),
}

impl Robots {
    /// Reads a file for the program that calls itself `user_agent`.
    pub(crate) fn read(user_agent: &str, body: &[u8]) -> Self {
        let file = robotxt::Robots::parse(body, product(user_agent));
        match file.rules().len() + file.sitemaps().len() {
            0..=MAX_LINES => Self::File(file),
            _ => Self::TooLong,
        }
    }

    /// Whether `url` may be fetched.
    pub(crate) fn check(&self, url: &Url) -> Result<(), FetchError> {
        match self {
            Self::File(file) if !file.is_url_allowed(url) => Err(FetchError::Robots),
            Self::TooLong => Err(FetchError::LongRobots),
            Self::Unreachable(FetchError::PrivateAddress) => Err(FetchError::PrivateAddress),
            Self::Unreachable(_) => Err(FetchError::NoRobots),
            _ => Ok(()),
        }
    }

    /// The pause between requests that the site asks for.
    pub(crate) fn delay(&self) -> Duration {
        match self {
            Self::File(file) => file.crawl_delay().unwrap_or_default().min(MAX_DELAY),
            _ => Duration::ZERO,
        }
    }
}

/// The name that a robots.txt knows a program by: what stands before its version.
fn product(user_agent: &str) -> &str {
    let end = user_agent.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'));
    &user_agent[..end.unwrap_or(user_agent.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(file: &str, path: &str) -> bool {
        let url = Url::parse("http://a.example/").unwrap().join(path).unwrap();
        Robots::read("dedust/0.1 (URL normalization check)", file.as_bytes()).check(&url).is_ok()
    }

    #[test]
    fn the_most_specific_group_counts() {
        let file =
            "User-agent: *\nDisallow: /\n\nUser-agent: dedust\nDisallow: /private\nAllow: /private/open\n";
        assert!(allows(file, "/"));
        assert!(!allows(file, "/private?x=1"));
        assert!(allows(file, "/private/open"));
        assert!(!allows("User-agent: *\nDisallow: /*sid=", "/p?id=1&sid=2"));
        assert!(allows("User-agent: other\nDisallow: /", "/p"));
    }

    #[test]
    fn what_is_no_robots_file_forbids_nothing() {
        for file in ["", "<html>not found</html>", "\0\0\0", "Disallow: /p", "User-agent: *\nDisallow:"] {
            assert!(allows(file, "/p"), "{file:?}");
        }
    }

    #[test]
    fn delays_are_bounded() {
        let delay = |text: &str| Robots::read("dedust", format!("User-agent: *\n{text}").as_bytes()).delay();
        assert_eq!(delay("Crawl-delay: 2"), Duration::from_secs(2));
        assert_eq!(delay("Crawl-delay: 86400"), MAX_DELAY);
        assert_eq!(delay("Crawl-delay: -1"), Duration::ZERO);
        assert_eq!(delay("Disallow: /"), Duration::ZERO);
    }

    /// Of a file with one group for everyone.
    fn rules_allow(rules: &str, path: &str) -> bool {
        allows(&format!("User-agent: *\n{rules}"), path)
    }

    // The cases below follow the sections of RFC 9309.

    #[test]
    fn groups_are_chosen_by_the_whole_name_in_any_case() {
        for name in ["dedust", "Dedust", "DEDUST"] {
            assert!(!allows(&format!("User-Agent: {name}\nDisallow: /"), "/p"), "{name}");
        }
        for name in ["dedustbot", "dust", "ded"] {
            assert!(allows(&format!("User-agent: {name}\nDisallow: /"), "/p"), "{name}");
        }
    }

    #[test]
    fn groups_of_one_name_are_joined() {
        let file = "User-agent: dedust\nDisallow: /a\n\nUser-agent: x\nDisallow: /c\n\nUser-agent: y\n\
                    User-agent: dedust\nDisallow: /b\n";
        assert_eq!(["/a", "/b", "/c"].map(|path| allows(file, path)), [false, false, true]);
        // Other lines do not end a group, and a group of our own replaces that of everyone.
        let file =
            "User-agent: *\nDisallow: /e\nUser-agent: dedust\nSitemap: http://a.example/s\nDisallow: /a\n";
        assert_eq!(["/a", "/e"].map(|path| allows(file, path)), [false, true]);
    }

    #[test]
    fn the_longest_rule_counts_and_allow_wins_ties() {
        let rules = "Allow: /a/b\nDisallow: /a\nDisallow: /a/b/c\nAllow: /same\nDisallow: /same\n";
        for (path, expected) in [
            ("/a", false),
            ("/a/x", false),
            ("/a/b", true),
            ("/a/b/c", false),
            ("/same", true),
            ("/other", true),
        ] {
            assert_eq!(rules_allow(rules, path), expected, "{path}");
        }
        assert!(rules_allow("Disallow: /", "/robots.txt"), "the file itself is always allowed");
    }

    #[test]
    fn stars_stand_for_anything_and_a_dollar_for_the_end() {
        for (rule, path, expected) in [
            ("/*.gif$", "/a/b.gif", false),
            ("/*.gif$", "/a/b.gif?x", true),
            ("/*.gif", "/a/b.gif?x", false),
            ("/a*b*c", "/a-b-c-d", false),
            ("/a*b*c", "/a-c-b", true),
            ("/a$", "/a", false),
            ("/a$", "/a/", true),
            ("/a$b", "/a$b", false),
            ("*", "/p", false),
            ("/*/x/*", "/a/x/", false),
        ] {
            assert_eq!(rules_allow(&format!("Disallow: {rule}"), path), expected, "{rule} {path}");
        }
    }

    #[test]
    fn escapes_are_compared_by_what_they_stand_for() {
        for (rule, path, expected) in [
            ("/foo/bar?baz=quz", "/foo/bar?baz=quz", false),
            ("/foo/bar/ツ", "/foo/bar/%E3%83%84", false),
            ("/foo/bar/%E3%83%84", "/foo/bar/ツ", false),
            ("/foo/bar/%62%61%7A", "/foo/bar/baz", false),
            ("/foo/bar/%e3%83%84", "/foo/bar/%E3%83%84", false),
            ("/a%2Fb", "/a/b", true),
            ("/A", "/a", true),
        ] {
            assert_eq!(rules_allow(&format!("Disallow: {rule}"), path), expected, "{rule} {path}");
        }
    }

    #[test]
    fn comments_spaces_and_line_ends_do_not_matter() {
        for file in [
            "user-agent: * # everyone\r\ndisallow : /p # no\r\n",
            "\u{feff}User-agent:*\rDisallow:/p\r",
            "  User-agent: *\n\n\n  Disallow: /p",
        ] {
            assert!(!allows(file, "/p") && allows(file, "/q"), "{file:?}");
        }
    }

    #[test]
    fn five_hundred_kibibytes_are_read() {
        let file = |filler: usize| format!("User-agent: *\n#{}\nDisallow: /p\n", "x".repeat(filler));
        assert!(!allows(&file(510_000), "/p"));
        assert!(allows(&file(512_000), "/p"));
    }

    #[test]
    fn a_file_of_too_many_lines_is_not_kept() {
        let file = |line: &str, count| format!("User-agent: *\n{}", line.repeat(count));
        for line in ["Disallow: /*a*b\n", "Allow: /x\n", "Sitemap: http://a.example/s\n"] {
            let read = |count| Robots::read("dedust", file(line, count).as_bytes());
            assert!(matches!(read(MAX_LINES), Robots::File(_)), "{line}");
            assert!(matches!(read(MAX_LINES + 1), Robots::TooLong), "{line}");
        }
        let other = file("Disallow: /*a*b\n", MAX_LINES + 1).replace('*', "other");
        assert!(matches!(Robots::read("dedust", other.as_bytes()), Robots::File(_)), "rules for others");
    }
}
