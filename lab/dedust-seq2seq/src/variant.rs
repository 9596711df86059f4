/*!
The two ways to translate.
*/

/// What is learned, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Variant {
    /// Ours: a small model that copies, whose translations are believed where pages it did not learn from agree.
    #[default]
    Copy,
    /// That of the SIGIR 2017 paper: placeholders, 512 units, and every translation is used.
    Paper,
}
