/*!
Markup to [`Page`]: the tokens of HTML, less those that no reader sees.

Left out are scripts, styles, templates and what is shown only where scripts do not run. A tag separates words unless
it stands within a line, as `<b>` does. No tree is built, so that memory is bounded by the text.
*/

use std::cell::RefCell;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind::{Rawtext, Rcdata, ScriptData};
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};

use crate::page::{Page, collapsed};

/// Reads a document.
pub(crate) fn read(html: &str) -> Page {
    let sink = Sink { state: RefCell::new(State::default()) };
    let tokenizer = Tokenizer::new(sink, TokenizerOpts::default());
    let input = BufferQueue::default();
    input.push_back(StrTendril::from(html));
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    let state = tokenizer.sink.state.into_inner();
    Page { title: collapsed(&state.title), text: collapsed(&state.text) }
}

struct Sink {
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    title: String,
    text: String,
    /// The element whose content is not markup, if we are in one.
    raw: Option<Raw>,
    /// Open `<template>` tags.
    templates: u32,
    has_title: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Raw {
    Title,
    Shown,
    Hidden,
}

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
        let mut state = self.state.borrow_mut();
        match token {
            Token::CharacterTokens(text) => state.push(&text),
            Token::TagToken(tag) => return state.tag(&tag),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

impl State {
    fn push(&mut self, text: &str) {
        match self.raw {
            Some(Raw::Title) => self.title.push_str(text),
            Some(Raw::Hidden) => {}
            Some(Raw::Shown) | None if self.templates == 0 => self.text.push_str(text),
            _ => {}
        }
    }

    fn tag(&mut self, tag: &Tag) -> TokenSinkResult<()> {
        self.raw = None;
        if !is_within_line(&tag.name) {
            self.text.push(' ');
        }
        if tag.kind == TagKind::EndTag {
            if &*tag.name == "template" {
                self.templates = self.templates.saturating_sub(1);
            }
            return TokenSinkResult::Continue;
        }
        let (raw, kind) = match &*tag.name {
            "script" => (Raw::Hidden, ScriptData),
            "style" | "noscript" | "iframe" | "noembed" | "noframes" | "xmp" => (Raw::Hidden, Rawtext),
            "textarea" => (Raw::Shown, Rcdata),
            "title" => {
                // Later ones are those of drawings.
                let is_first = !std::mem::replace(&mut self.has_title, true);
                (if is_first { Raw::Title } else { Raw::Hidden }, Rcdata)
            }
            "plaintext" => return TokenSinkResult::Plaintext,
            "template" => {
                self.templates += 1;
                return TokenSinkResult::Continue;
            }
            _ => return TokenSinkResult::Continue,
        };
        self.raw = Some(raw);
        TokenSinkResult::RawData(kind)
    }
}

fn is_within_line(name: &str) -> bool {
    matches!(
        name,
        "a" | "abbr"
            | "acronym"
            | "b"
            | "bdi"
            | "bdo"
            | "big"
            | "cite"
            | "code"
            | "data"
            | "del"
            | "dfn"
            | "em"
            | "font"
            | "i"
            | "ins"
            | "kbd"
            | "label"
            | "mark"
            | "nobr"
            | "q"
            | "s"
            | "samp"
            | "small"
            | "span"
            | "strike"
            | "strong"
            | "sub"
            | "sup"
            | "time"
            | "tt"
            | "u"
            | "var"
            | "wbr"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(html: &str) -> String {
        read(html).text
    }

    #[test]
    fn title_and_text_are_read() {
        let html = "<!doctype html><html><head><title> A &amp;\n B </title><style>p { x: y }</style>\
                    <script>if (a < b) document.write('<p>no</p>')</script></head>\
                    <body class=x><!-- no --><p>One&nbsp;&eacute;<b>2</b>3</p><p>four<br>five</body></html>";
        assert_eq!(read(html), Page { title: "A & B".into(), text: "One é23 four five".into() });
    }

    #[test]
    fn what_no_reader_sees_is_left_out() {
        assert_eq!(text("a<noscript><p>no</p></noscript><template>no<p>no</template>b"), "a b");
        assert_eq!(text("a<template><template>no</template>no</template>b"), "a b");
        assert_eq!(text("a</template>b<iframe>no</iframe><textarea><i>yes</textarea>"), "a b <i>yes");
        assert_eq!(text("a<script>no"), "a");
        assert_eq!(text("a<script/>no</script>b"), "a b");
    }

    #[test]
    fn the_first_title_counts() {
        let page = read("<title>One</title><body>text<svg><title>Two</title></svg>");
        assert_eq!(page, Page { title: "One".into(), text: "text".into() });
        assert_eq!(read("no title").title, "");
    }

    #[test]
    fn anything_can_be_read() {
        for html in ["", "<", "<p", "&", "&#xffffffff;", "<![CDATA[a]]>", "<title>", "\0<b>\0", "<!--"] {
            read(html);
        }
    }
}
