/*!
URLs as the paper reads them: tokens, function and argument tokens, placeholders, pairs.

`/` splits a URL and is discarded; `?`, `=`, `&` and `;` split it and are kept. A token that at least one in a hundred URLs
of the site has is a function, any other an argument. Arguments are replaced by `arg_1`, `arg_2`, ... from the left, and
put back after translation.

After Xu, Liu and Callan, SIGIR 2017. Where the paper is silent we read it as follows.

- Frequencies are those of the site's training URLs; a share of exactly one in a hundred makes a function.
- An argument of the target that is an argument of the source too gets its number there, the first if there are
  several. One that is not, but that targets of the site have at least twice, is kept as a word: pages that all redirect
  to one. Otherwise nothing can be learned from the pair, and it is left out.
- A URL with more than twenty arguments is not translated.
- Of URLs with equally many tokens and equal sums of frequencies the shortest is the canonical one, then the first by
  its bytes.
*/

mod language;
mod pairs;
mod rules;
mod tokens;
#[cfg(feature = "neural")]
mod translator;

pub use language::{MAX_ARGUMENTS, Masked, PaperLanguage};
pub use pairs::{canonical, pairs};
pub use rules::rules;
pub use tokens::tokenize;
#[cfg(feature = "neural")]
pub use translator::{PaperTranslator, SCHEDULE};
