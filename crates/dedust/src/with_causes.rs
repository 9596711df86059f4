/*!
Errors as people read them.
*/

use std::error::Error;

/// The message of an error and those of its causes, in one line. A cause that says what was just said is left out.
///
/// ```
/// use dedust::RuleSet;
/// use dedust::errors::with_causes;
///
/// let error = RuleSet::load(&b"{\"version\": 99}"[..]).unwrap_err();
/// assert!(with_causes(&error).starts_with(&error.to_string()));
/// ```
pub fn with_causes(error: &dyn Error) -> String {
    let mut messages = vec![error.to_string()];
    messages
        .extend(std::iter::successors(error.source(), |cause| (*cause).source()).map(ToString::to_string));
    // Some libraries pass on the text of a cause as their own.
    messages.dedup();
    messages.join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct Told(&'static str, #[source] Option<Box<Told>>);

    #[test]
    fn each_message_is_told_once() {
        let disk = Told("disk full", None);
        let library = Told("disk full", Some(disk.into()));
        let write = Told("cannot write a.json", Some(library.into()));
        assert_eq!(with_causes(&write), "cannot write a.json: disk full");
        assert_eq!(with_causes(&Told("no site", None)), "no site");
    }
}
