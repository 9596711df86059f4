/*!
A tree as indented text, as a Graphviz digraph and as JSON Lines.
*/

use std::io;

use dedust_baselines::{NodeId, PatternTree};
use serde::Serialize;

use super::{SHOWN_EXCEPTIONS, name, size};
use crate::number::counted;
use crate::printer::Printer;

/// One line of `--format json`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Record<'a> {
    /// A node; parents come before their children.
    Node {
        /// The registrable domain.
        site: &'a str,
        /// Counted from 0, the root.
        id: NodeId,
        /// Null for the root.
        parent: Option<NodeId>,
        /// Distance from the root.
        depth: usize,
        /// The key at which the node differs from its siblings; null for the root.
        key: Option<String>,
        /// What it holds there; null where the key is absent.
        value: Option<String>,
        /// URLs covered.
        urls: usize,
        /// Those whose page is known.
        labelled: usize,
        /// Distinct pages among the labelled URLs.
        pages: usize,
        /// The key at which the children differ; null for a leaf.
        split_key: Option<String>,
        /// The pattern of the node, as text.
        pattern: String,
    },
}

/// The nodes to draw, each before those below it, siblings from large to small.
fn visible(tree: &PatternTree<'_>, max_depth: usize) -> Vec<NodeId> {
    let mut order = Vec::new();
    let mut open = vec![0];
    while let Some(node) = open.pop() {
        order.push(node);
        let facts = &tree.nodes()[node];
        if facts.depth() < max_depth {
            open.extend(facts.children().iter().rev());
        }
    }
    order
}

fn count_below(tree: &PatternTree<'_>, node: NodeId) -> usize {
    let mut open = tree.nodes()[node].children().to_vec();
    let mut count = 0;
    while let Some(node) = open.pop() {
        count += 1;
        open.extend(tree.nodes()[node].children());
    }
    count
}

/// For people.
pub(super) fn draw_text(tree: &PatternTree<'_>, max_depth: usize, printer: &mut Printer) -> io::Result<()> {
    for node in visible(tree, max_depth) {
        let facts = tree.facts(node, SHOWN_EXCEPTIONS);
        let indent = "  ".repeat(tree.nodes()[node].depth());
        printer.line(format_args!("{indent}{}  ({})", name(&facts, tree), size(&facts)))?;
        let children = tree.nodes()[node].children();
        if children.is_empty() {
            printer.line(format_args!("{indent}  {}", facts.pattern))?;
        } else if tree.nodes()[node].depth() == max_depth {
            let below = counted(count_below(tree, node) as u64, "node", "nodes");
            printer.line(format_args!("{indent}  ... {below} below"))?;
        }
    }
    Ok(())
}

/// For Graphviz.
pub(super) fn draw_dot(tree: &PatternTree<'_>, max_depth: usize, printer: &mut Printer) -> io::Result<()> {
    printer.line(format_args!("digraph \"{}\" {{", escaped(tree.corpus().site())))?;
    printer.line("  rankdir=LR;")?;
    printer.line("  node [shape=box, fontname=\"monospace\"];")?;
    for node in visible(tree, max_depth) {
        let facts = tree.facts(node, SHOWN_EXCEPTIONS);
        let (name, size) = (escaped(&name(&facts, tree)), size(&facts));
        let pattern = escaped(&facts.pattern.to_string());
        printer.line(format_args!("  n{node} [label=\"{name}\\n{size}\", tooltip=\"{pattern}\"];"))?;
        if let Some(parent) = tree.nodes()[node].parent() {
            printer.line(format_args!("  n{parent} -> n{node};"))?;
        }
    }
    printer.line("}")
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// For programs.
pub(super) fn draw_json(tree: &PatternTree<'_>, max_depth: usize, printer: &mut Printer) -> io::Result<()> {
    for id in visible(tree, max_depth) {
        let node = &tree.nodes()[id];
        let facts = tree.facts(id, SHOWN_EXCEPTIONS);
        let (key, value) = facts.step.unzip();
        let value = value.flatten();
        printer.json(&Record::Node {
            site: tree.corpus().site(),
            id,
            parent: node.parent(),
            depth: node.depth(),
            key,
            value,
            urls: facts.urls,
            labelled: facts.labelled,
            pages: facts.pages,
            split_key: tree.split_key(id).map(ToString::to_string),
            pattern: facts.pattern.to_string(),
        })?;
    }
    Ok(())
}
