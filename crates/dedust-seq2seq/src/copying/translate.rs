/*!
From pairs to rules, with any translator: what it makes of each template once, what is believed of that, and rules.
*/

use dedust_learn::{Corpus, Learned};
use rustc_hash::FxHashMap;

use super::accept::{Accepted, Candidate, accept};
use super::pairs::pairs;
use super::program::{Program, follow};
use super::rules;
use super::site::Site;
use crate::pair::{Pairs, Symbol};

/// Learns rules for a site. `translator` is given the site and its pairs, and gives a translation of every template.
pub fn learn(
    corpus: &Corpus,
    seed: u64,
    translator: impl FnOnce(&Site<'_>, &Pairs) -> Vec<Option<Vec<Symbol>>>,
) -> Learned {
    let mut site = Site::new(corpus);
    let pairs = pairs(&mut site, seed);
    if pairs.train.is_empty() {
        return Learned::default();
    }
    let translations = translator(&site, &pairs);
    let candidates = candidates(&site, &translations);
    let raw_rules = candidates.len();
    let accepted: Vec<Accepted> = accept(&site, candidates, seed);
    Learned {
        raw_rules,
        qualified_rules: accepted.len(),
        rules: rules::write(&site, &accepted, seed),
        ..Learned::default()
    }
}

/// The programs that change URLs, from a translation of every template of a site.
pub fn candidates(site: &Site<'_>, translations: &[Option<Vec<Symbol>>]) -> Vec<Candidate> {
    let templates: FxHashMap<&[u32], u32> =
        site.templates.iter().map(|template| template.words.as_slice()).zip(0..).collect();
    let programs: Vec<Option<Program>> = site
        .templates
        .iter()
        .zip(translations)
        .map(|(template, symbols)| {
            let program = Program::read(&site.language, template, symbols.as_deref()?)?;
            (Some(&program) != Program::identity(&site.language, template).as_ref()).then_some(program)
        })
        .collect();
    let programs = follow(&site.language, &templates, &programs);
    (0..)
        .zip(programs)
        .filter_map(|(template, program)| Some(Candidate { template, program: program? }))
        .filter(|Candidate { template, program }| {
            Some(program) != Program::identity(&site.language, &site.templates[*template as usize]).as_ref()
        })
        .collect()
}
