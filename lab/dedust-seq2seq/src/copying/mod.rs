/*!
URLs as the copying model reads them: tokens that know their place, templates, and what becomes of them.

The paper's tokens forget slashes and leave a model to find out that `=` follows a name. Here a token is a part of the
URL's key-value view (see [`dedust::rules::tokenize`]): scheme, host labels, path segments, trailing slash, and names of
parameters, each followed by its value. Parameters are sorted by name. So a translation can be read back as a URL
without guessing, and written as a rule.

1. [`Language`]: which tokens are words; URLs to templates.
2. [`pairs`]: what the model learns from. Unlike the paper's, a page may have several targets, where no translation leads
   from one form to another; and URLs that stand alone teach, a little, to leave URLs alone.
3. [`Program`]: what a translation of a template means, as operations on the parts of a URL.
4. `proposal`: the small changes that programs have in common.
5. `trial` and `accept`: which changes are believed and of which URLs, by URLs that the model did not learn from.
*/

mod accept;
mod language;
mod pairs;
mod program;
mod proposal;
mod site;
mod translate;
mod trial;

pub use language::{Language, Word};
pub use pairs::pairs;
pub use program::{Piece, Program};
pub use site::{Parts, Site, Template, parts_of};
pub use translate::learn;
