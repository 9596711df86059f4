/*!
The names of the files of a set. Those with keys say of which generations the keys are: see [`crate::folder`].
*/

/// The file that makes a folder a set.
pub(crate) const MARKER: &str = "SEEN";
/// What the name of a file ends with while it is written.
pub(crate) const UNFINISHED: &str = ".tmp";
/// What the name of the copy of a damaged file ends with.
pub(crate) const DAMAGED: &str = ".damaged";
/// No set lives to see this generation. Names with a later one are not of ours.
const MAX_GENERATION: u64 = 1 << 48;

/// Generations in a row, first and last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Span {
    pub(crate) first: u64,
    pub(crate) last: u64,
}

impl Span {
    pub(crate) fn len(self) -> u64 {
        self.last - self.first + 1
    }
}

/// The name of the log of a generation.
pub(crate) fn log(generation: u64) -> String {
    format!("log-{generation:08}")
}

/// The name of the run of some generations.
pub(crate) fn run(Span { first, last }: Span) -> String {
    format!("run-{first:08}-{last:08}")
}

/// The generations of a run, if a file with this name may be one.
pub(crate) fn span_of(name: &str) -> Option<Span> {
    let (first, last) = name.strip_prefix("run-")?.split_once('-')?;
    let span = Span { first: first.parse().ok()?, last: last.parse().ok()? };
    (1 <= span.first && span.first <= span.last && span.last <= MAX_GENERATION).then_some(span)
}

/// The generation of a log, if a file with this name may be one.
pub(crate) fn generation_of(name: &str) -> Option<u64> {
    let generation = name.strip_prefix("log-")?.parse().ok()?;
    (1..=MAX_GENERATION).contains(&generation).then_some(generation)
}
