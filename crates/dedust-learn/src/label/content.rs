/*!
What was seen at a URL, apart from what ties it to others: does another URL show something else?
*/

use super::Clues;
use crate::canonical_fate::Seen;
use crate::likeness::{Likeness, PageText, identity_of};
use crate::text_hash::TextHash;

/// What was seen at a URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Content {
    page: PageText,
    /// What its canonical link names, by [`identity_of`]; 0 for none.
    canonical: u64,
    /// Hashes of the URL that it redirects to: of all of it, and of what is left without scheme, `www` and known noise.
    redirect: u64,
    destination: u64,
    outcome: Outcome,
    /// Whether it showed something else at another visit: then it is no witness.
    changes: bool,
    /// Whether what is known of it is what is shown where it redirects to.
    is_followed: bool,
    /// Whether a canonical link names it.
    is_named: bool,
    /// Whether a canonical link of its page does.
    is_named_by_page: bool,
    /// Whether its canonical link names another URL of its page.
    names_another: bool,
    /// Whether there is a cluster label, which settles everything.
    is_settled: bool,
    /// Whether pages of its kind are as alike as fetches of one page.
    is_uniform: bool,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    #[default]
    Unknown,
    /// There is no such page, now and at the next visit.
    Error,
    Redirect,
    Page,
}

/// What two contents say of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    /// They are equal.
    Same,
    /// They differ slightly, as two fetches of one page may.
    Slight,
    /// They are two pages.
    Different,
    /// Too little is known.
    Unknown,
}

impl Content {
    /// Takes in what was seen. The order of observations leaves no trace.
    pub(crate) fn observe(&mut self, clues: &Clues<'_>, hash: TextHash) {
        self.is_settled |= clues.cluster.is_some();
        let seen = Self::of(clues, hash);
        if seen.outcome == Outcome::Unknown {
            return;
        }
        if self.outcome == Outcome::Unknown {
            let Self { changes, is_settled, .. } = *self;
            *self = Self { changes, is_settled, ..seen };
            return;
        }
        self.changes |= self.what() != seen.what();
        if seen.outcome > self.outcome || (seen.outcome == self.outcome && seen.rank() < self.rank()) {
            let Self { changes, is_settled, .. } = *self;
            *self = Self { changes, is_settled, ..seen };
        }
    }

    fn of(clues: &Clues<'_>, hash: TextHash) -> Self {
        let mut content = Self::default();
        match clues.status {
            // What a server says of itself, or of its haste, says nothing of the page.
            Some(408 | 425 | 429 | 500..) => return content,
            Some(400..=499) => content.outcome = Outcome::Error,
            _ if clues.redirect.is_some() => {
                let target = clues.redirect.unwrap_or_default();
                content.outcome = Outcome::Redirect;
                content.redirect = hash.of(target);
                content.destination = identity_of(target, hash);
            }
            None | Some(200..=299) => {
                content.page = PageText::of(clues, hash);
                content.canonical = clues.canonical.map_or(0, |url| identity_of(url, hash));
                if content.page.shown() != 0 {
                    content.outcome = Outcome::Page;
                }
            }
            Some(_) => {}
        }
        content
    }

    fn what(&self) -> (Outcome, u64, u64) {
        (self.outcome, self.page.shown(), self.destination)
    }

    fn rank(&self) -> (PageText, u64, u64) {
        (self.page, self.redirect, self.canonical)
    }

    /// Whether the fingerprint is all that is known of its text.
    pub(super) fn is_known_by_fingerprint(&self) -> bool {
        self.page.text == 0 && self.page.body == 0
    }

    /// What was seen; of a URL with a label a page was, if nothing else was.
    pub(crate) fn seen(&self, has_label: bool) -> Seen {
        match () {
            () if self.leads_on() => Seen::Redirect,
            () if self.is_error() => Seen::Error,
            () if self.outcome == Outcome::Page || has_label => Seen::Page,
            () => Seen::Unknown,
        }
    }

    /// Whether there is no such page.
    pub(crate) fn is_error(&self) -> bool {
        self.outcome == Outcome::Error && !self.changes && !self.is_settled
    }

    /// The hash of the URL that it redirects to.
    pub(crate) fn redirect(&self) -> Option<u64> {
        (self.outcome == Outcome::Redirect && !self.changes).then_some(self.redirect)
    }

    /// Takes over what is shown where it redirects to.
    pub(crate) fn follow(&mut self, target: &Self) {
        if target.outcome == Outcome::Page {
            *self = Self { is_settled: self.is_settled, is_followed: true, ..*target };
        }
    }

    /// Whether it shows nothing itself but leads to another URL.
    pub(crate) fn leads_on(&self) -> bool {
        self.is_followed || self.outcome == Outcome::Redirect
    }

    /// Notes that pages of its kind are as alike as fetches of one page.
    pub(super) fn set_uniform(&mut self) {
        self.is_uniform = true;
    }

    /// Whether pages of its kind are as alike as fetches of one page.
    pub(super) fn is_uniform(&self) -> bool {
        self.is_uniform
    }

    /// Whether its canonical link and that of another name different pages.
    fn names_other_than(&self, other: &Self) -> bool {
        self.canonical != 0 && other.canonical != 0 && self.canonical != other.canonical
    }

    /// Notes that a canonical link names it.
    pub(super) fn set_named(&mut self) {
        self.is_named = true;
    }

    /// Whether a canonical link names it.
    pub(crate) fn is_named(&self) -> bool {
        self.is_named
    }

    /// Notes that a canonical link of its page names it.
    pub(super) fn set_named_by_page(&mut self) {
        self.is_named_by_page = true;
    }

    /// Whether a canonical link of its page names it.
    pub(crate) fn is_named_by_page(&self) -> bool {
        self.is_named_by_page
    }

    /// Notes that its canonical link names another URL of its page.
    pub(super) fn set_names_another(&mut self) {
        self.names_another = true;
    }

    /// Whether its canonical link names another URL of its page.
    pub(crate) fn names_another(&self) -> bool {
        self.names_another
    }

    /// Whether something was seen that can be compared, or a label says which page it is.
    pub(super) fn is_known(&self) -> bool {
        self.is_settled || self.outcome != Outcome::Unknown
    }

    /// Whether nothing that was seen speaks against a claim that two URLs are one page.
    pub(super) fn may_be_one_with(&self, other: &Self, likeness: &Likeness) -> bool {
        (self.is_settled && other.is_settled) || self.relation(other, likeness) != Relation::Different
    }

    /// What two contents say of each other on a site with such a likeness of pages. Labels have been compared before: of
    /// two URLs with different cluster labels nothing else is asked.
    pub(crate) fn relation(&self, other: &Self, likeness: &Likeness) -> Relation {
        use Outcome::{Error, Page, Redirect};
        if self.is_settled && other.is_settled {
            return Relation::Different;
        }
        if self.changes || other.changes {
            return Relation::Unknown;
        }
        match (self.outcome, other.outcome) {
            (Page, Page) => match self.page.is_equal(&other.page) {
                None => Relation::Unknown,
                Some(true) => Relation::Same,
                Some(false) if self.is_uniform && other.is_uniform => Relation::Different,
                Some(false) if likeness.canonicals_tell && self.names_other_than(other) => {
                    Relation::Different
                }
                Some(false) if likeness.is_slight(&self.page, &other.page) => Relation::Slight,
                Some(false) => Relation::Different,
            },
            (Redirect, Redirect) if self.destination == other.destination => Relation::Same,
            (Redirect, Redirect) | (Error, Page | Redirect) | (Page | Redirect, Error) => Relation::Different,
            _ => Relation::Unknown,
        }
    }
}

impl PageText {
    /// What is compared of an observation.
    pub(super) fn of(clues: &Clues<'_>, hash: TextHash) -> Self {
        let main = clues.main.map(|main| hash.of(main.digest));
        Self {
            text: hash.of_digest(clues.text_digest).or(main).unwrap_or_default(),
            body: hash.of_digest(clues.digest).unwrap_or_default(),
            title: hash.of_text(clues.title).unwrap_or_default(),
            simhash: clues.simhash.unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::likeness::Limits;

    fn usual() -> Likeness {
        Likeness { simhash: Limits { slight: 12, equal: 3 }, ..Likeness::default() }
    }

    fn seen(clues: Clues<'_>) -> Content {
        let mut content = Content::default();
        content.observe(&clues, TextHash::default());
        content
    }

    fn relation(one: Clues<'_>, other: Clues<'_>) -> Relation {
        let (one, other) = (seen(one), seen(other));
        let relation = one.relation(&other, &usual());
        assert_eq!(relation, other.relation(&one, &usual()), "in either order");
        relation
    }

    #[test]
    fn texts_are_compared_before_bodies() {
        let page = |text: &'static [u8], body: &'static [u8]| Clues {
            text_digest: Some(text),
            digest: Some(body),
            ..Clues::default()
        };
        assert_eq!(relation(page(b"1", b"1"), page(b"1", b"2")), Relation::Same);
        assert_eq!(relation(page(b"1", b"1"), page(b"2", b"2")), Relation::Different);
        assert_eq!(
            relation(Clues { text_digest: None, ..page(b"", b"1") }, page(b"2", b"1")),
            Relation::Same
        );
    }

    #[test]
    fn fingerprints_are_compared_where_nothing_else_is_known() {
        let page = |title: &'static [u8], simhash| Clues {
            title: Some(title),
            simhash: Some(simhash),
            ..Clues::default()
        };
        assert_eq!(relation(page(b"t", 7), page(b"t", 7)), Relation::Same);
        assert_eq!(
            relation(page(b"t", 7), page(b"u", 7)),
            Relation::Different,
            "another title is another page"
        );
        assert_eq!(relation(page(b"t", 7), page(b"t", u64::MAX)), Relation::Different);
    }

    #[test]
    fn small_differences_are_slight_where_the_titles_are_equal() {
        let page = |text: &'static [u8], title: &'static [u8], simhash| Clues {
            text_digest: Some(text),
            title: Some(title),
            simhash: Some(simhash),
            ..Clues::default()
        };
        assert_eq!(relation(page(b"1", b"t", 1), page(b"2", b"t", 0b111)), Relation::Slight);
        assert_eq!(relation(page(b"1", b"t", 1), page(b"2", b"u", 0b111)), Relation::Different);
        assert_eq!(relation(page(b"1", b"t", 1), page(b"2", b"t", u64::MAX)), Relation::Different);
    }

    #[test]
    fn an_error_is_no_page_unless_it_passes() {
        let page = Clues { digest: Some(b"1"), status: Some(200), ..Clues::default() };
        let error = |status| Clues { status: Some(status), ..Clues::default() };
        assert_eq!(relation(page, error(404)), Relation::Different);
        assert_eq!(relation(page, error(503)), Relation::Unknown);
        assert_eq!(relation(page, error(429)), Relation::Unknown);
        assert_eq!(relation(error(404), error(410)), Relation::Unknown);
    }

    #[test]
    fn redirects_to_different_pages_differ() {
        let to =
            |target: &'static [u8]| Clues { redirect: Some(target), status: Some(301), ..Clues::default() };
        assert_eq!(relation(to(b"http://a.example/x"), to(b"http://a.example/y")), Relation::Different);
        let session = to(b"https://www.a.example/x?sid=9f3e21aa");
        assert_eq!(relation(to(b"http://a.example/x"), session), Relation::Same);
    }

    #[test]
    fn a_page_that_changes_is_no_witness() {
        let page = |digest: &'static [u8]| Clues { digest: Some(digest), ..Clues::default() };
        let mut changing = seen(page(b"1"));
        changing.observe(&page(b"2"), TextHash::default());
        assert_eq!(changing.relation(&seen(page(b"3")), &usual()), Relation::Unknown);
    }
}
