/*!
Rewrites to templates: text that is known now is joined, values that are always there become plain copies.
*/

use super::NO_TEXT;
use super::encode::writes_in_place;
use super::layout::Layout;
use super::slots::{AS_IS_SLOT, DOMAIN_SLOT, NOTHING_SLOT, ORIGIN_SLOT, SCHEME_SLOT};
use super::template::{
    PART_ATOM, PART_LITERAL, PART_SLOT, QUERY_HAS_SEPARATOR, QUERY_IN_PLACE, QUERY_IS_SORTED, SOURCE_JOIN,
    SOURCE_LITERAL, SOURCE_MAP, SOURCE_SLOT, SOURCE_STAR, Step,
};
use crate::encoding::{Encode as _, TooLarge};
use crate::program::TextBuilder;
use crate::rule::{AnyValue, Op, OtherParams, Rule, Source, Spot, ValueClass, ValuePattern};
use crate::url::{RawValue, TokenKey, Value};

/// Appends the template of the key, or of the URL, in which query parameters keep the order of the site.
pub(super) fn put_template(
    rule: &Rule,
    layout: &Layout,
    in_site_order: bool,
    texts: &mut TextBuilder,
    out: &mut Vec<u8>,
) -> Result<(), TooLarge> {
    let mut steps = Steps { rule, layout, texts, out, text: Vec::new(), pieces: Vec::new() };
    let is_origin =
        |key: &TokenKey| matches!(key, TokenKey::Scheme | TokenKey::Subdomain(_) | TokenKey::Port);
    let is_path = |key: &TokenKey| {
        matches!(key, TokenKey::PathSegment(_) | TokenKey::PathParam(_) | TokenKey::TrailingSlash)
    };
    if steps.leaves_as_is(|key| is_origin(key) || is_path(key)) {
        steps.copy(AS_IS_SLOT);
    } else {
        if steps.leaves_as_is(is_origin) {
            steps.copy(ORIGIN_SLOT);
        } else {
            steps.put_or_star(TokenKey::Scheme)?;
            steps.text.extend_from_slice(b"://");
            steps.host()?;
        }
        steps.path()?;
    }
    steps.query(in_site_order)?;
    if let Some(op) = rule.rewrite.get(&TokenKey::Hashbang) {
        steps.optional(b"#!", op)?;
    }
    steps.step(Step::END)
}

struct Steps<'a> {
    rule: &'a Rule,
    layout: &'a Layout,
    texts: &'a mut TextBuilder,
    out: &'a mut Vec<u8>,
    /// Texts with the slots that follow them, not written yet.
    pieces: Vec<(Vec<u8>, u16)>,
    /// What comes after them.
    text: Vec<u8>,
}

impl<'a> Steps<'a> {
    fn copy(&mut self, slot: u16) {
        self.pieces.push((std::mem::take(&mut self.text), slot));
    }

    fn step(&mut self, step: Step) -> Result<(), TooLarge> {
        if !self.text.is_empty() {
            self.copy(NOTHING_SLOT);
        }
        if !self.pieces.is_empty() {
            let pieces = std::mem::take(&mut self.pieces);
            for pieces in pieces.chunks(usize::from(u8::MAX)) {
                self.out.put_u8(Step::PIECES.0);
                self.out.put_u8(pieces.len() as u8);
                for (text, slot) in pieces {
                    self.put_number(text)?;
                    self.out.put_u16(*slot);
                }
            }
        }
        self.out.put_u8(step.0);
        Ok(())
    }

    /// Names a text of the site.
    fn put_number(&mut self, text: &[u8]) -> Result<(), TooLarge> {
        let number = self.texts.small_number(text)?;
        self.out.put_u16(number);
        Ok(())
    }

    fn ops(&self, wanted: fn(&TokenKey) -> bool) -> Vec<(&'a TokenKey, &'a Op)> {
        self.rule.rewrite.ops().filter(|(key, _)| wanted(key)).collect()
    }

    /// Whether all parts of a URL that are `meant` stay as they are, byte by byte.
    fn leaves_as_is(&self, meant: impl Fn(&TokenKey) -> bool) -> bool {
        let keys = self.rule.pattern.keys().map(|(key, _)| key);
        let targets = self.rule.rewrite.ops().map(|(key, _)| key);
        // Parameters of the path are brought into order.
        keys.chain(targets).filter(|key| meant(key)).all(|key| {
            !matches!(key, TokenKey::PathParam(_))
                && match self.rule.rewrite.get(key) {
                    Some(Op::Copy(from)) => from == key,
                    Some(Op::Keep(value)) => {
                        self.rule.pattern.get(key) == Some(&ValuePattern::Is(value.clone()))
                    }
                    _ => false,
                }
        })
    }

    fn host(&mut self) -> Result<(), TooLarge> {
        let mut labels = self.ops(|key| matches!(key, TokenKey::Subdomain(_)));
        labels.reverse();
        if labels.iter().any(|(_, op)| self.may_be_absent(op)) {
            self.step(Step::LABELS)?;
            self.out.put_small(labels.len())?;
            for (_, op) in labels {
                self.source(op)?;
            }
        } else {
            for (_, op) in labels {
                self.put(op)?;
                self.text.push(b'.');
            }
        }
        self.copy(DOMAIN_SLOT);
        if let Some(op) = self.rule.rewrite.get(&TokenKey::Port) {
            self.optional(b":", op)?;
        }
        Ok(())
    }

    fn path(&mut self) -> Result<(), TooLarge> {
        let segments = self.ops(|key| matches!(key, TokenKey::PathSegment(_)));
        let params = self.ops(|key| matches!(key, TokenKey::PathParam(_)));
        let slash = self.rule.rewrite.get(&TokenKey::TrailingSlash);
        let is_fixed = !segments.is_empty()
            && segments
                .iter()
                .chain(&params)
                .map(|(_, op)| *op)
                .chain(slash)
                .all(|op| !self.may_be_absent(op));
        if is_fixed {
            for (_, op) in segments {
                self.text.push(b'/');
                self.put(op)?;
            }
            for (key, op) in params {
                self.text.push(b';');
                self.text.extend_from_slice(name(key));
                self.text.push(b'=');
                self.put(op)?;
            }
            match slash {
                Some(Op::Ignore) => self.text.push(b'*'),
                Some(_) => self.text.push(b'/'),
                None => {}
            }
            return Ok(());
        }
        self.step(Step::PATH)?;
        self.out.put_small(segments.len())?;
        for (_, op) in segments {
            self.source(op)?;
        }
        self.out.put_small(params.len())?;
        for (key, op) in params {
            self.put_number(name(key))?;
            self.source(op)?;
        }
        self.out.put_u8(u8::from(slash.is_some()));
        slash.map_or(Ok(()), |op| self.source(op))
    }

    fn query(&mut self, in_site_order: bool) -> Result<(), TooLarge> {
        let rewrite = &self.rule.rewrite;
        let mut params = self.ops(|key| matches!(key, TokenKey::QueryParam(_)));
        if in_site_order {
            let rank = |key: &TokenKey| rewrite.query_order().iter().position(|other| other == key);
            params.sort_by_key(|(key, _)| rank(key).unwrap_or(usize::MAX));
        }
        let separator = rewrite.get(&TokenKey::QuerySeparator);
        let keeps_others = self.rule.other_params == OtherParams::Keep;
        let in_place = in_site_order && writes_in_place(self.rule);
        // Nothing else can be there, and they come in this order.
        let are_all = !keeps_others && !in_place && separator.is_none();
        let is_fixed =
            are_all && params.iter().all(|(_, op)| !self.may_be_absent(op) && !self.may_be_bare(op));
        if is_fixed {
            for (index, (key, op)) in params.into_iter().enumerate() {
                self.text.push(if index == 0 { b'?' } else { b'&' });
                self.text.extend_from_slice(name(key));
                if !matches!(op, Op::Keep(Value::Bare)) {
                    self.text.push(b'=');
                    self.put(op)?;
                }
            }
            return Ok(());
        }
        if are_all
            && params.len() <= usize::from(u8::MAX)
            && params.iter().all(|(_, op)| matches!(op, Op::Keep(_) | Op::Ignore | Op::Copy(_)))
        {
            return self.params(&params);
        }
        self.step(Step::QUERY)?;
        let is_sorted = if in_site_order { 0 } else { QUERY_IS_SORTED };
        let is_in_place = if in_place { QUERY_IN_PLACE } else { 0 };
        self.out.put_u8(is_sorted | is_in_place | if separator.is_some() { QUERY_HAS_SEPARATOR } else { 0 });
        if let Some(op) = separator {
            self.source(op)?;
        }
        self.out.put_small(params.len())?;
        for (key, op) in params {
            if in_place {
                self.out.put_u16(self.layout.slot(key));
            }
            self.put_number(name(key))?;
            self.source(op)?;
        }
        Ok(())
    }

    /// Parameters some of which may be absent, or have no value.
    fn params(&mut self, params: &[(&'a TokenKey, &'a Op)]) -> Result<(), TooLarge> {
        self.step(Step::PARAMS)?;
        self.out.put_u8(params.len() as u8);
        for (key, op) in params {
            // The scheme is always there.
            let (value, slot, asked) = match (self.known_value(op), op) {
                (None, Op::Copy(from)) => (Some(&b""[..]), self.layout.slot(from), self.layout.slot(from)),
                (value, _) => (value.flatten(), NOTHING_SLOT, SCHEME_SLOT),
            };
            let equals: &[u8] = if value.is_some() { b"=" } else { b"" };
            self.put_number(&[b"&", name(key), equals, value.unwrap_or_default()].concat())?;
            self.out.put_u16(slot);
            self.out.put_u16(asked);
        }
        Ok(())
    }

    fn put_or_star(&mut self, key: TokenKey) -> Result<(), TooLarge> {
        self.put(self.rule.rewrite.get(&key).unwrap_or(&Op::Ignore))
    }

    /// A text and a value, both or none.
    fn optional(&mut self, before: &[u8], op: &'a Op) -> Result<(), TooLarge> {
        if self.may_be_absent(op) {
            self.step(Step::OPTIONAL)?;
            self.put_number(before)?;
            return self.source(op);
        }
        self.text.extend_from_slice(before);
        self.put(op)
    }

    /// A value that is never absent.
    fn put(&mut self, op: &'a Op) -> Result<(), TooLarge> {
        match (self.known_value(op), op) {
            (Some(value), _) => self.text.extend_from_slice(value.unwrap_or_default()),
            (None, Op::Copy(from)) => self.copy(self.layout.slot(from)),
            (None, _) => {
                self.step(Step::PUT)?;
                self.source(op)?;
            }
        }
        Ok(())
    }

    /// The value, if it is the same for all URLs.
    fn known_value(&self, op: &'a Op) -> Option<RawValue<'a>> {
        match op {
            Op::Keep(value) => Some(value.as_raw()),
            Op::Ignore => Some(Some(b"*")),
            Op::Copy(from) => match self.rule.pattern.get(from) {
                Some(ValuePattern::Is(value)) => Some(value.as_raw()),
                _ => None,
            },
            Op::Map { .. } | Op::Join(_) => None,
        }
    }

    fn source(&mut self, op: &Op) -> Result<(), TooLarge> {
        match op {
            Op::Keep(value) => {
                self.out.put_u8(SOURCE_LITERAL);
                match value.as_raw() {
                    Some(text) => self.put_number(text)?,
                    None => self.out.put_u16(NO_TEXT),
                }
            }
            Op::Copy(from) => {
                self.out.put_u8(SOURCE_SLOT);
                self.out.put_u16(self.layout.slot(from));
            }
            Op::Ignore => self.out.put_u8(SOURCE_STAR),
            Op::Map { of, values } => {
                let mut block = Vec::new();
                for mapped in values {
                    block.put_text(mapped.is.as_raw())?;
                    block.put_text(mapped.becomes.as_ref().map(|text| text.as_bytes()))?;
                }
                self.out.put_u8(SOURCE_MAP);
                self.out.put_u16(self.layout.slot(of));
                self.out.put_block(&block)?;
            }
            Op::Join(parts) => {
                let mut block = Vec::new();
                let literal = |text: &str, block: &mut Vec<u8>| {
                    if text.is_empty() {
                        return Ok(());
                    }
                    block.put_u8(PART_LITERAL);
                    block.put_text(Some(text.as_bytes()))
                };
                for Source { prefix, of, part, suffix, .. } in parts {
                    literal(prefix, &mut block)?;
                    if let Some(Spot::Key(from)) = of {
                        block.put_u8(if part.is_some() { PART_ATOM } else { PART_SLOT });
                        block.put_u16(self.layout.slot(from));
                        part.iter().for_each(|atom| atom.encode(&mut block));
                    }
                    literal(suffix, &mut block)?;
                }
                self.out.put_u8(SOURCE_JOIN);
                self.out.put_block(&block)?;
            }
        }
        Ok(())
    }

    /// Only a copied value can be absent, or one that becomes nothing.
    fn may_be_absent(&self, op: &Op) -> bool {
        let may_lack = |from: &TokenKey| self.rule.pattern.get(from).is_none_or(ValuePattern::is_optional);
        match op {
            Op::Keep(_) | Op::Ignore | Op::Join(_) => false,
            Op::Copy(from) => may_lack(from),
            Op::Map { of, values } => may_lack(of) || values.iter().any(|mapped| mapped.becomes.is_none()),
        }
    }

    /// Whether a parameter may have to be written without `=`, which is not known yet.
    fn may_be_bare(&self, op: &Op) -> bool {
        match op {
            Op::Keep(_) | Op::Ignore | Op::Join(_) => false,
            Op::Copy(from) | Op::Map { of: from, .. } => match self.rule.pattern.get(from) {
                Some(ValuePattern::Is(value)) => *value == Value::Bare,
                Some(ValuePattern::Any(AnyValue { class, .. })) => *class == ValueClass::Text,
                None => true,
            },
        }
    }
}

/// The name of a parameter.
fn name(key: &TokenKey) -> &[u8] {
    match key {
        TokenKey::PathParam(name) | TokenKey::QueryParam(name) => name.name.as_bytes(),
        _ => b"",
    }
}
