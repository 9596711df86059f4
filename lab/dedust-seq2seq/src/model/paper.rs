/*!
The paper's model: what is known of the source is one state, and words are written from a vocabulary alone.

One layer of 512 units reads, another writes; both share the embeddings of words. Placeholders are words like others.
*/

use burn::module::{Module, Param};
use burn::tensor::activation::softmax;
use burn::tensor::{Device, Tensor};

use super::batch::Batch;
use super::gru::{Gru, uniform};
use super::train::{Network, Scored, by_length};
use crate::chance::Chance;
use crate::pair::{END, Symbol};

/// Units of each layer and of embeddings.
pub const UNITS: usize = 512;
/// Weights start from `-BOUND` to `BOUND`.
const BOUND: f32 = 0.08;
/// A translation may be longer than its source by so many words.
const MAX_LONGER: usize = 5;

/// The model.
#[derive(Module, Debug)]
pub struct PaperModel {
    embedding: Param<Tensor<2>>,
    encoder: Gru,
    decoder: Gru,
    vocabulary: Param<Tensor<2>>,
    vocabulary_bias: Param<Tensor<2>>,
}

impl PaperModel {
    /// A model that knows nothing, with so many words and units; the paper has [`UNITS`].
    pub fn new(words: usize, units: usize, chance: &mut Chance, device: &Device) -> Self {
        Self {
            embedding: uniform([words, units], BOUND, chance, device),
            encoder: Gru::new(units, units, BOUND, chance, device),
            decoder: Gru::new(units, units, BOUND, chance, device),
            vocabulary: uniform([units, words], BOUND, chance, device),
            vocabulary_bias: uniform([1, words], BOUND, chance, device),
        }
    }

    fn embed(&self, words: &[i32], device: &Device) -> Tensor<2> {
        self.embedding.val().select(0, Batch::ints(words, device))
    }

    fn read(&self, sources: &[i32], size: usize, device: &Device) -> Tensor<2> {
        let units = self.embedding.dims()[1];
        let first = Tensor::zeros([size, units], device);
        let states = self.encoder.run(self.embed(sources, device), first.clone(), false);
        states.into_iter().next_back().unwrap_or(first)
    }

    fn decode_equal(&self, sources: &[&[u32]], device: &Device) -> Vec<Option<Vec<Symbol>>> {
        let (size, length) = (sources.len(), sources.first().map_or(0, |source| source.len()));
        let words: Vec<i32> =
            (0..length).flat_map(|step| sources.iter().map(move |source| source[step] as i32)).collect();
        let mut state = self.read(&words, size, device);
        let mut inputs = vec![END as i32; size];
        let mut written: Vec<Vec<Symbol>> = vec![Vec::new(); size];
        let mut is_done = vec![false; size];
        for _ in 0..length + MAX_LONGER {
            state = self.decoder.step(self.decoder.project(self.embed(&inputs, device)), state);
            let scores = state.clone().matmul(self.vocabulary.val()) + self.vocabulary_bias.val();
            let count = scores.dims()[1];
            let Ok(scores) = scores.into_data().try_into_vec::<f32>() else { break };
            for at in 0..size {
                let scores = &scores[at * count..(at + 1) * count];
                let best = scores.iter().zip(0u32..).fold((f32::MIN, END), |best, (&score, word)| {
                    if score > best.0 { (score, word) } else { best }
                });
                inputs[at] = best.1 as i32;
                is_done[at] |= best.1 == END;
                if !is_done[at] {
                    written[at].push(Symbol::Word(best.1));
                }
            }
            if is_done.iter().all(|is_done| *is_done) {
                break;
            }
        }
        written.into_iter().zip(is_done).map(|(written, is_done)| is_done.then_some(written)).collect()
    }
}

impl Network for PaperModel {
    fn score(&self, batch: &Batch, device: &Device) -> Scored {
        let &Batch { size, target_len, .. } = batch;
        let state = self.read(&batch.sources, size, device);
        let states = self.decoder.run(self.embed(&batch.inputs, device), state, false);
        let units = self.embedding.dims()[1];
        let flat = Tensor::stack::<3>(states, 1).reshape([size * target_len, units]);
        let chances = softmax(flat.matmul(self.vocabulary.val()) + self.vocabulary_bias.val(), 1);
        let words = Batch::ints(&batch.words, device).reshape([size * target_len, 1]);
        Scored::new(chances.gather(1, words).reshape([size, target_len]), batch, device)
    }

    fn decode(&self, sources: &[&[u32]], device: &Device) -> Vec<Option<Vec<Symbol>>> {
        by_length(sources, |equal| self.decode_equal(equal, device))
    }
}
