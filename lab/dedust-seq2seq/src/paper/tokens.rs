/*!
A URL as the paper's tokens.
*/

/// Delimiters that are tokens themselves.
const KEPT: [char; 4] = ['?', '=', '&', ';'];

/// The tokens of `url`.
///
/// ```
/// use dedust_seq2seq::paper::tokenize;
///
/// let tokens = tokenize("http://en.wikipedia.org/wiki?title=LinearModel");
/// assert_eq!(tokens, ["http:", "en.wikipedia.org", "wiki", "?", "title", "=", "LinearModel"]);
/// ```
pub fn tokenize(url: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    for part in url.split_inclusive(|c| c == '/' || KEPT.contains(&c)) {
        let text = part.trim_end_matches(|c| c == '/' || KEPT.contains(&c));
        tokens.extend((!text.is_empty()).then_some(text));
        let delimiter = &part[text.len()..];
        tokens.extend((!delimiter.is_empty() && delimiter != "/").then_some(delimiter));
    }
    tokens
}

/// Whether a token is a delimiter.
pub(super) fn is_delimiter(token: &str) -> bool {
    KEPT.iter().any(|kept| token.len() == 1 && token.starts_with(*kept))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slashes_split_and_vanish_other_delimiters_stay() {
        assert_eq!(tokenize("http://a.example//b/"), ["http:", "a.example", "b"]);
        assert_eq!(
            tokenize("http://a.example/?x=&y;z"),
            ["http:", "a.example", "?", "x", "=", "&", "y", ";", "z"]
        );
        assert_eq!(tokenize("http://a.example/b-c_d.html"), ["http:", "a.example", "b-c_d.html"]);
        assert!(tokenize("").is_empty());
    }
}
