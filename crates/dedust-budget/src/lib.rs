/*!
Learns which patterns of URLs bring nothing new, and how much of each to fetch: a crawl in, budgets out.

1. A [`Crawl`] remembers URLs, after rules were applied, and hashes of the lines of text that their pages show.
2. [`learn`] splits the URLs of each host into patterns and says of each what was found: [`Budgets`], which people can edit.
3. A [`BudgetBook`] answers whether a URL is to be fetched.

A budget is no merge: it says nothing about which URLs show the same page. An error costs pages that are not fetched, of which a sample
is fetched always, so that it shows.

```
use dedust_budget::{BudgetBook, Crawl, Decision, LookupScratch, PageText, learn};

let mut crawl = Crawl::new();
for number in 0..400u64 {
    // Each article has lines of its own; what its history shows, the article shows too.
    let lines: Vec<u64> = (0..20).map(|line| number * 100 + line).collect();
    let article = format!("http://a.example/article/{number}");
    crawl.observe(article.as_bytes(), PageText { lines: &lines, ..PageText::default() }, 2 * number);
    let history = format!("http://a.example/article/{number}?version=1");
    crawl.observe(history.as_bytes(), PageText { lines: &lines[1..], ..PageText::default() }, 2 * number + 1);
}
let budgets = learn(crawl, 0.99);
let book = BudgetBook::new(&budgets);
let mut scratch = LookupScratch::default();
let mut fetched = |urls: &str| {
    (1000..2000).filter(|n| book.decide(urls.replace('N', &n.to_string()).as_bytes(), &mut scratch) == Decision::Fetch).count()
};
assert!(fetched("http://a.example/article/N?version=1") < 100);
assert_eq!(fetched("http://a.example/article/N"), 1000);
```

# Versions and features

Rust 1.90, the [promise of `dedust`](dedust#versions-and-features), and no features.
*/

mod advice;
mod book;
mod bound;
mod budgets;
mod corpus;
mod crawl;
mod learn;
mod parts;
mod plan;
mod shown;
mod tree;
mod trial;
mod waste;

pub use advice::Advice;
pub use book::{BudgetBook, Decision, LookupScratch};
pub use budgets::{Budgets, FORMAT_VERSION, LoadBudgetsError, Pattern, Seen, Verdict};
pub use crawl::{Crawl, PageText};
pub use learn::learn;
pub use parts::{PART_NAMES, Test};
pub use waste::Waste;
