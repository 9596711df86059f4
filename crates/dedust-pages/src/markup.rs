/*!
Markup to [`Page`]: the tokens of HTML, less those that no reader sees.

Left out are scripts, styles, templates, what is shown only where scripts do not run, and elements marked `hidden`.
Text is kept in blocks: what stands between two tags that break a line. Of the elements around a block only a
stack is known, without the repairs that browsers make: enough to say in which region of the page the block stands.

No tree is built, and everything kept is bounded, by the text and by [`MAX_DEPTH`]. The tokenizer is
`html5gum`, not that of `html5ever`, which compares each attribute of a tag with all before it: half a megabyte of
attributes takes it ten seconds.
*/

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};
use std::convert::Infallible;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::block::PageRegion;
use crate::page::Page;
use crate::{refresh, text};

/// Open elements that are remembered.
const MAX_DEPTH: usize = 256;

/// Bytes of a title that are kept.
const MAX_TITLE_BYTES: usize = 4096;

/// Reads a document. Links are as written.
pub(crate) fn read(html: &str) -> Page {
    let mut reading = Reading::default();
    let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| -> Option<Infallible> {
        reading.event(event);
        None
    });
    emitter.naively_switch_states(true);
    Tokenizer::new_with_emitter(html, emitter).for_each(drop);
    reading.finish()
}

#[derive(Default)]
struct Reading {
    page: Page,
    title: Vec<u8>,
    /// The text of the block so far, white space as written.
    pending: Vec<u8>,
    stack: Vec<Element>,
    tag: StartTag,
    state: State,
    is_past_head: bool,
    has_title: bool,
    has_two_canonicals: bool,
}

/// What becomes of text.
#[derive(Clone, Copy, Default, PartialEq)]
enum State {
    #[default]
    Shown,
    Title,
    Dropped,
}

/// An open element that breaks a line.
#[derive(Clone, Copy, Default)]
struct Element {
    /// The first bytes of its name.
    name: u64,
    /// Of the nearest element with an id or class, this one included.
    landmark: u64,
    region: PageRegion,
    is_hidden: bool,
    is_in_article: bool,
}

/// The attributes that matter of the tag being read.
#[derive(Default)]
struct StartTag {
    name: Vec<u8>,
    kind: Attribute,
    id: Vec<u8>,
    class: Vec<u8>,
    role: Vec<u8>,
    rel: Vec<u8>,
    href: Vec<u8>,
    content: Vec<u8>,
    http_equiv: Vec<u8>,
    is_hidden: bool,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Attribute {
    Id,
    Class,
    Role,
    Rel,
    Href,
    Content,
    HttpEquiv,
    Hidden,
    #[default]
    Other,
}

impl StartTag {
    fn open(&mut self, name: &[u8]) {
        for part in [
            &mut self.name,
            &mut self.id,
            &mut self.class,
            &mut self.role,
            &mut self.rel,
            &mut self.href,
            &mut self.content,
            &mut self.http_equiv,
        ] {
            part.clear();
        }
        self.name.extend_from_slice(name);
        self.is_hidden = false;
    }

    fn attribute(&mut self, name: &[u8]) {
        self.kind = match name {
            b"id" => Attribute::Id,
            b"class" => Attribute::Class,
            b"role" => Attribute::Role,
            b"rel" => Attribute::Rel,
            b"href" => Attribute::Href,
            b"content" => Attribute::Content,
            b"http-equiv" => Attribute::HttpEquiv,
            b"hidden" => Attribute::Hidden,
            _ => Attribute::Other,
        };
        self.is_hidden |= self.kind == Attribute::Hidden;
    }

    fn value(&mut self, value: &[u8]) {
        let part = match self.kind {
            Attribute::Id => &mut self.id,
            Attribute::Class => &mut self.class,
            Attribute::Role => &mut self.role,
            Attribute::Rel => &mut self.rel,
            Attribute::Href => &mut self.href,
            Attribute::Content => &mut self.content,
            Attribute::HttpEquiv => &mut self.http_equiv,
            // Of attributes given twice the first counts.
            Attribute::Hidden | Attribute::Other => return,
        };
        if part.is_empty() {
            part.extend_from_slice(value);
        }
    }
}

impl Reading {
    fn event(&mut self, event: CallbackEvent<'_>) {
        match event {
            CallbackEvent::OpenStartTag { name } => self.tag.open(name),
            CallbackEvent::AttributeName { name } => self.tag.attribute(name),
            CallbackEvent::AttributeValue { value } => self.tag.value(value),
            CallbackEvent::CloseStartTag { self_closing } => self.start(self_closing),
            CallbackEvent::EndTag { name } => self.end(name),
            CallbackEvent::String { value } => self.push(value),
            CallbackEvent::Comment { .. } | CallbackEvent::Doctype { .. } | CallbackEvent::Error(_) => {}
        }
    }

    fn push(&mut self, text: &[u8]) {
        match self.state {
            State::Title => {
                let room = MAX_TITLE_BYTES.saturating_sub(self.title.len());
                self.title.extend_from_slice(&text[..text.len().min(room)]);
            }
            State::Shown if !self.top().is_hidden => self.pending.extend_from_slice(text),
            State::Shown | State::Dropped => {}
        }
    }

    fn start(&mut self, self_closing: bool) {
        self.state = State::Shown;
        let tag = std::mem::take(&mut self.tag);
        let name = tag.name.as_slice();
        let kind = kind_of(name);
        self.is_past_head |= !matches!(
            name,
            b"html"
                | b"head"
                | b"title"
                | b"base"
                | b"link"
                | b"meta"
                | b"style"
                | b"script"
                | b"noscript"
                | b"template"
        );
        match kind {
            Kind::Inline => {}
            Kind::Head => self.head_tag(&tag),
            Kind::Void => self.flush(),
            Kind::Dropped => {
                self.flush();
                self.state = State::Dropped;
                if name == b"title" {
                    // Later ones are those of drawings.
                    let is_first = !std::mem::replace(&mut self.has_title, true);
                    self.state = if is_first { State::Title } else { State::Dropped };
                }
            }
            Kind::Block => {
                self.flush();
                if !self_closing || !self.is_drawing() {
                    self.open(&tag);
                }
            }
        }
        self.tag = tag;
    }

    fn end(&mut self, name: &[u8]) {
        self.state = State::Shown;
        match kind_of(name) {
            Kind::Inline | Kind::Head => {}
            Kind::Void | Kind::Dropped => self.flush(),
            Kind::Block => {
                self.flush();
                let name = packed(name);
                if let Some(at) = self.stack.iter().rposition(|element| element.name == name) {
                    self.stack.truncate(at);
                }
            }
        }
    }

    fn head_tag(&mut self, tag: &StartTag) {
        let is = |value: &[u8], word: &[u8]| value.eq_ignore_ascii_case(word);
        match tag.name.as_slice() {
            b"base" if self.page.base.is_none() && !tag.href.is_empty() => {
                self.page.base = Some(text::of(&tag.href));
            }
            // A link that readers could have written counts for nothing.
            b"link" if !self.is_past_head => {
                let mut words = tag.rel.split(u8::is_ascii_whitespace);
                if words.any(|word| is(word, b"canonical")) && !tag.href.trim_ascii().is_empty() {
                    let target = text::of(tag.href.trim_ascii());
                    self.has_two_canonicals |=
                        self.page.canonical.as_ref().is_some_and(|first| *first != target);
                    self.page.canonical = Some(target);
                }
            }
            b"meta" if is(&tag.http_equiv, b"refresh") && self.page.refresh.is_none() => {
                self.page.refresh = refresh::target(&text::of(&tag.content)).map(str::to_owned);
            }
            _ => {}
        }
    }

    fn top(&self) -> Element {
        self.stack.last().copied().unwrap_or_default()
    }

    fn is_drawing(&self) -> bool {
        self.stack.iter().rev().take(8).any(|element| element.name == packed(b"svg"))
    }

    fn open(&mut self, tag: &StartTag) {
        let name = packed(&tag.name);
        // Those whose end tags are mostly left out.
        if matches!(&*tag.name, b"p" | b"li" | b"td" | b"th" | b"tr" | b"dt" | b"dd" | b"option")
            && self.stack.last().is_some_and(|top| top.name == name)
        {
            self.stack.pop();
        }
        if self.stack.len() == MAX_DEPTH {
            return;
        }
        let parent = self.top();
        let class =
            tag.class.split(u8::is_ascii_whitespace).find(|class| !class.is_empty()).unwrap_or_default();
        let landmark = if tag.id.is_empty() && class.is_empty() {
            parent.landmark
        } else {
            without_digits(class, without_digits(&tag.id, name))
        };
        self.stack.push(Element {
            name,
            landmark,
            region: region_of(tag, &parent),
            is_hidden: parent.is_hidden || tag.is_hidden || *tag.name == *b"template",
            is_in_article: parent.is_in_article || matches!(&*tag.name, b"article" | b"main"),
        });
    }

    /// Ends the block.
    fn flush(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let Element { name, landmark, region, .. } = self.top();
        let slot = landmark.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17) ^ name;
        self.page.push_block(&self.pending, slot, region);
        self.pending.clear();
    }

    fn finish(mut self) -> Page {
        self.flush();
        text::push_words(&mut self.page.title, &self.title);
        if self.has_two_canonicals {
            self.page.canonical = None;
        }
        self.page
    }
}

/// The first eight bytes of a name.
fn packed(name: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let length = name.len().min(8);
    bytes[..length].copy_from_slice(&name[..length]);
    u64::from_le_bytes(bytes)
}

/// A hash of an id or class less its digits, which number things: `comment-17`.
fn without_digits(name: &[u8], seed: u64) -> u64 {
    name.split(u8::is_ascii_digit)
        .fold(seed, |hash, part| if part.is_empty() { hash } else { xxh3_64_with_seed(part, hash) })
}

fn region_of(tag: &StartTag, parent: &Element) -> PageRegion {
    let role = tag.role.trim_ascii();
    let is_aside = match &*tag.name {
        b"nav" | b"footer" | b"aside" | b"select" | b"button" | b"dialog" | b"menu" => true,
        b"header" => !parent.is_in_article,
        _ => matches!(
            role,
            b"navigation" | b"banner" | b"contentinfo" | b"complementary" | b"search" | b"dialog"
        ),
    };
    if is_aside || parent.region == PageRegion::Aside {
        PageRegion::Aside
    } else if *tag.name == *b"main" || role == b"main" || parent.region == PageRegion::Main {
        PageRegion::Main
    } else {
        PageRegion::Body
    }
}

/// What a tag does to the text around it.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Stands within a line.
    Inline,
    /// Says something about the page.
    Head,
    /// Breaks a line and has no content.
    Void,
    /// Has content that is not markup and not shown; or is the title.
    Dropped,
    /// Breaks a line.
    Block,
}

fn kind_of(name: &[u8]) -> Kind {
    match name {
        b"a" | b"abbr" | b"acronym" | b"b" | b"bdi" | b"bdo" | b"big" | b"cite" | b"code" | b"data"
        | b"del" | b"dfn" | b"em" | b"font" | b"i" | b"ins" | b"kbd" | b"label" | b"mark" | b"nobr"
        | b"q" | b"s" | b"samp" | b"small" | b"span" | b"strike" | b"strong" | b"sub" | b"sup" | b"time"
        | b"tt" | b"u" | b"var" | b"wbr" => Kind::Inline,
        b"base" | b"link" | b"meta" => Kind::Head,
        b"br" | b"hr" | b"img" | b"input" | b"area" | b"col" | b"embed" | b"source" | b"track" | b"param"
        | b"frame" | b"keygen" | b"path" => Kind::Void,
        b"script" | b"style" | b"title" | b"noscript" | b"iframe" | b"noembed" | b"noframes" | b"xmp" => {
            Kind::Dropped
        }
        _ => Kind::Block,
    }
}
