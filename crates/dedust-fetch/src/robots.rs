/*!
What a site lets us fetch, by its robots.txt.

As RFC 9309 has it: no file, no limits; a file that cannot be had, nothing is allowed.
*/

use std::fmt;
use std::time::Duration;

use texting_robots::Robot;
use url::Url;

use crate::FetchError;

/// Longest pause between requests that is granted.
const MAX_DELAY: Duration = Duration::from_secs(60);

/// Bytes of the file that are read.
pub(crate) const MAX_BYTES: usize = 500 << 10;

/// What a site lets us fetch.
pub(crate) enum Robots {
    /// Everything.
    Free,
    /// What the file says.
    File(Box<Robot>),
    /// Nothing, as the file cannot be had.
    Unreachable(FetchError),
}

impl Robots {
    /// Reads a file for the program that calls itself `user_agent`.
    pub(crate) fn read(user_agent: &str, body: &[u8]) -> Self {
        let body = &body[..body.len().min(MAX_BYTES)];
        Robot::new(product(user_agent), body).map_or(Self::Free, |robot| Self::File(Box::new(robot)))
    }

    /// Whether `url` may be fetched.
    pub(crate) fn check(&self, url: &Url) -> Result<(), FetchError> {
        match self {
            Self::File(robot) if !robot.allowed(url.as_str()) => Err(FetchError::Robots),
            Self::Unreachable(FetchError::PrivateAddress) => Err(FetchError::PrivateAddress),
            Self::Unreachable(_) => Err(FetchError::NoRobots),
            _ => Ok(()),
        }
    }

    /// The pause between requests that the site asks for.
    pub(crate) fn delay(&self) -> Duration {
        match self {
            Self::File(robot) => robot
                .delay
                .and_then(|seconds| Duration::try_from_secs_f32(seconds).ok())
                .map_or(Duration::ZERO, |delay| delay.min(MAX_DELAY)),
            _ => Duration::ZERO,
        }
    }
}

impl fmt::Debug for Robots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Free => "Free",
            Self::File(_) => "File",
            Self::Unreachable(_) => "Unreachable",
        })
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
        for file in ["", "<html>not found</html>", "\0\0\0"] {
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
}
