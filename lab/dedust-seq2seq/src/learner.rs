/*!
The method `seq2seq`: one copying model per site, compiled to rules.
*/

use std::sync::{Mutex, PoisonError};

use burn::tensor::Device;
use dedust_baselines::learned;
use dedust_learn::support::{LearnSettings, Learned, Learner};
use dedust_learn::{Corpus, Progress};

use crate::chance::Chance;
use crate::copying;
use crate::model::{
    Card, CopyModel, Epoch, Network as _, Optimizer, PAPER_UNITS, Schedule, SiteModel, Weights, cpu, train,
};
use crate::paper::{PaperTranslator, SCHEDULE};
use crate::variant::Variant;

/// How models are trained.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// What chance depends on. Default: 0.
    pub seed: u64,
    /// Units of each layer of the model that copies; the paper's has 512. Default: 64.
    pub units: usize,
    /// How long and how fast that model is trained. Default: Adam, batches of 64.
    pub schedule: Schedule,
    /// Which model. Default: the one that copies.
    pub variant: Variant,
    /// Whether models are kept for [`Seq2Seq::take_weights`]; those of the paper's variant are not. Default: no.
    pub keeps_models: bool,
}

impl Default for Options {
    fn default() -> Self {
        let schedule = Schedule {
            optimizer: Optimizer::Adam(1e-2),
            batch: 64,
            max_epochs: 60,
            min_epoch_steps: 0,
            patience: 6,
            decay: 0.7,
            max_steps: 1500,
        };
        Self { seed: 0, units: 64, schedule, variant: Variant::Copy, keeps_models: false }
    }
}

/// Learns with a model per site.
#[derive(Debug)]
pub struct Seq2Seq {
    options: Options,
    device: Device,
    weights: Mutex<Weights>,
}

impl Seq2Seq {
    /// A learner on the CPU.
    pub fn new(options: Options) -> Self {
        Self { options, device: cpu(), weights: Mutex::default() }
    }

    /// The models of all sites learned so far, if they were to be kept.
    pub fn take_weights(&self) -> Weights {
        std::mem::take(&mut *self.weights.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn keep(&self, site: &str, model: SiteModel) {
        self.weights.lock().unwrap_or_else(PoisonError::into_inner).sites.insert(site.into(), model);
    }
}

impl Learner for Seq2Seq {
    fn name(&self) -> &'static str {
        "seq2seq"
    }

    fn learn(&self, corpus: &Corpus, _: &LearnSettings, progress: &dyn Progress) -> Learned {
        match self.options.variant {
            Variant::Copy => self.learn_copying(corpus, progress),
            Variant::Paper => self.learn_as_paper(corpus, progress),
        }
    }
}

impl Seq2Seq {
    fn learn_as_paper(&self, corpus: &Corpus, progress: &dyn Progress) -> Learned {
        let told = |epoch: &Epoch| {
            progress.epoch_done(corpus.site(), epoch.number, epoch.held_out_loss, epoch.exact_match);
        };
        let seed = self.options.seed;
        let translator = PaperTranslator::train(corpus, PAPER_UNITS, &SCHEDULE, seed, &self.device, &told);
        let rules = translator.map(|mut translator| translator.rules(corpus)).unwrap_or_default();
        learned(&rules)
    }

    fn learn_copying(&self, corpus: &Corpus, progress: &dyn Progress) -> Learned {
        let Options { seed, units, schedule, keeps_models, .. } = self.options;
        let mut kept = None;
        let learned = copying::learn(corpus, seed, |site, pairs| {
            let mut chance = Chance::new(seed, corpus.site());
            let model = CopyModel::new(site.language.len(), units, &mut chance, &self.device);
            let told = |epoch: &Epoch| {
                progress.epoch_done(corpus.site(), epoch.number, epoch.held_out_loss, epoch.exact_match);
            };
            let trained = train(model, pairs, &schedule, &mut chance, &self.device, &told);
            let sources: Vec<&[u32]> =
                site.templates.iter().map(|template| template.words.as_slice()).collect();
            let translations = trained.model.decode(&sources, &self.device);
            if keeps_models && kept.is_none() {
                let card = Card {
                    urls: corpus.len() as u64,
                    labelled: corpus.labelled_count() as u64,
                    pairs: pairs.observed as u64,
                    train_pairs: pairs.train.len() as u64,
                    held_out_pairs: pairs.held_out.len() as u64,
                    templates: site.templates.len() as u64,
                    units: units as u64,
                    seed,
                    epochs: trained.epochs as u64,
                    held_out_loss: rounded(trained.best.held_out_loss),
                    exact_match: rounded(trained.best.exact_match),
                    rules: 0,
                    language: site.language.clone(),
                };
                kept = Some(SiteModel { card, model: trained.model });
            }
            translations
        });
        if let Some(mut model) = kept {
            model.card.rules = learned.rules.len() as u64;
            self.keep(corpus.site(), model);
        }
        learned
    }
}

/// Fixed precision, as everywhere in files.
fn rounded(number: f64) -> f64 {
    (number * 1e4).round() / 1e4
}
