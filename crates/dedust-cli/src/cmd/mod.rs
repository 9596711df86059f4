/*!
One file per command, each with `run(args, &mut Printer) -> anyhow::Result<ExitStatus>`.
*/

pub(crate) mod budget;
pub(crate) mod cluster;
pub(crate) mod collect;
#[cfg(feature = "lab")]
pub(crate) mod compare;
pub(crate) mod compile;
pub(crate) mod completions;
pub(crate) mod dedup;
pub(crate) mod evaluate;
pub(crate) mod explain;
pub(crate) mod groups;
pub(crate) mod learn;
pub(crate) mod man;
pub(crate) mod normalize;
pub(crate) mod report;
pub(crate) mod rules;
pub(crate) mod seen;
#[cfg(feature = "serve")]
pub(crate) mod serve;
#[cfg(feature = "lab")]
pub(crate) mod simulate;
#[cfg(feature = "lab")]
pub(crate) mod tree;
pub(crate) mod validate;
pub(crate) mod waste;
