/*!
What methods are given, and the method `seq2seq`, whose learner is there only if it was built in.
*/

use dedust_learn::{LearnSettings, Method};

use crate::args::Variant;
use crate::failure::Refusal;

/// The learner of `seq2seq`, to ask for its models after training.
#[cfg(feature = "seq2seq")]
pub(crate) type Translator = std::sync::Arc<dedust_seq2seq::Seq2Seq>;

/// A learner that keeps its models, or does not.
#[cfg(feature = "seq2seq")]
pub(crate) fn translator(variant: Option<Variant>, seed: u64, keeps_models: bool) -> Translator {
    let variant = match variant {
        None | Some(Variant::Copy) => dedust_seq2seq::Variant::Copy,
        Some(Variant::Paper) => dedust_seq2seq::Variant::Paper,
    };
    let options =
        dedust_seq2seq::Options { seed, variant, keeps_models, ..dedust_seq2seq::Options::default() };
    std::sync::Arc::new(dedust_seq2seq::Seq2Seq::new(options))
}

/// Settings with this limit on false pairs and, if it was built in, the learner of `seq2seq`.
pub(crate) fn settings(max_false_pair_rate: f64, seed: u64, variant: Option<Variant>) -> LearnSettings {
    let settings = LearnSettings::default().with_max_false_pair_rate(max_false_pair_rate);
    #[cfg(feature = "seq2seq")]
    let settings = settings.with_seq2seq(translator(variant, seed, false));
    #[cfg(not(feature = "seq2seq"))]
    let _ = (seed, variant);
    settings
}

/// Refuses a method that was not built in, and says how to get it.
pub(crate) fn check(method: Method, settings: &LearnSettings) -> Result<(), Refusal> {
    if settings.allow(method) {
        return Ok(());
    }
    Err(Refusal::new(
        format!("this build of dedust has no {method}"),
        format!("build it with `cargo build --release -p dedust-cli --features {method}`"),
    ))
}

/// Refuses `--variant` where no method that is asked for has variants.
pub(crate) fn check_variant(variant: Option<Variant>, methods: &[Method]) -> Result<(), Refusal> {
    if variant.is_none() || methods.contains(&Method::Seq2Seq) {
        return Ok(());
    }
    let names: Vec<&str> = methods.iter().map(|method| method.name()).collect();
    Err(Refusal::new(
        format!("--variant says which model seq2seq trains, and is not for {}", names.join(", ")),
        "ask for seq2seq, or leave --variant out",
    ))
}
