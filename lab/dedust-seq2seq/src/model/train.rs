/*!
Pairs to weights: passes over all pairs until those that were held out get no better.
*/

use burn::grad_clipping::GradientClippingConfig;
use burn::module::Module;
use burn::optim::{AdamConfig, GradientsParams, ModuleOptimizer, SgdConfig};
use burn::tensor::{Device, Tensor};

use super::batch::Batch;
use crate::chance::Chance;
use crate::pair::{Pairs, Symbol};

/// A model that can be trained.
pub trait Network: Module {
    /// The chances that the model gives to the targets of a batch.
    fn score(&self, batch: &Batch, device: &Device) -> Scored;

    /// Translates sources, each by its most likely words; `None` where there is no end.
    fn decode(&self, sources: &[&[u32]], device: &Device) -> Vec<Option<Vec<Symbol>>>;
}

/// What a model gives to the targets of a batch.
#[derive(Debug)]
pub struct Scored {
    /// Mean of the negative logarithm of the chances of all words.
    loss: Tensor<1>,
    /// By pair and step.
    chances: Tensor<2>,
}

impl Scored {
    pub(super) fn new(chances: Tensor<2>, batch: &Batch, device: &Device) -> Self {
        let &Batch { size, target_len, .. } = batch;
        let weights = Batch::floats(&batch.weights, [size, target_len], device);
        let total: f32 = batch.weights.iter().sum();
        let loss =
            (chances.clone().add_scalar(1e-8).log() * weights).sum().mul_scalar(-1.0 / total.max(1e-6));
        Self { loss, chances }
    }

    /// The summed weight of the pairs all of whose words are likelier than not, and of all pairs.
    fn exact(self, batch: &Batch) -> (f64, f64) {
        let chances: Vec<f32> = self.chances.into_data().try_into_vec::<f32>().unwrap_or_default();
        let mut exact = (0.0, 0.0);
        let steps =
            chances.chunks(batch.target_len.max(1)).zip(batch.weights.chunks(batch.target_len.max(1)));
        for ((chances, weights), &weight) in steps.zip(&batch.pair_weights) {
            let is_exact =
                chances.iter().zip(weights).all(|(&chance, &weight)| weight == 0.0 || chance > 0.5);
            exact.0 += if is_exact { f64::from(weight) } else { 0.0 };
            exact.1 += f64::from(weight);
        }
        exact
    }
}

/// A model that translates all held-out pairs with less loss has nothing left to learn.
const PERFECT_LOSS: f64 = 0.1;

/// How weights are changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Optimizer {
    /// Adam, with this rate at first.
    Adam(f64),
    /// Plain gradient descent, with this rate at first.
    Sgd(f64),
}

/// How long and how fast a model is trained.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// How weights are changed.
    pub optimizer: Optimizer,
    /// Pairs in a batch, at most.
    pub batch: usize,
    /// Passes over all pairs, at most.
    pub max_epochs: usize,
    /// Batches that make an epoch, at least: few pairs are passed over several times.
    pub min_epoch_steps: usize,
    /// Passes without a better loss on the held-out pairs, after which training ends.
    pub patience: usize,
    /// What the rate is multiplied with after such a pass.
    pub decay: f64,
    /// Batches in all, at most.
    pub max_steps: usize,
}

/// What one pass over the pairs came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Epoch {
    /// Counted from 1.
    pub number: usize,
    /// The loss on the pairs learned from.
    pub train_loss: f64,
    /// The loss on the held-out pairs.
    pub held_out_loss: f64,
    /// The share of the held-out pairs that are translated word by word as they are.
    pub exact_match: f64,
}

/// A model with the best of its epochs.
#[derive(Debug)]
pub struct Trained<M> {
    /// The model.
    pub model: M,
    /// The epoch it is from.
    pub best: Epoch,
    /// All epochs.
    pub epochs: usize,
}

/// Trains a model, and says after each epoch how it went.
pub fn train<M: Network>(
    model: M,
    pairs: &Pairs,
    schedule: &Schedule,
    chance: &mut Chance,
    device: &Device,
    progress: &dyn Fn(&Epoch),
) -> Trained<M> {
    let clipping = Some(GradientClippingConfig::Norm(5.0));
    let (mut optimizer, mut rate): (ModuleOptimizer, f64) = match schedule.optimizer {
        Optimizer::Adam(rate) => (AdamConfig::new().with_grad_clipping(clipping).init(), rate),
        Optimizer::Sgd(rate) => (SgdConfig::new().with_gradient_clipping(clipping).init(), rate),
    };
    let checks = if pairs.held_out.is_empty() { &pairs.train } else { &pairs.held_out };
    let checks = Batch::of(checks, 256, &mut chance.clone());
    let training = device.clone().autodiff();
    let mut model = model.train();
    let mut best: Option<(M, Epoch)> = None;
    let (mut waited, mut steps, mut epochs) = (0, 0, 0);
    while epochs < schedule.max_epochs && steps < schedule.max_steps && !pairs.train.is_empty() {
        epochs += 1;
        let (mut sum, mut total) = (0.0, 0.0);
        let mut batches = Batch::of(&pairs.train, schedule.batch, chance);
        while batches.len() < schedule.min_epoch_steps {
            batches.extend(Batch::of(&pairs.train, schedule.batch, chance));
        }
        for batch in batches {
            let Scored { loss, .. } = model.score(&batch, &training);
            let weight = f64::from(batch.weights.iter().sum::<f32>());
            sum += weight * f64::from(loss.clone().into_scalar::<f32>());
            total += weight;
            let gradients = GradientsParams::from_grads(loss.backward(), &model);
            model = optimizer.step(rate, model, gradients);
            steps += 1;
        }
        let epoch = Epoch {
            number: epochs,
            train_loss: sum / f64::max(total, 1e-9),
            ..check(&model.valid(), &checks, device)
        };
        progress(&epoch);
        let is_perfect = epoch.exact_match >= 0.9999 && epoch.held_out_loss < PERFECT_LOSS;
        if best.as_ref().is_none_or(|(_, best)| epoch.held_out_loss < best.held_out_loss - 1e-4) {
            best = Some((model.valid(), epoch));
            waited = 0;
        } else {
            waited += 1;
            rate *= schedule.decay;
            if waited >= schedule.patience {
                break;
            }
        }
        if is_perfect {
            break;
        }
    }
    let (model, best) = best.unwrap_or_else(|| (model.valid(), Epoch::default()));
    Trained { model, best, epochs }
}

/// How well a model does on held-out pairs.
fn check<M: Network>(model: &M, batches: &[Batch], device: &Device) -> Epoch {
    let (mut loss, mut total, mut exact) = (0.0, 0.0, (0.0, 0.0));
    for batch in batches {
        let scored = model.score(batch, device);
        let weight = f64::from(batch.weights.iter().sum::<f32>());
        loss += weight * f64::from(scored.loss.clone().into_scalar::<f32>());
        total += weight;
        let of_batch = scored.exact(batch);
        exact = (exact.0 + of_batch.0, exact.1 + of_batch.1);
    }
    Epoch {
        held_out_loss: loss / f64::max(total, 1e-9),
        exact_match: exact.0 / f64::max(exact.1, 1e-9),
        ..Epoch::default()
    }
}

/// Sources decoded at once, at most.
const DECODED_AT_ONCE: usize = 256;

/// Translates sources of equal length together, and gives the results in the order of the sources.
pub(super) fn by_length(
    sources: &[&[u32]],
    decode: impl Fn(&[&[u32]]) -> Vec<Option<Vec<Symbol>>>,
) -> Vec<Option<Vec<Symbol>>> {
    let mut order: Vec<usize> = (0..sources.len()).collect();
    order.sort_by_key(|&at| sources[at].len());
    let mut results = vec![None; sources.len()];
    for equal in order.chunk_by(|&a, &b| sources[a].len() == sources[b].len()) {
        for chunk in equal.chunks(DECODED_AT_ONCE) {
            let batch: Vec<&[u32]> = chunk.iter().map(|&at| sources[at]).collect();
            if batch.first().is_some_and(|source| !source.is_empty()) {
                for (&at, result) in chunk.iter().zip(decode(&batch)) {
                    results[at] = result;
                }
            }
        }
    }
    results
}
