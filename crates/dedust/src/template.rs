/*!
Writes what a rule makes of a URL: its key, or the URL of the target form.
*/

use crate::program::{Param, Slots};
use crate::rule::Atom;
use crate::url::{ParsedUrl, RawValue};

/// What to write, in the order of a URL.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    pub(crate) scheme: Source,
    /// Left to right.
    pub(crate) subdomains: Box<[Source]>,
    pub(crate) domain: Box<[u8]>,
    pub(crate) port: Option<Source>,
    pub(crate) segments: Box<[Source]>,
    pub(crate) path_params: Box<[(Box<[u8]>, Source)]>,
    pub(crate) trailing_slash: Option<Source>,
    pub(crate) separator: Option<Source>,
    pub(crate) query_params: Box<[(Box<[u8]>, Source)]>,
    /// Whether parameters come in the order of their names, as in keys.
    pub(crate) is_sorted: bool,
    /// Set when parameters keep the order that they have in the URL: which of `query_params` each slot goes to.
    pub(crate) in_place: Option<Box<[(u32, usize)]>>,
    pub(crate) hashbang: Option<Source>,
}

/// Where a value comes from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    Literal(Option<Box<[u8]>>),
    Slot(u32),
    Star,
    Join(Box<[SourcePart]>),
    /// A slot, and what becomes of some of its values.
    Map(u32, Box<[Mapping]>),
}

/// A value, `None` for a bare one, and what it becomes, `None` for nothing.
type Mapping = (Option<Box<[u8]>>, Option<Box<[u8]>>);

/// A part of a value that is put together.
#[derive(Clone, Debug)]
pub(crate) enum SourcePart {
    Literal(Box<[u8]>),
    Slot(u32),
    Atom(u32, Atom),
}

/// The rule cannot be applied to this URL: a segment or label would be missing between others, or a part of a value.
pub(crate) struct Refused;

impl Template {
    /// Appends what the rule makes of the URL whose slots these are. When refused, `out` is in an unspecified state.
    pub(crate) fn write(&self, url: &ParsedUrl, slots: &mut Slots, out: &mut Vec<u8>) -> Result<(), Refused> {
        slots.arrange_others(url, self.is_sorted);
        let mut writer = Writer { url, slots, out };
        writer.put(&self.scheme)?;
        writer.out.extend_from_slice(b"://");
        self.write_host(&mut writer)?;
        self.write_path(&mut writer)?;
        self.write_query(&mut writer)?;
        if let Some(hashbang) = writer.present(self.hashbang.as_ref()) {
            writer.out.extend_from_slice(b"#!");
            writer.put(hashbang)?;
        }
        Ok(())
    }

    fn write_host(&self, writer: &mut Writer<'_>) -> Result<(), Refused> {
        let absent = self.subdomains.iter().take_while(|label| writer.is_absent(label)).count();
        for label in &self.subdomains[absent..] {
            if writer.is_absent(label) {
                return Err(Refused);
            }
            writer.put(label)?;
            writer.out.push(b'.');
        }
        writer.out.extend_from_slice(&self.domain);
        if let Some(port) = writer.present(self.port.as_ref()) {
            writer.out.push(b':');
            writer.put(port)?;
        }
        Ok(())
    }

    fn write_path(&self, writer: &mut Writer<'_>) -> Result<(), Refused> {
        let present = self.segments.iter().take_while(|segment| !writer.is_absent(segment)).count();
        if !self.segments[present..].iter().all(|segment| writer.is_absent(segment)) {
            return Err(Refused);
        }
        if present == 0 {
            writer.out.push(b'/');
            let bare = self.path_params.iter().all(|(_, param)| writer.is_absent(param));
            return if bare { Ok(()) } else { Err(Refused) };
        }
        for segment in &self.segments[..present] {
            writer.out.push(b'/');
            writer.put(segment)?;
        }
        for (name, source) in &self.path_params {
            if !writer.is_absent(source) {
                writer.out.push(b';');
                writer.out.extend_from_slice(name);
                writer.out.push(b'=');
                writer.put(source)?;
            }
        }
        match writer.present(self.trailing_slash.as_ref()) {
            Some(Source::Star) => writer.out.push(b'*'),
            Some(_) => writer.out.push(b'/'),
            None => {}
        }
        Ok(())
    }

    /// Writes the parameters as they stand in the URL, less those that are dropped.
    fn write_in_place(
        &self,
        places: &[(u32, usize)],
        mut next: impl FnMut(&mut Vec<u8>),
        writer: &mut Writer<'_>,
    ) -> Result<(), Refused> {
        let slots = writer.slots;
        for (param, slot) in slots.params() {
            let source = places.binary_search_by_key(slot, |(slot, _)| *slot).ok().map(|at| places[at].1);
            match source.map(|at| &self.query_params[at]) {
                Some((name, source)) if !writer.is_absent(source) => {
                    next(writer.out);
                    writer.put_param(name, source)?;
                }
                Some(_) => {}
                None if slots.is_other(param) => {
                    next(writer.out);
                    writer.put_other(param);
                }
                None => {}
            }
        }
        Ok(())
    }

    fn write_query(&self, writer: &mut Writer<'_>) -> Result<(), Refused> {
        let separator = match writer.present(self.separator.as_ref()) {
            Some(Source::Star) => b'*',
            Some(_) => b';',
            None => b'&',
        };
        let mut lead = b'?';
        let mut next = |out: &mut Vec<u8>| out.push(std::mem::replace(&mut lead, separator));
        if let Some(places) = &self.in_place {
            return self.write_in_place(places, next, writer);
        }
        let (url, slots) = (writer.url, writer.slots);
        let mut others = slots.others.iter().peekable();
        for (name, source) in &self.query_params {
            if writer.is_absent(source) {
                continue;
            }
            let comes_first =
                |other: &&Param| self.is_sorted && other.name.get(url).unwrap_or_default() < &**name;
            while let Some(other) = others.next_if(comes_first) {
                next(writer.out);
                writer.put_other(other);
            }
            next(writer.out);
            writer.put_param(name, source)?;
        }
        for other in others {
            next(writer.out);
            writer.put_other(other);
        }
        Ok(())
    }
}

struct Writer<'a> {
    url: &'a ParsedUrl,
    slots: &'a Slots,
    out: &'a mut Vec<u8>,
}

impl Writer<'_> {
    /// Only a copied value can be absent, or one that becomes nothing.
    fn is_absent(&self, source: &Source) -> bool {
        match source {
            Source::Slot(slot) => !self.slots.has(*slot),
            Source::Map(slot, values) => {
                !self.slots.has(*slot) || self.mapped(*slot, values).is_some_and(Option::is_none)
            }
            Source::Literal(_) | Source::Star | Source::Join(_) => false,
        }
    }

    /// What becomes of the value of a slot, if it is one of those that become another.
    fn mapped<'m>(&self, slot: u32, values: &'m [Mapping]) -> Option<&'m Option<Box<[u8]>>> {
        let value = self.slots.get(self.url, slot);
        values.iter().find(|(is, _)| is.as_deref() == value).map(|(_, becomes)| becomes)
    }

    fn is_bare(&self, source: &Source) -> bool {
        match source {
            Source::Literal(value) => value.is_none(),
            Source::Slot(slot) => self.slots.get(self.url, *slot).is_none(),
            Source::Map(slot, values) => {
                self.mapped(*slot, values).is_none() && self.slots.get(self.url, *slot).is_none()
            }
            Source::Star | Source::Join(_) => false,
        }
    }

    fn present<'s>(&self, source: Option<&'s Source>) -> Option<&'s Source> {
        source.filter(|source| !self.is_absent(source))
    }

    fn value(&self, slot: u32) -> Result<RawValue<'_>, Refused> {
        if self.slots.has(slot) { Ok(self.slots.get(self.url, slot)) } else { Err(Refused) }
    }

    fn put(&mut self, source: &Source) -> Result<(), Refused> {
        match source {
            Source::Literal(text) => self.out.extend_from_slice(text.as_deref().unwrap_or_default()),
            Source::Star => self.out.push(b'*'),
            Source::Slot(slot) => {
                let value = self.slots.get(self.url, *slot).unwrap_or_default();
                self.out.extend_from_slice(value);
            }
            Source::Map(slot, values) => {
                let value = match self.mapped(*slot, values) {
                    Some(becomes) => becomes.as_deref(),
                    None => self.slots.get(self.url, *slot),
                };
                self.out.extend_from_slice(value.unwrap_or_default());
            }
            Source::Join(parts) => {
                for part in parts {
                    let (url, slots) = (self.url, self.slots);
                    let text = match part {
                        SourcePart::Literal(text) => text,
                        SourcePart::Slot(slot) => {
                            self.value(*slot)?;
                            slots.get(url, *slot).ok_or(Refused)?
                        }
                        SourcePart::Atom(slot, atom) => {
                            self.value(*slot)?;
                            slots.get(url, *slot).and_then(|value| atom.of(value)).ok_or(Refused)?
                        }
                    };
                    self.out.extend_from_slice(text);
                }
            }
        }
        Ok(())
    }

    fn put_param(&mut self, name: &[u8], source: &Source) -> Result<(), Refused> {
        self.out.extend_from_slice(name);
        if !self.is_bare(source) {
            self.out.push(b'=');
            self.put(source)?;
        }
        Ok(())
    }

    fn put_other(&mut self, other: &Param) {
        self.out.extend_from_slice(other.name.get(self.url).unwrap_or_default());
        if let Some(value) = other.value.get(self.url) {
            self.out.push(b'=');
            self.out.extend_from_slice(value);
        }
    }
}
