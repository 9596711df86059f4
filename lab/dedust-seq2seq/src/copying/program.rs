/*!
What a translation means: for every key of the target, a value or the key of the source it comes from.
*/

use std::collections::BTreeMap;

use dedust::rules::{ParamName, UrlPart, Value};

use super::language::{Language, Word, is_argument};
use super::site::{Parts, Template, parts_of};
use crate::pair::Symbol;

/// Where a value of the target comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Piece {
    /// Always this value.
    Literal(Value),
    /// The value of a key of the source.
    Copy(UrlPart),
}

/// What becomes of the URLs of a template.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Program {
    /// By key of the target.
    pub target: BTreeMap<UrlPart, Piece>,
}

impl Program {
    /// The program that changes nothing.
    pub fn identity(language: &Language, template: &Template) -> Option<Self> {
        let symbols: Vec<Symbol> = (0..template.words.len() as u16).map(Symbol::Copy).collect();
        Self::read(language, template, &symbols)
    }

    /// Reads a translation of a template; `None` if it is no URL.
    pub fn read(language: &Language, template: &Template, symbols: &[Symbol]) -> Option<Self> {
        let mut reader = Reader::default();
        for symbol in symbols {
            match *symbol {
                Symbol::Word(id) => reader.word(language.word(id)?)?,
                Symbol::Copy(place) => {
                    let id = *template.words.get(usize::from(place))?;
                    let key = template.keys.get(usize::from(place))?;
                    if is_argument(id) { reader.argument(key)? } else { reader.word(language.word(id)?)? }
                }
            }
        }
        reader.finish()
    }

    /// What the program makes of a URL of its template; `None` if that is no URL in safe form.
    pub fn write(&self, parts: &Parts, domain: &str) -> Option<String> {
        let value =
            |key: &UrlPart| parts.binary_search_by(|(other, _)| other.cmp(key)).ok().map(|at| &parts[at].1);
        let part = |(key, piece): (&UrlPart, &Piece)| match piece {
            Piece::Literal(value) => Some((key.clone(), value.clone())),
            Piece::Copy(from) => Some((key.clone(), value(from)?.clone())),
        };
        let target: Parts = self.target.iter().map(part).collect::<Option<_>>()?;
        let url = url_of(&target, domain);
        // Read back, so that no value is taken for something else.
        (parts_of(url.as_bytes(), domain)? == target).then_some(url)
    }
}

/// The URL with these parts, which are in the order of their keys.
fn url_of(parts: &Parts, domain: &str) -> String {
    let (mut labels, mut path, mut query) = (Vec::new(), String::new(), Vec::new());
    let [mut scheme, mut port, mut slash, mut params, mut hashbang] = [const { String::new() }; 5];
    let mut separator = "&";
    let named = |name: &ParamName, value: &Value| match value.as_text() {
        Some(text) => format!("{}={text}", name.name),
        None => name.name.to_string(),
    };
    for (key, value) in parts {
        let text = value.as_text().unwrap_or_default();
        match key {
            UrlPart::Scheme => scheme += text,
            UrlPart::Subdomain(_) => labels.push(text),
            UrlPart::Port => port = format!(":{text}"),
            UrlPart::PathSegment(_) => path += &format!("/{text}"),
            UrlPart::TrailingSlash => slash += "/",
            UrlPart::PathParam(name) => params += &format!(";{}", named(name, value)),
            UrlPart::QuerySeparator => separator = ";",
            key if key.is_query_text() => query.push(text.to_owned()),
            UrlPart::QueryParam(name) => query.push(named(name, value)),
            UrlPart::Hashbang => hashbang = format!("#!{text}"),
        }
    }
    let host: String = labels.iter().rev().map(|label| format!("{label}.")).collect();
    let question = if query.is_empty() { "" } else { "?" };
    format!(
        "{scheme}://{host}{domain}{port}{path}{params}{slash}{question}{}{hashbang}",
        query.join(separator)
    )
}

/// Reads a translation word by word.
#[derive(Default)]
struct Reader {
    target: BTreeMap<UrlPart, Piece>,
    labels: u16,
    segments: u16,
    has_slash: bool,
    has_names: bool,
    /// A name that waits for its value.
    name: Option<UrlPart>,
}

impl Reader {
    fn word(&mut self, word: &Word) -> Option<()> {
        match word {
            Word::End | Word::AnyLabel | Word::AnySegment | Word::AnyValue => None,
            Word::Scheme(scheme) => {
                let is_first = self.target.is_empty() && self.name.is_none();
                is_first.then(|| self.put(UrlPart::Scheme, Piece::Literal((&**scheme).into())))
            }
            Word::Slash => (self.name.is_none() && !self.has_slash && !self.has_names).then(|| {
                self.has_slash = true;
                self.put(UrlPart::TrailingSlash, Piece::Literal("/".into()));
            }),
            Word::Name(key) => {
                let is_new = self.name.is_none() && !self.target.contains_key(key);
                let follows = match key {
                    UrlPart::QueryParam(name) if name.occurrence > 1 => {
                        let before = ParamName { name: name.name.clone(), occurrence: name.occurrence - 1 };
                        self.target.contains_key(&UrlPart::QueryParam(before))
                    }
                    UrlPart::PathParam(name) => name.occurrence == 1 && self.segments > 0,
                    _ => true,
                };
                (is_new && follows).then(|| {
                    // A port still belongs to the host.
                    self.has_names = *key != UrlPart::Port;
                    self.name = Some(key.clone());
                })
            }
            Word::Value(_, value) => match self.name.take() {
                Some(name) => {
                    self.put(name, Piece::Literal(value.clone()));
                    Some(())
                }
                None => value.as_text().and_then(|text| self.segment(Piece::Literal(text.into()))),
            },
            Word::Label(label) => self.label(Piece::Literal((&**label).into())),
            Word::Segment(segment) => self.place(Piece::Literal((&**segment).into())),
        }
    }

    fn argument(&mut self, from: &UrlPart) -> Option<()> {
        let piece = Piece::Copy(from.clone());
        match from {
            UrlPart::Subdomain(_) if self.name.is_none() && self.is_in_host() => self.label(piece),
            _ => self.place(piece),
        }
    }

    /// After a name its value, else a path segment.
    fn place(&mut self, piece: Piece) -> Option<()> {
        match self.name.take() {
            Some(name) => {
                self.put(name, piece);
                Some(())
            }
            None => self.segment(piece),
        }
    }

    fn segment(&mut self, piece: Piece) -> Option<()> {
        (!self.has_slash && !self.has_names && !self.target.is_empty()).then(|| {
            self.put(UrlPart::PathSegment(self.segments), piece);
            self.segments += 1;
        })
    }

    fn label(&mut self, piece: Piece) -> Option<()> {
        (self.is_in_host() && self.name.is_none() && !self.target.is_empty()).then(|| {
            self.put(UrlPart::Subdomain(self.labels), piece);
            self.labels += 1;
        })
    }

    fn is_in_host(&self) -> bool {
        self.segments == 0 && !self.has_slash && !self.has_names
    }

    fn put(&mut self, key: UrlPart, piece: Piece) {
        self.target.insert(key, piece);
    }

    fn finish(mut self) -> Option<Program> {
        if self.name.is_some() || !self.target.contains_key(&UrlPart::Scheme) {
            return None;
        }
        // A URL without a path has the path `/`.
        if self.segments == 0 {
            self.put(UrlPart::TrailingSlash, Piece::Literal("/".into()));
        }
        Some(Program { target: self.target })
    }
}
