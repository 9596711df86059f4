/*!
The copying model: a pointer into the source beside a vocabulary (after See et al., 2017, and Gu et al., 2016).

The source is read in both directions. While it writes, the decoder looks at all of it: how much it looks at each place is
at once what it knows of the source there and the chance that it copies from there. A gate decides between writing a word
and copying.
*/

use burn::module::{Module, Param};
use burn::tensor::activation::{sigmoid, softmax, tanh};
use burn::tensor::{Device, Tensor};

use super::batch::Batch;
use super::gru::{Gru, uniform};
use super::train::{Network, Scored};
use crate::chance::Chance;
use crate::pair::{END, Symbol};

/// A translation may be longer than its source by so many words.
const MAX_LONGER: usize = 5;

/// The model.
#[derive(Module, Debug)]
pub struct CopyModel {
    embedding: Param<Tensor<2>>,
    forward: Gru,
    backward: Gru,
    decoder: Gru,
    /// From the ends of the source to the decoder's first state.
    bridge: Param<Tensor<2>>,
    /// What is looked for in the source.
    attention: Param<Tensor<2>>,
    /// From state and what was looked at to the output.
    output: Param<Tensor<2>>,
    output_bias: Param<Tensor<2>>,
    vocabulary: Param<Tensor<2>>,
    vocabulary_bias: Param<Tensor<2>>,
    gate: Param<Tensor<2>>,
}

/// What every word contributes to each layer, computed once for all that is decoded.
struct Tables {
    forward: Tensor<2>,
    backward: Tensor<2>,
    decoder: Tensor<2>,
}

/// What was read of some sources.
struct Memory {
    /// By pair and place.
    places: Tensor<3>,
    state: Tensor<2>,
}

impl CopyModel {
    /// A model that knows nothing, with so many words and units.
    pub fn new(words: usize, units: usize, chance: &mut Chance, device: &Device) -> Self {
        let bound = 1.0 / (units as f32).sqrt();
        Self {
            embedding: uniform([words, units], 0.3, chance, device),
            forward: Gru::new(units, units, bound, chance, device),
            backward: Gru::new(units, units, bound, chance, device),
            decoder: Gru::new(units, units, bound, chance, device),
            bridge: uniform([2 * units, units], bound, chance, device),
            attention: uniform([units, 2 * units], bound, chance, device),
            output: uniform([3 * units, units], bound, chance, device),
            output_bias: uniform([1, units], 0.0, chance, device),
            vocabulary: uniform([units, words], bound, chance, device),
            vocabulary_bias: uniform([1, words], 0.0, chance, device),
            gate: uniform([units, 1], bound, chance, device),
        }
    }

    fn units(&self) -> usize {
        self.bridge.dims()[1]
    }

    fn embed(&self, words: &[i32], device: &Device) -> Tensor<2> {
        self.embedding.val().select(0, Batch::ints(words, device))
    }

    fn tables(&self) -> Tables {
        let words = self.embedding.val();
        Tables {
            forward: self.forward.project(words.clone()),
            backward: self.backward.project(words.clone()),
            decoder: self.decoder.project(words),
        }
    }

    /// Reads sources, given one step after the other.
    fn read(&self, sources: &[i32], size: usize, device: &Device) -> Memory {
        let embedded = self.embed(sources, device);
        let first = Tensor::zeros([size, self.units()], device);
        let forward = self.forward.run(embedded.clone(), first.clone(), false);
        let backward = self.backward.run(embedded, first.clone(), true);
        self.remember(forward, backward, first)
    }

    /// The same with tables.
    fn read_with(&self, tables: &Tables, sources: &[i32], size: usize, device: &Device) -> Memory {
        let words = Batch::ints(sources, device);
        let first = Tensor::zeros([size, self.units()], device);
        let projected = |table: &Tensor<2>| table.clone().select(0, words.clone());
        let forward = self.forward.run_projected(projected(&tables.forward), first.clone(), false);
        let backward = self.backward.run_projected(projected(&tables.backward), first.clone(), true);
        self.remember(forward, backward, first)
    }

    fn remember(&self, forward: Vec<Tensor<2>>, backward: Vec<Tensor<2>>, first: Tensor<2>) -> Memory {
        let ends = Tensor::cat(
            vec![
                forward.last().cloned().unwrap_or_else(|| first.clone()),
                backward.first().cloned().unwrap_or(first),
            ],
            1,
        );
        let places = Tensor::cat(vec![Tensor::stack::<3>(forward, 1), Tensor::stack::<3>(backward, 1)], 2);
        Memory { places, state: tanh(ends.matmul(self.bridge.val())) }
    }

    /// Looks at the source from states `[pairs, steps, units]`: where, chances of words, and of writing one at all.
    fn look(&self, states: Tensor<3>, places: &Tensor<3>) -> (Tensor<3>, Tensor<3>, Tensor<3>) {
        let [pairs, steps, units] = states.dims();
        let flat = states.clone().reshape([pairs * steps, units]);
        let wanted = flat.matmul(self.attention.val()).reshape([pairs, steps, 2 * units]);
        let scale = 1.0 / (2.0 * units as f64).sqrt();
        let where_to = softmax(wanted.matmul(places.clone().swap_dims(1, 2)).mul_scalar(scale * 4.0), 2);
        let seen = where_to.clone().matmul(places.clone());
        let both = Tensor::cat(vec![states, seen], 2).reshape([pairs * steps, 3 * units]);
        let output = tanh(both.matmul(self.output.val()) + self.output_bias.val());
        let words = output.clone().matmul(self.vocabulary.val()) + self.vocabulary_bias.val();
        let count = words.dims()[1];
        let gate = sigmoid(output.matmul(self.gate.val()));
        (where_to, softmax(words, 1).reshape([pairs, steps, count]), gate.reshape([pairs, steps, 1]))
    }

    /// Translates sources of one length, given one step after the other.
    fn decode_equal(&self, tables: &Tables, sources: &[&[u32]], device: &Device) -> Vec<Option<Vec<Symbol>>> {
        let (size, length) = (sources.len(), sources.first().map_or(0, |source| source.len()));
        let words: Vec<i32> =
            (0..length).flat_map(|step| sources.iter().map(move |source| source[step] as i32)).collect();
        let Memory { mut places, mut state } = self.read_with(tables, &words, size, device);
        let mut written: Vec<Vec<Symbol>> = vec![Vec::new(); size];
        let mut is_done = vec![false; size];
        // The sources that the rows of the tensors belong to, and what each of them wrote last.
        let mut rows: Vec<usize> = (0..size).collect();
        let mut inputs = vec![END as i32; size];
        for _ in 0..length + MAX_LONGER {
            state = self.decoder.step(tables.decoder.clone().select(0, Batch::ints(&inputs, device)), state);
            let (where_to, chances, gate) = self.look(state.clone().unsqueeze_dim(1), &places);
            let count = chances.dims()[2];
            let (Ok(where_to), Ok(chances), Ok(gate)) = (numbers(where_to), numbers(chances), numbers(gate))
            else {
                break;
            };
            for (row, &at) in rows.iter().enumerate().filter(|(_, at)| !is_done[**at]).collect::<Vec<_>>() {
                let (gate, chances) = (gate[row], &chances[row * count..(row + 1) * count]);
                let where_to = &where_to[row * length..(row + 1) * length];
                let symbol = best(sources[at], gate, chances, where_to);
                match symbol {
                    Symbol::Word(END) => is_done[at] = true,
                    _ => written[at].push(symbol),
                }
                inputs[row] = match symbol {
                    Symbol::Word(word) => word as i32,
                    Symbol::Copy(place) => sources[at][usize::from(place)] as i32,
                };
            }
            let open: Vec<i32> =
                (0..).zip(&rows).filter(|(_, at)| !is_done[**at]).map(|(row, _)| row).collect();
            if open.is_empty() {
                break;
            }
            if 4 * open.len() <= 3 * rows.len() {
                let kept = Batch::ints(&open, device);
                (state, places) = (state.select(0, kept.clone()), places.select(0, kept));
                inputs = open.iter().map(|&row| inputs[row as usize]).collect();
                rows = open.iter().map(|&row| rows[row as usize]).collect();
            }
        }
        written.into_iter().zip(is_done).map(|(written, is_done)| is_done.then_some(written)).collect()
    }
}

fn numbers<const D: usize>(tensor: Tensor<D>) -> Result<Vec<f32>, ()> {
    tensor.into_data().try_into_vec::<f32>().map_err(|_| ())
}

/// The most likely symbol: a word, also by copying it, or an argument of the source.
fn best(source: &[u32], gate: f32, chances: &[f32], where_to: &[f32]) -> Symbol {
    let mut best = (Symbol::Word(END), f32::MIN);
    let copied = |word: u32| -> f32 {
        source.iter().zip(where_to).filter(|(other, _)| **other == word).map(|(_, share)| *share).sum()
    };
    // A word that is not in the source can only be written; its chance is not changed by copying.
    for (&chance, word) in chances.iter().zip(0u32..) {
        if gate * chance > best.1 {
            best = (Symbol::Word(word), gate * chance);
        }
    }
    for (&word, place) in source.iter().zip(0u16..) {
        let is_argument = (1..=3).contains(&word);
        let (symbol, chance) = if is_argument {
            (Symbol::Copy(place), (1.0 - gate) * where_to[usize::from(place)])
        } else {
            let written = chances.get(word as usize).copied().unwrap_or(0.0);
            (Symbol::Word(word), gate * written + (1.0 - gate) * copied(word))
        };
        if chance > best.1 {
            best = (symbol, chance);
        }
    }
    best.0
}

impl Network for CopyModel {
    fn score(&self, batch: &Batch, device: &Device) -> Scored {
        let &Batch { size, source_len, target_len, .. } = batch;
        let Memory { places, state } = self.read(&batch.sources, size, device);
        let states = self.decoder.run(self.embed(&batch.inputs, device), state, false);
        let (where_to, chances, gate) = self.look(Tensor::stack::<3>(states, 1), &places);
        let words = Batch::ints(&batch.words, device).reshape([size, target_len, 1]);
        let is_word = Batch::floats(&batch.is_word, [size, target_len, 1], device);
        let matches = Batch::floats(&batch.matches, [size, target_len, source_len], device);
        let written = chances.gather(2, words) * is_word * gate.clone();
        let copied = (where_to * matches).sum_dim(2) * (gate.neg().add_scalar(1.0));
        let chance = (written + copied).reshape([size, target_len]);
        Scored::new(chance, batch, device)
    }

    fn decode(&self, sources: &[&[u32]], device: &Device) -> Vec<Option<Vec<Symbol>>> {
        let tables = self.tables();
        super::train::by_length(sources, |equal| self.decode_equal(&tables, equal, device))
    }
}
