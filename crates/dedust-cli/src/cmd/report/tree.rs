/*!
The pattern tree of a site as a list of nodes: the largest of them, each with the share of its duplicates.
*/

use dedust::{Normalizer, Scratch};
use dedust_baselines::{BuildOptions, NodeId, PatternTree};
use dedust_crawl::printable;
use dedust_learn::Corpus;
use dedust_report::TreeNode;
use foldhash::{HashMap, HashSet};
use xxhash_rust::xxh3::xxh3_64;

/// Exceptions of a wildcard that are spelled out.
const SHOWN_EXCEPTIONS: usize = 2;
/// Characters of a value.
const VALUE_CHARS: usize = 80;

/// The largest nodes of the tree, parents before children, siblings from large to small.
pub(crate) fn nodes(corpus: &Corpus, normalizer: &Normalizer, most: usize) -> Vec<TreeNode> {
    if corpus.is_empty() {
        return Vec::new();
    }
    let tree = PatternTree::build(corpus, &BuildOptions::default());
    let mut scratch = Scratch::default();
    let keys: Vec<u64> = (0..corpus.len() as u32)
        .map(|row| normalizer.key_with(corpus.url(row), &mut scratch).map_or(u64::from(row), xxh3_64))
        .collect();
    let shown = largest(&tree, most);
    let mut place_by_node: HashMap<NodeId, usize> = HashMap::default();
    let mut nodes = Vec::new();
    let mut open = vec![0];
    while let Some(node) = open.pop() {
        place_by_node.insert(node, nodes.len());
        let parent = tree.nodes()[node].parent();
        nodes.push(facts(&tree, node, parent.and_then(|parent| place_by_node.get(&parent).copied()), &keys));
        let children = tree.nodes()[node].children();
        let place = nodes.len() - 1;
        nodes[place].more = children.iter().filter(|child| !shown.contains(child)).count() as u64;
        open.extend(children.iter().rev().filter(|child| shown.contains(child)));
    }
    nodes
}

/// The largest nodes. A node is never larger than its parent, so the parents of all are among them.
fn largest(tree: &PatternTree<'_>, most: usize) -> HashSet<NodeId> {
    let mut nodes: Vec<NodeId> = (0..tree.nodes().len()).collect();
    nodes.sort_by_key(|&node| {
        (std::cmp::Reverse(tree.nodes()[node].volume()), tree.nodes()[node].depth(), node)
    });
    nodes.into_iter().take(most).collect()
}

fn facts(tree: &PatternTree<'_>, node: NodeId, parent: Option<usize>, keys: &[u64]) -> TreeNode {
    let members = tree.members(node);
    let facts = tree.facts(node, SHOWN_EXCEPTIONS);
    let (key, value) = facts.step.unzip();
    let distinct: HashSet<u64> = members.iter().map(|&row| keys[row as usize]).collect();
    TreeNode {
        parent,
        key,
        value: value.flatten().map(|value| value.chars().take(VALUE_CHARS).collect()),
        urls: facts.urls as u64,
        labelled: facts.labelled as u64,
        pages: facts.pages as u64,
        keys: distinct.len() as u64,
        example: members.iter().map(|&row| tree.corpus().url(row)).min().map_or_else(String::new, printable),
        more: 0,
    }
}
#[cfg(test)]
mod tests {
    use dedust::RuleSet;
    use dedust_learn::Clues;
    use dedust_report::{ReportBuilder, ReportSettings};

    use super::*;

    #[test]
    fn the_tree_has_all_urls_at_its_root() {
        let rules = RuleSet::new("none");
        let normalizer = Normalizer::compile(&rules);
        let settings = ReportSettings { tree: Some(nodes), ..ReportSettings::default() };
        let mut builder = ReportBuilder::new(Some(&rules), &normalizer, settings);
        for (url, digest) in [
            ("http://a.example/p?id=1&sid=1", "p1"),
            ("http://a.example/p?id=1&sid=2", "p1"),
            ("HTTP://a.example:80/p?id=1&sid=1", "p1"),
            ("http://a.example/p?id=2", "p2"),
            ("http://a.example/list?page=1", "l1"),
            ("http://a.example/other", "o"),
        ] {
            let clues = Clues { digest: Some(digest.as_bytes()), ..Clues::default() };
            builder.observe(url.as_bytes(), &clues).expect("it is a URL");
        }
        let data = builder.finish();
        let root = &data.details[0].tree[0];
        let counted = (root.parent, root.urls, root.labelled, root.pages, root.keys);
        assert_eq!(counted, (None, 5, 5, 4, 5), "one URL is safely the same");
        assert!(data.details[0].tree[1..].iter().all(|node| node.parent.is_some() && node.key.is_some()));
    }
}
