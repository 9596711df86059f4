/*!
What a reader sees of web pages: documents in, text and fingerprints out.

1. [`Page::read`] takes the bytes of a document and what came with it, and gives its title, its visible text, and where
   it says that it really lives.
2. A [`PageSample`] of a site's pages tells the [`Furniture`] that repeats on them; what remains of a page without it is
   its [`MainText`].
3. A [`Fingerprint`] is all that is kept of a text to compare it with others.

```
use dedust_pages::{Page, PageSource, PageSample};

let html = |number: u32| {
    let matter = format!("Item {number} is unlike any other, {number} times over. ").repeat(3);
    format!("<title>{number}</title><nav>Menu</nav><p class=here>You are at {number}</p><ul><li>{matter}<li>{number}</ul>")
};
let pages: Vec<Page> = (0..10)
    .map(|number| PageSource { body: html(number).into_bytes().leak(), ..PageSource::default() })
    .filter_map(|source| Page::read(&source))
    .collect();
let mut sample = PageSample::default();
pages.iter().for_each(|page| sample.add(page));
let furniture = sample.furniture();
let matter: Vec<&str> = furniture.main_text(&pages[3]).blocks().collect();
assert_eq!(matter.len(), 2, "neither the menu nor where one is");
assert!(furniture.main_text(&pages[3]).fingerprint().is_some());
```

Never fails and never panics, whatever the bytes: broken markup is read as browsers do, and what is kept of a document is
bounded by its size. Reads no files, fetches nothing, and decides nothing about which pages are the same.

# Versions and features

Rust 1.90, semantic versions, and no features. Fingerprints of two versions are not to be compared.
*/

mod block;
mod charset;
mod fingerprint;
mod link_header;
mod markup;
mod page;
mod read;
mod refresh;
mod site;
mod text;

pub use fingerprint::{Fingerprint, MIN_TEXT_CHARS, SKETCH_VALUES, Sketch, signature};
pub use page::Page;
pub use read::PageSource;
pub use site::{Furniture, MainText, PageSample};
