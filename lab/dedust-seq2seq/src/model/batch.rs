/*!
Pairs side by side, as tensors are made of them.

All sources of a batch have the same length, so that a translation never depends on what else is in its batch.
*/

use burn::tensor::{Device, Int, Tensor, TensorData};

use crate::chance::Chance;
use crate::pair::{END, Pair, Symbol};

/// Pairs whose sources are equally long.
#[derive(Clone, Debug)]
pub struct Batch {
    pub(super) size: usize,
    pub(super) source_len: usize,
    /// The longest target, with its end.
    pub(super) target_len: usize,
    /// Words of the sources, one step after the other.
    pub(super) sources: Vec<i32>,
    /// What the decoder reads at each step: the end first, then the word before.
    pub(super) inputs: Vec<i32>,
    /// The word to write, by pair and step; 0 where none is.
    pub(super) words: Vec<i32>,
    /// Whether that word may be written from the vocabulary.
    pub(super) is_word: Vec<f32>,
    /// Whether the place of the source holds what is to be written, by pair, step and place.
    pub(super) matches: Vec<f32>,
    /// How much each step counts; 0 behind the end.
    pub(super) weights: Vec<f32>,
    /// How much each pair counts.
    pub(super) pair_weights: Vec<f32>,
}

impl Batch {
    fn new(pairs: &[&Pair]) -> Self {
        let size = pairs.len();
        let source_len = pairs.first().map_or(0, |pair| pair.source.len());
        let target_len = pairs.iter().map(|pair| pair.target.len() + 1).max().unwrap_or(0);
        let mut batch = Self {
            size,
            source_len,
            target_len,
            sources: vec![0; size * source_len],
            inputs: vec![END as i32; size * target_len],
            words: vec![END as i32; size * target_len],
            is_word: vec![0.0; size * target_len],
            matches: vec![0.0; size * target_len * source_len],
            weights: vec![0.0; size * target_len],
            pair_weights: pairs.iter().map(|pair| pair.weight).collect(),
        };
        for (at, pair) in pairs.iter().enumerate() {
            for (step, &word) in pair.source.iter().enumerate() {
                batch.sources[step * size + at] = word as i32;
            }
            let symbols = pair.target.iter().copied().chain([Symbol::Word(END)]);
            for (step, symbol) in symbols.enumerate() {
                let cell = at * target_len + step;
                batch.weights[cell] = pair.weight;
                let word = match symbol {
                    Symbol::Word(word) => {
                        batch.is_word[cell] = 1.0;
                        for (place, &other) in pair.source.iter().enumerate() {
                            batch.matches[cell * source_len + place] = f32::from(u8::from(other == word));
                        }
                        word
                    }
                    Symbol::Copy(place) => {
                        batch.matches[cell * source_len + usize::from(place)] = 1.0;
                        pair.source.get(usize::from(place)).copied().unwrap_or(END)
                    }
                };
                batch.words[cell] = word as i32;
                if step + 1 < target_len {
                    batch.inputs[(step + 1) * size + at] = word as i32;
                }
            }
        }
        batch
    }

    /// Batches of at most `size` pairs, in an order that chance decides.
    pub fn of(pairs: &[Pair], size: usize, chance: &mut Chance) -> Vec<Self> {
        let mut order: Vec<&Pair> = pairs.iter().collect();
        chance.shuffle(&mut order);
        order.sort_by_key(|pair| pair.source.len());
        let mut batches: Vec<Self> = order
            .chunk_by(|a, b| a.source.len() == b.source.len())
            .flat_map(|equal| equal.chunks(size.max(1)))
            .map(Self::new)
            .collect();
        chance.shuffle(&mut batches);
        batches
    }

    /// Numbers as a tensor.
    pub(super) fn ints(numbers: &[i32], device: &Device) -> Tensor<1, Int> {
        Tensor::from_data(TensorData::new(numbers.to_vec(), [numbers.len()]), device)
    }

    pub(super) fn floats<const D: usize>(numbers: &[f32], shape: [usize; D], device: &Device) -> Tensor<D> {
        Tensor::from_data(TensorData::new(numbers.to_vec(), shape), device)
    }
}
