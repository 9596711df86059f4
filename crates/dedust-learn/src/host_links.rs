/*!
Which hosts of a site say that their pages are those of another host.

Who copies a page does not own it, so hosts of one registrable domain are joined only if the one whose URLs would be
rewritten says so: by redirects or canonical links from its pages to the same paths of the other. Canonical links to itself
say the opposite.
*/

use std::collections::BTreeSet;

use dedust::ParsedUrl;
use foldhash::HashMap;

use crate::thresholds;

/// How many links lead to each host.
type Targets = HashMap<Box<[u8]>, u64>;

/// How many pages of each host lead to the same path of each other host, and of itself.
#[derive(Debug, Default)]
pub(crate) struct HostLinks {
    by_source: HashMap<Box<[u8]>, Targets>,
}

impl HostLinks {
    /// Takes in a link, which says something of hosts if it leads to the same path.
    pub(crate) fn observe(&mut self, source: &ParsedUrl, target: &ParsedUrl) {
        if (source.path(), source.query()) != (target.path(), target.query()) {
            return;
        }
        let [from, to] = [source, target].map(|url| without_www(url.host()));
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
