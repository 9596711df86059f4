/*!
The methods of `--method` and `--methods`: CanonFD, with the feature `lab` the methods of `dedust-baselines`, and `seq2seq`, which may
not be built in.
*/

use std::fmt;
use std::sync::Arc;

use clap::ValueEnum;
#[cfg(feature = "lab")]
use dedust_baselines::Method as BuiltIn;
#[cfg(not(feature = "lab"))]
use dedust_learn::support::CanonFd as BuiltIn;
use dedust_learn::support::Learner;
use serde::{Serialize, Serializer};

use crate::failure::Refusal;

/// A method by its name, built in or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// One that is always there.
    BuiltIn(BuiltIn),
    /// Translation by a neural model (SIGIR 2017), compiled to rules.
    Seq2Seq,
}

/// Which model `seq2seq` trains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Variant {
    /// Small, and copies; what it says is checked
    Copy,
    /// That of the SIGIR 2017 paper
    Paper,
}

impl Method {
    /// All methods, best first; `seq2seq` is the last of those that learn.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let (learning, idle) = built_in();
        let learning = learning.into_iter().map(Self::BuiltIn);
        learning.chain([Self::Seq2Seq]).chain(idle.into_iter().map(Self::BuiltIn))
    }

    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Self::all().find(|method| method.name() == name)
    }

    /// The method of a name that rules or a user gave.
    pub(crate) fn known(name: &str) -> Result<Self, Refusal> {
        Self::of_name(name).ok_or_else(|| {
            let names: Vec<&str> = Self::all().map(Self::name).collect();
            let problem = format!("--method is {name}, expected one of {}", names.join(", "));
            Refusal::new(problem, "name one of them by --method")
        })
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::BuiltIn(method) => method.name(),
            Self::Seq2Seq => "seq2seq",
        }
    }

    /// Whether this build has the method.
    #[cfg(feature = "lab")]
    pub(crate) fn is_built_in(self) -> bool {
        cfg!(feature = "seq2seq") || self != Self::Seq2Seq
    }

    /// Refuses a method that was not built in, and says how to get it.
    #[cfg(feature = "lab")]
    pub(crate) fn check(self) -> Result<(), Refusal> {
        if self.is_built_in() { Ok(()) } else { Err(self.refusal()) }
    }

    fn refusal(self) -> Refusal {
        Refusal::new(
            format!("this build of dedust has no {self}"),
            format!("build it with `cargo build --release -p dedust-cli --features {self}`"),
        )
    }

    /// The learner of a method, with this variant and seed if it has them.
    pub(crate) fn learner(self, variant: Option<Variant>, seed: u64) -> Result<Arc<dyn Learner>, Refusal> {
        match self {
            Self::BuiltIn(method) => Ok(Arc::new(method)),
            #[cfg(feature = "seq2seq")]
            Self::Seq2Seq => Ok(translator(variant, seed, false)),
            #[cfg(not(feature = "seq2seq"))]
            Self::Seq2Seq => {
                let _ = (variant, seed);
                Err(self.refusal())
            }
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Method {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The methods that are always there, those that learn nothing apart.
#[cfg(feature = "lab")]
fn built_in() -> (Vec<BuiltIn>, Vec<BuiltIn>) {
    BuiltIn::ALL.into_iter().partition(|method| !matches!(method, BuiltIn::Standard | BuiltIn::KeepAll))
}

#[cfg(not(feature = "lab"))]
fn built_in() -> (Vec<BuiltIn>, Vec<BuiltIn>) {
    (vec![BuiltIn], Vec::new())
}

/// The learner of `seq2seq`, to ask for its models after training.
#[cfg(feature = "seq2seq")]
pub(crate) type Translator = Arc<dedust_seq2seq::Seq2Seq>;

/// A learner that keeps its models, or does not.
#[cfg(feature = "seq2seq")]
pub(crate) fn translator(variant: Option<Variant>, seed: u64, keeps_models: bool) -> Translator {
    let variant = match variant {
        None | Some(Variant::Copy) => dedust_seq2seq::Variant::Copy,
        Some(Variant::Paper) => dedust_seq2seq::Variant::Paper,
    };
    let options =
        dedust_seq2seq::Options { seed, variant, keeps_models, ..dedust_seq2seq::Options::default() };
    Arc::new(dedust_seq2seq::Seq2Seq::new(options))
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
