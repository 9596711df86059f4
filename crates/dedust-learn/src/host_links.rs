/*!
Which hosts of a site say that their pages are those of another host, and whether the site writes `www`.

Who copies a page does not own it, so hosts of one registrable domain are joined only if the one whose URLs would be
rewritten says so: by redirects or canonical links from its pages to the same paths of the other. Canonical links to itself
say the opposite.
*/

use std::collections::BTreeSet;

use dedust::ParsedUrl;
use foldhash::HashMap;

use crate::preference::Form;
use crate::thresholds;

/// How many links lead to each host.
type Targets = HashMap<Box<[u8]>, u64>;

/// How many pages of each host lead to the same path of each other host, and of itself.
#[derive(Debug, Default)]
pub(crate) struct HostLinks {
    by_source: HashMap<Box<[u8]>, Targets>,
    /// Links to pages of the same host, `www` aside, that are written with `www`.
    to_www: u64,
    /// Those that are written without.
    to_bare: u64,
}

impl HostLinks {
    /// Takes in a link, which says something of hosts if it leads to the same path.
    pub(crate) fn observe(&mut self, source: &ParsedUrl, target: &ParsedUrl) {
        if (source.path(), source.query()) != (target.path(), target.query()) {
            return;
        }
        let [from, to] = [source, target].map(|url| without_www(url.host()));
        if from == to {
            let count = if to == target.host() { &mut self.to_bare } else { &mut self.to_www };
            *count += 1;
        }
        if !self.by_source.contains_key(from) {
            self.by_source.insert(from.into(), Targets::default());
        }
        let Some(links) = self.by_source.get_mut(from) else { return };
        match links.get_mut(to) {
            Some(count) => *count += 1,
            None => drop(links.insert(to.into(), 1)),
        }
    }

    /// The pairs of hosts of which the first says that its pages are those of the second, by what stands before the name of
    /// their site.
    pub(crate) fn declared(&self, site: &[u8]) -> BTreeSet<[Box<str>; 2]> {
        let labels = |host: &[u8]| {
            let labels = host.strip_suffix(site)?;
            let labels = labels.strip_suffix(b".").unwrap_or(labels);
            Some(String::from_utf8_lossy(labels).into())
        };
        let mut declared = BTreeSet::new();
        for (from, links) in &self.by_source {
            let to_itself = links.get(from).copied().unwrap_or_default();
            for (to, &count) in links.iter().filter(|(to, _)| *to != from) {
                if let (true, Some(from), Some(to)) = (is_said(count, to_itself), labels(from), labels(to)) {
                    declared.insert([from, to]);
                }
            }
        }
        declared
    }

    /// Whether the site itself writes `www` or leaves it out, if it says so.
    pub(crate) fn declared_form(&self) -> Option<Form> {
        let says_www = is_said(self.to_www, self.to_bare).then_some(Form::Www);
        says_www.or_else(|| is_said(self.to_bare, self.to_www).then_some(Form::Bare))
    }
}

/// Whether this many links are enough to say something, beside those that say the opposite.
fn is_said(links: u64, opposite: u64) -> bool {
    links >= thresholds::hosts::MIN_LINKS
        && opposite as f64 <= thresholds::hosts::MAX_SELF_LINKS * links as f64
}

fn without_www(host: &[u8]) -> &[u8] {
    host.strip_prefix(b"www.").unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(links: &[(&str, &str, u64)]) -> BTreeSet<[Box<str>; 2]> {
        let mut host_links = HostLinks::default();
        for &(from, to, count) in links {
            for page in 0..count {
                let [from, to] = [from, to].map(|host| ParsedUrl::parse(format!("http://{host}/{page}")));
                host_links.observe(&from.expect("a URL"), &to.expect("a URL"));
            }
        }
        host_links.declared(b"example.org")
    }

    #[test]
    fn the_host_that_is_rewritten_must_say_so() {
        let links = [("m.example.org", "www.example.org", 10)];
        assert_eq!(declared(&links), BTreeSet::from([["m".into(), "".into()]]));
    }

    #[test]
    fn few_links_and_links_to_itself_say_nothing() {
        assert_eq!(declared(&[("m.example.org", "example.org", 9)]), BTreeSet::new());
        let denied = [("m.example.org", "example.org", 20), ("m.example.org", "m.example.org", 3)];
        assert_eq!(declared(&denied), BTreeSet::new());
        assert_eq!(declared(&[("www.example.org", "example.org", 20)]), BTreeSet::new(), "one host");
    }

    #[test]
    fn a_site_says_whether_it_writes_www() {
        let form = |to_www: u64, to_bare: u64| {
            let mut links = HostLinks::default();
            for page in 0..to_www + to_bare {
                let target = if page < to_www { "www.example.org" } else { "example.org" };
                let [from, to] =
                    ["example.org", target].map(|host| ParsedUrl::parse(format!("http://{host}/{page}")));
                links.observe(&from.expect("a URL"), &to.expect("a URL"));
            }
            links.declared_form()
        };
        assert_eq!(form(20, 1), Some(Form::Www));
        assert_eq!(form(0, 20), Some(Form::Bare));
        assert_eq!(form(20, 20), None, "it says both");
        assert_eq!(form(3, 0), None, "it says too little");
    }

    #[test]
    fn links_to_other_paths_say_nothing() {
        let mut host_links = HostLinks::default();
        let home = ParsedUrl::parse("http://example.org/").expect("a URL");
        for page in 0..50 {
            let from = ParsedUrl::parse(format!("http://m.example.org/{page}")).expect("a URL");
            host_links.observe(&from, &home);
        }
        assert_eq!(host_links.declared(b"example.org"), BTreeSet::new());
    }
}
