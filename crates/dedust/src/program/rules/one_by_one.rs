/*!
Rules made to a URL one by one, for those who try them: learners, explanations and tests.

A [`Normalizer`](crate::Normalizer) asks only the rules that may concern a URL; here each is made when it is told to be, by the same
code.
*/

use super::edited_url::{EditedUrl, Piece};
use super::run::Made;
use super::{CompiledSite, PADDING, RuleProgram, encode};
use crate::rule::Rule;
use crate::text_buffer::TextBuffer;
use crate::url::{NameCounts, ParamName, ParsedUrl, RawKey, RawValue, TEXT_NAME, UrlPart};

/// Rules that can be made to [`UrlParts`].
#[derive(Clone, Debug, Default)]
pub struct RuleList {
    site: Vec<u8>,
    shape: Vec<u8>,
    /// The number in the program of each rule.
    numbers: Vec<usize>,
}

impl RuleList {
    /// The rules in their order; `None` if they are larger than compiled rules have room for.
    pub fn new<'e>(rules: impl IntoIterator<Item = &'e Rule>) -> Option<Self> {
        let rules: Vec<(usize, &Rule)> = rules.into_iter().enumerate().collect();
        let CompiledSite { mut site, mut shape } = encode(&rules).ok()?;
        site.resize(site.len() + PADDING, 0);
        shape.resize(shape.len() + PADDING, 0);
        let mut list = Self { site, shape, numbers: Vec::new() };
        let mut numbers: Vec<usize> = (0..rules.len()).collect();
        let program = list.program(0)?;
        numbers.sort_by_key(|&number| program.list_index(number));
        list.numbers = numbers;
        Some(list)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    fn program(&self, domain_len: usize) -> Option<RuleProgram<'_>> {
        RuleProgram::of(&self.site, &self.shape, domain_len, false).map(RuleProgram::one_by_one)
    }
}

/// A URL of a site taken apart, so that rules can change it.
#[derive(Clone, Debug, Default)]
pub struct UrlParts {
    url: ParsedUrl,
    domain_len: usize,
    edited: EditedUrl,
}

impl UrlParts {
    /// Takes `url` apart, whose host ends with the site's domain of `domain_len` bytes, for some rules. False when rules cannot
    /// speak of it.
    pub fn read(&mut self, url: &ParsedUrl, domain_len: usize, rules: &RuleList) -> bool {
        self.url.clone_from(url);
        self.domain_len = domain_len;
        rules.program(domain_len).is_some_and(|program| {
            self.edited.read(&self.url, &program) && self.edited.read_labels(&self.url, &program)
        })
    }

    /// Takes pairs for a URL, as [`tokenize`](crate::rules::tokenize) gives them and [`UrlParts::pairs`] shows them, for some rules.
    /// The first parameter of a name comes before the second.
    pub fn read_pairs<'a>(
        &mut self,
        pairs: impl Iterator<Item = (&'a UrlPart, RawValue<'a>)>,
        rules: &RuleList,
    ) {
        let Some(program) = rules.program(0) else { return };
        let edited = &mut self.edited;
        edited.clear();
        edited.parts.has_labels = true;
        for (key, value) in pairs {
            let value = value.map_or(Piece::BARE, |text| edited.write_text(text));
            match key {
                UrlPart::Scheme => edited.parts.scheme = value,
                UrlPart::Subdomain(_) => edited.parts.labels.push(value),
                UrlPart::Port => edited.parts.port = Some(value),
                UrlPart::PathSegment(_) => edited.parts.segments.push(value),
                UrlPart::TrailingSlash => edited.parts.has_slash = true,
                UrlPart::PathParam(ParamName { name, .. }) => {
                    let param = edited.new_path_param(&program, name.as_bytes(), value);
                    edited.parts.path_params.push(param);
                }
                UrlPart::QuerySeparator => edited.parts.separator = b';',
                UrlPart::QueryParam(ParamName { name, .. }) => {
                    let param = edited.new_param(&program, name.as_bytes(), value);
                    edited.parts.params.push(param);
                }
                UrlPart::Hashbang => edited.parts.hashbang = Some(value),
            }
        }
        edited.parts.has_slash &= !edited.parts.segments.is_empty();
        // About as long as the URL.
        edited.set_room(edited.written.len());
    }

    /// Shows its pairs: key, occurrence of its name (1 for keys without one) and value, which is `*` if it was forgotten.
    pub fn pairs(&self, mut visit: impl FnMut(RawKey<'_>, u32, RawValue<'_>)) {
        let parts = &self.edited.parts;
        let value = |piece: Piece| self.edited.value(&self.url, piece);
        visit(RawKey::Scheme, 1, value(parts.scheme));
        for (index, &label) in parts.labels.iter().enumerate() {
            visit(RawKey::Subdomain(index as u16), 1, value(label));
        }
        if let Some(port) = parts.port {
            visit(RawKey::Port, 1, value(port));
        }
        if parts.path_is_forgotten {
            visit(RawKey::PathSegment(0), 1, Some(b"*"));
        } else {
            for (index, &segment) in parts.segments.iter().enumerate() {
                visit(RawKey::PathSegment(index as u16), 1, value(segment));
            }
            if parts.has_slash {
                let slash: &[u8] = if parts.touched.slash_is_forgotten { b"*" } else { b"/" };
                visit(RawKey::TrailingSlash, 1, Some(slash));
            }
            let mut counts = NameCounts::default();
            for param in &parts.path_params {
                let name = self.edited.text(&self.url, param.name);
                visit(RawKey::PathParam(name), counts.count(name), value(param.value));
            }
        }
        if parts.separator != b'&' && !parts.params.is_empty() {
            visit(RawKey::QuerySeparator, 1, Some(b";"));
        }
        let mut counts = NameCounts::default();
        for param in &parts.params {
            let name = if param.is_text { TEXT_NAME } else { self.edited.text(&self.url, param.name) };
            visit(RawKey::QueryParam(name), counts.count(name), value(param.value));
        }
        if let Some(hashbang) = parts.hashbang {
            visit(RawKey::Hashbang, 1, value(hashbang));
        }
    }

    /// Makes the rule at an index of the list for which the URL was read; false when it does not concern it, or cannot be made.
    pub fn apply(&mut self, rules: &RuleList, index: usize) -> bool {
        self.make(rules, index).is_made
    }

    /// Makes a rule in the same way; whether that changed the URL.
    pub fn change(&mut self, rules: &RuleList, index: usize) -> bool {
        self.make(rules, index).is_changed
    }

    fn make(&mut self, rules: &RuleList, index: usize) -> Made {
        let program = rules.program(self.domain_len).zip(rules.numbers.get(index));
        let made = |(program, &number)| self.edited.run_only(&self.url, &program, number);
        program.map(made).unwrap_or_default()
    }

    /// Whether no rule after the one at an index is made to this URL, as it is before that one is made.
    pub fn ends_at(&self, rules: &RuleList, index: usize) -> bool {
        let (Some(program), Some(&number)) = (rules.program(self.domain_len), rules.numbers.get(index))
        else {
            return false;
        };
        self.edited.ends_at(&self.url, &program, number)
    }

    /// Whether all its values are known, so that it can be written as a URL.
    pub fn is_writable(&self) -> bool {
        self.edited.is_writable()
    }

    /// Writes the key of a URL that was [read](Self::read): parameters sorted by name, `*` for what does not matter.
    pub fn write_key(&mut self, rules: &RuleList, out: &mut Vec<u8>) {
        let mut text = TextBuffer::default();
        if let Some(program) = rules.program(self.domain_len) {
            out.extend_from_slice(self.edited.write_key(&self.url, &program, &mut text));
        }
    }

    /// Writes the URL, in the order in which it came.
    pub fn write_url(&mut self, rules: &RuleList, out: &mut Vec<u8>) {
        let mut text = TextBuffer::default();
        if let Some(program) = rules.program(self.domain_len) {
            self.edited.write_url(&self.url, &program, &mut text);
            out.extend_from_slice(text.as_bytes());
        }
    }
}
