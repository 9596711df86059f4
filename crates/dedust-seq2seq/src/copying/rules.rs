/*!
Believed programs in the language of rule files.
*/

use dedust::{
    AnyValue, Evidence, Op, OtherParams, Pattern, Rewrite, Rule, TokenKey, Value, ValueClass, ValuePattern,
};
use dedust_learn::metrics::count_pairs;
use dedust_learn::{EvidenceKinds, fitting, rule_evidence};
use rustc_hash::FxHashMap;

use super::accept::{Accepted, Trial};
use super::language::{Word, is_argument};
use super::program::{Piece, Program};
use super::site::{Site, Template};

/// One rule for each program, in the order of their templates, with what training saw of it.
pub fn write(site: &Site<'_>, accepted: &[Accepted], seed: u64) -> Vec<Rule> {
    let mut trial = Trial::new(site, seed);
    for Accepted { candidate, .. } in accepted {
        trial.run(candidate);
    }
    let mut evidence = evidence(site, &trial);
    let rule = |accepted: &Accepted| {
        let template = &site.templates[accepted.candidate.template as usize];
        let evidence = evidence.remove(&accepted.candidate.template).unwrap_or_default();
        Rule {
            pattern: pattern(site, template),
            other_params: OtherParams::Refuse,
            rewrite: rewrite(&accepted.candidate.program),
            evidence: Evidence {
                urls: template.rows.len() as u64,
                failure_bound: accepted.failure_bound,
                ..evidence
            },
        }
    };
    fitting(accepted.iter().map(rule).collect())
}

/// Which URLs a template covers: words as they are, arguments by the class of those seen, less the words.
fn pattern(site: &Site<'_>, template: &Template) -> Pattern {
    let words = template.words.iter().zip(&template.keys);
    let mut keys: Vec<(TokenKey, ValuePattern)> = Vec::new();
    for (&word, key) in words {
        if is_argument(word) {
            let values: Vec<&Value> = template.rows.iter().filter_map(|&row| site.value(row, key)).collect();
            let class = ValueClass::of(values.iter().copied());
            let except = site.language.source_words().iter().filter_map(|word| word_at(word, key));
            let except: Vec<Value> = except.filter(|value| class.contains(value)).collect();
            keys.push((key.clone(), ValuePattern::Any(AnyValue { class, except, optional: false })));
        } else if let Some(value) = site.language.word(word).and_then(|word| word_at(word, key)) {
            keys.push((key.clone(), ValuePattern::Is(value)));
        }
    }
    Pattern::new(keys)
}

/// The value that a word is under a key, if it can stand there.
fn word_at(word: &Word, key: &TokenKey) -> Option<Value> {
    match (word, key) {
        (Word::Scheme(text), TokenKey::Scheme)
        | (Word::Label(text), TokenKey::Subdomain(_))
        | (Word::Segment(text), TokenKey::PathSegment(_)) => Some((&**text).into()),
        (Word::Slash, TokenKey::TrailingSlash) => Some("/".into()),
        (Word::Value(of, value), key) if of == key => Some(value.clone()),
        _ => None,
    }
}

fn rewrite(program: &Program) -> Rewrite {
    let op = |piece: &Piece| match piece {
        Piece::Literal(value) => Op::Keep(value.clone()),
        Piece::Copy(from) => Op::Copy(from.clone()),
    };
    Rewrite::new(program.target.iter().map(|(key, piece)| (key.clone(), op(piece))), Vec::new())
}

/// What training saw of each changed template.
fn evidence(site: &Site<'_>, trial: &Trial<'_, '_>) -> FxHashMap<u32, Evidence> {
    let corpus = site.corpus;
    /// Rows by result, and examples, of one template.
    #[derive(Default)]
    struct Seen {
        rows: Vec<(u64, u32)>,
        kinds: Option<EvidenceKinds>,
        examples: Vec<(u32, u32)>,
    }
    let mut seen: FxHashMap<u32, Seen> = FxHashMap::default();
    for (&result, rows) in &trial.groups() {
        let mut templates: Vec<u32> = rows
            .iter()
            .filter(|&&row| trial.is_changed(row))
            .filter_map(|&row| site.template_of[row as usize])
            .collect();
        templates.sort_unstable();
        templates.dedup();
        for template in templates {
            let seen = seen.entry(template).or_default();
            seen.rows.extend(rows.iter().filter_map(|&row| Some((result, corpus.label(row)?))));
            for &row in rows.iter().filter(|&&row| site.template_of[row as usize] == Some(template)) {
                let kinds = seen.kinds.get_or_insert(EvidenceKinds::NONE);
                *kinds |= corpus.kinds(row);
                let duplicate =
                    rows.iter().find(|&&other| other != row && corpus.label(other) == corpus.label(row));
                seen.examples.extend(duplicate.map(|&duplicate| (row, duplicate)));
            }
        }
    }
    seen.into_iter()
        .map(|(template, Seen { rows, kinds, examples })| {
            let counts = count_pairs(rows);
            let urls = site.templates[template as usize].rows.len();
            (template, rule_evidence(corpus, urls, &counts, kinds.unwrap_or(EvidenceKinds::NONE), examples))
        })
        .collect()
}
