/*!
Follows links from URL to URL to where they end.

URLs are 64-bit hashes. Takes links, gives for each URL that has one the URL where its chain ends. A chain
that runs into a loop ends nowhere. A URL with links to two different targets says nothing, so chains that
reach it end there.
*/

use foldhash::HashMap;

/// The ends of all chains of a set of links.
#[derive(Debug)]
pub(super) struct Chains {
    end_by_url: HashMap<u64, Option<u64>>,
}

impl Chains {
    /// Follows `links`, each a source and a target. Linear in their number, however long the chains.
    pub(super) fn new(links: impl Iterator<Item = (u64, u64)>) -> Chains {
        let mut links: Vec<(u64, u64)> = links.collect();
        links.sort_unstable();
        links.dedup();
        let target_by_url: HashMap<u64, u64> = links
            .chunk_by(|left, right| left.0 == right.0)
            .filter(|targets| targets.len() == 1)
            .map(|targets| targets[0])
            .collect();

        let mut end_by_url = HashMap::default();
        let mut path = Vec::new();
        for (source, _) in links {
            let mut url = source;
            let end = loop {
                if let Some(end) = end_by_url.get(&url) {
                    break *end;
                }
                match target_by_url.get(&url) {
                    None => break Some(url),
                    Some(&target) => {
                        path.push(url);
                        if target == url {
                            break Some(url);
                        }
                        // Until its end is known a URL of the path counts as part of a loop: whoever
                        // comes back to it is in one.
                        end_by_url.insert(url, None);
                        url = target;
                    }
                }
            };
            end_by_url.extend(path.drain(..).map(|url| (url, end)));
        }
        Chains { end_by_url }
    }

    /// Where the chain from `url` ends: `None` if no link leads on from `url`, or if it ends in a loop.
    pub(super) fn end_of(&self, url: u64) -> Option<u64> {
        self.end_by_url.get(&url).copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_are_followed_to_the_end() {
        let chains = Chains::new([(2, 3), (1, 2), (3, 4), (9, 3)].into_iter());
        assert_eq!([1, 2, 3, 9].map(|url| chains.end_of(url)), [Some(4); 4]);
        assert_eq!(chains.end_of(4), None);
    }

    #[test]
    fn a_loop_has_no_end_for_those_in_it_and_those_before_it() {
        let chains = Chains::new([(1, 2), (2, 3), (3, 2), (5, 6)].into_iter());
        assert_eq!([1, 2, 3].map(|url| chains.end_of(url)), [None; 3]);
        assert_eq!(chains.end_of(5), Some(6));
    }

    #[test]
    fn a_link_to_itself_is_an_end() {
        let chains = Chains::new([(1, 2), (2, 2)].into_iter());
        assert_eq!([1, 2].map(|url| chains.end_of(url)), [Some(2); 2]);
    }

    #[test]
    fn two_targets_are_no_link_but_the_same_target_twice_is() {
        let chains = Chains::new([(1, 2), (2, 3), (2, 4), (5, 6), (5, 6)].into_iter());
        assert_eq!([1, 2, 5].map(|url| chains.end_of(url)), [Some(2), None, Some(6)]);
    }
}
