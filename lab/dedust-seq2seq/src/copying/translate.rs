/*!
From pairs to rules, with any translator: what it makes of each template once, and what is believed of that.
*/

use dedust_learn::Corpus;
use dedust_learn::support::Learned;

use super::accept::accept;
use super::pairs::pairs;
use super::program::Program;
use super::proposal::proposals;
use super::site::Site;
use crate::pair::{Pairs, Symbol};

/// Learns rules for a site. `translator` is given the site and pairs, and gives a translation of every template. It is
/// asked twice: each half of the pages is learned from once, and judges what was learned from the other half.
pub fn learn(
    corpus: &Corpus,
    seed: u64,
    mut translator: impl FnMut(&Site<'_>, &Pairs) -> Vec<Option<Vec<Symbol>>>,
) -> Learned {
    let mut site = Site::new(corpus);
    let mut pairs = pairs(&mut site, seed);
    let mut programs = Vec::new();
    for number in 0..2 {
        if !pairs.train.is_empty() {
            programs.extend(changes(&site, &translator(&site, &pairs), number));
        }
        std::mem::swap(&mut pairs.train, &mut pairs.held_out);
    }
    let proposals = proposals(&site, &programs);
    let raw_rules = proposals.len();
    let rules = accept(&site, proposals, seed);
    Learned { raw_rules, qualified_rules: rules.len(), rules, ..Learned::default() }
}

/// The programs that change URLs, from a translation of every template of a site.
fn changes(
    site: &Site<'_>,
    translations: &[Option<Vec<Symbol>>],
    translator: u8,
) -> impl Iterator<Item = (u32, u8, Program)> {
    (0..).zip(site.templates.iter().zip(translations)).filter_map(move |(number, (template, symbols))| {
        let program = Program::read(&site.language, template, symbols.as_deref()?)?;
        let is_changed = Some(&program) != Program::identity(&site.language, template).as_ref();
        is_changed.then_some((number, translator, program))
    })
}
