/*!
Translations of the paper's variant as rules: one for every form that training has seen.

The paper's results are sequences of tokens, compared as they are. A sequence that reads as a URL (a scheme, a host,
segments, then names with values) becomes a rule; others, and forms that were not seen, are left alone, where the paper
would compare whatever comes out. Nothing is checked: the paper has no acceptance test, and the evidence of these rules
says so.
*/

use std::collections::BTreeMap;

use dedust::rules::{AnyValue, Evidence, ParamName, UrlPart, Value, ValueClass};
use dedust_baselines::{ClosedRule, Op, OtherParams, Pattern, Rewrite, ValuePattern, fitting};
use dedust_learn::Corpus;

use super::language::PaperLanguage;
use super::tokens::{is_delimiter, tokenize};
use crate::copying::{Parts, parts_of};

/// A URL as keys, each with the place of its value among the tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Layout {
    /// The place of the host, which has several keys.
    host: usize,
    /// `None` for a parameter without `=`, and where there is no text behind it.
    values: Vec<(UrlPart, Option<usize>, bool)>,
}

/// What URLs of one rule have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Form {
    words: Vec<u32>,
    layout: Layout,
    host: Box<str>,
    has_slash: bool,
}

/// One rule for every form of the corpus that a translation changes. `translate` gives the words that the words of a
/// source become.
pub fn rules(
    corpus: &Corpus,
    language: &PaperLanguage,
    translate: impl Fn(&[u32]) -> Option<Vec<u32>>,
) -> Vec<ClosedRule> {
    let mut rows_by_form: BTreeMap<Form, Vec<u32>> = BTreeMap::new();
    for row in 0..corpus.len() as u32 {
        let Ok(url) = std::str::from_utf8(corpus.url(row)) else { continue };
        let (Some(masked), Some(parts)) = (language.mask(url), parts_of(url.as_bytes(), corpus.site()))
        else {
            continue;
        };
        let tokens = tokenize(url);
        let Some(layout) = Layout::read(&tokens) else { continue };
        let has_slash = parts.iter().any(|(key, _)| *key == UrlPart::TrailingSlash);
        if layout.parts(&tokens, corpus.site(), has_slash).as_ref() == Some(&parts) {
            let form = Form { words: masked.words, host: tokens[layout.host].into(), layout, has_slash };
            rows_by_form.entry(form).or_default().push(row);
        }
    }
    let mut rules = Vec::new();
    for (form, rows) in &rows_by_form {
        let target = translate(&form.words);
        rules.extend(target.and_then(|target| form.rule(corpus, rows, language, &target)));
    }
    fitting(rules)
}

impl Layout {
    /// Reads tokens; `None` if they are no URL that the paper's tokens can tell apart.
    fn read<T: AsRef<str>>(tokens: &[T]) -> Option<Self> {
        let token = |at: usize| tokens.get(at).map(AsRef::as_ref);
        token(0)?.strip_suffix(':')?;
        if is_delimiter(token(1)?) {
            return None;
        }
        let mut layout = Self { host: 1, values: vec![(UrlPart::Scheme, Some(0), false)] };
        let mut at = 2;
        while token(at).is_some_and(|token| !is_delimiter(token)) {
            layout.values.push((UrlPart::PathSegment(at as u16 - 2), Some(at), false));
            at += 1;
        }
        if token(at).is_none() {
            return Some(layout);
        }
        let mut separator = "?";
        while token(at).is_some() {
            if token(at) != Some(separator) {
                return None;
            }
            let name = token(at + 1).filter(|token| !is_delimiter(token))?;
            at += 2;
            let occurrence = layout.values.iter().filter(|(key, ..)| is_param(key, name)).count() as u32 + 1;
            let key = UrlPart::QueryParam(ParamName { name: name.into(), occurrence });
            let is_bare = token(at) != Some("=");
            at += usize::from(!is_bare);
            let value = (!is_bare && token(at).is_some_and(|token| !is_delimiter(token))).then_some(at);
            at += usize::from(value.is_some());
            layout.values.push((key, value, is_bare));
            separator = "&";
        }
        Some(layout)
    }

    /// The parts of the URL that has these tokens.
    fn parts<T: AsRef<str>>(&self, tokens: &[T], domain: &str, has_slash: bool) -> Option<Parts> {
        let mut parts = host_parts(tokens[self.host].as_ref(), domain)?;
        for (key, at, is_bare) in &self.values {
            let text = at.map_or("", |at| tokens[at].as_ref());
            parts.push(match key {
                UrlPart::Scheme => (key.clone(), text.trim_end_matches(':').into()),
                _ if *is_bare => (key.clone(), Value::Bare),
                _ => (key.clone(), text.into()),
            });
        }
        let has_segments = self.values.iter().any(|(key, ..)| matches!(key, UrlPart::PathSegment(_)));
        if has_slash || !has_segments {
            parts.push((UrlPart::TrailingSlash, "/".into()));
        }
        parts.sort();
        Some(parts)
    }
}

fn is_param(key: &UrlPart, name: &str) -> bool {
    matches!(key, UrlPart::QueryParam(param) if &*param.name == name)
}

/// The labels left of the domain, and the port.
fn host_parts(host: &str, domain: &str) -> Option<Parts> {
    let (host, port) = host.split_once(':').map_or((host, None), |(host, port)| (host, Some(port)));
    let labels = host.strip_suffix(domain)?;
    let labels = labels.strip_suffix('.').or(labels.is_empty().then_some(""))?;
    let labels = labels.rsplit('.').filter(|label| !label.is_empty());
    let mut parts: Parts =
        (0..).zip(labels).map(|(at, label)| (UrlPart::Subdomain(at), label.into())).collect();
    parts.extend(port.map(|port| (UrlPart::Port, port.into())));
    Some(parts)
}

impl Form {
    /// The rule that leads URLs of the form to the translation; `None` if it is no URL, or changes nothing.
    fn rule(
        &self,
        corpus: &Corpus,
        rows: &[u32],
        language: &PaperLanguage,
        target: &[u32],
    ) -> Option<ClosedRule> {
        let rewrite = self.rewrite(corpus.site(), language, target)?;
        let mut keys: Vec<(UrlPart, ValuePattern)> = Vec::new();
        let urls: Vec<Parts> =
            rows.iter().filter_map(|&row| parts_of(corpus.url(row), corpus.site())).collect();
        for (key, value) in urls.first()? {
            let at = self.layout.values.iter().find(|(other, ..)| other == key).and_then(|(_, at, _)| *at);
            let is_argument = at.is_some_and(|at| PaperLanguage::is_placeholder(self.words[at]));
            keys.push(if is_argument {
                let values: Vec<&Value> =
                    urls.iter().flatten().filter(|(other, _)| other == key).map(|(_, value)| value).collect();
                let class = ValueClass::of(values.into_iter());
                let functions = language.functions().map(Value::from);
                let except = functions.filter(|value| class.contains(value)).collect();
                (key.clone(), ValuePattern::Any(AnyValue { class, except, optional: false }))
            } else {
                (key.clone(), ValuePattern::Is(value.clone()))
            });
        }
        let evidence = Evidence { urls: rows.len() as u64, failure_bound: 1.0, ..Evidence::default() };
        let pattern = Pattern::new(keys);
        Some(ClosedRule { pattern, other_params: OtherParams::Refuse, rewrite, fetchable: true, evidence })
    }

    fn rewrite(&self, domain: &str, language: &PaperLanguage, target: &[u32]) -> Option<Rewrite> {
        let place_of = |word: u32| self.words.iter().position(|&other| other == word);
        // Placeholders are read as text that is no delimiter; what they stand for is looked up below.
        let tokens: Vec<&str> = target.iter().map(|&word| language.word(word)).collect::<Option<_>>()?;
        let layout = Layout::read(&tokens)?;
        let mut ops: BTreeMap<UrlPart, Op> = BTreeMap::new();
        if PaperLanguage::is_placeholder(target[layout.host]) {
            return None;
        }
        for (key, value) in host_parts(tokens[layout.host], domain)? {
            ops.insert(key, Op::Keep(value));
        }
        for (key, at, is_bare) in &layout.values {
            let op = match at {
                _ if *is_bare => Op::Keep(Value::Bare),
                None => Op::Keep("".into()),
                Some(at) if PaperLanguage::is_placeholder(target[*at]) => {
                    let place = place_of(target[*at])?;
                    let from = self.layout.values.iter().find(|(_, at, _)| *at == Some(place))?;
                    Op::Copy(from.0.clone())
                }
                Some(at) => Op::Keep(tokens[*at].trim_end_matches(if *at == 0 { ":" } else { "" }).into()),
            };
            // A placeholder that is a name cannot be written.
            if matches!(key, UrlPart::QueryParam(name) if name.name.starts_with("arg_")) {
                return None;
            }
            ops.insert(key.clone(), op);
        }
        if !ops.keys().any(|key| matches!(key, UrlPart::PathSegment(_))) {
            ops.insert(UrlPart::TrailingSlash, Op::Keep("/".into()));
        }
        let is_identity = self.words == target && !self.has_slash;
        (!is_identity).then(|| Rewrite::new(ops, Vec::new()))
    }
}
