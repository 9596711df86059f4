/*!
The paper's variant as a whole: trained on one site, asked for the canonical forms of URLs.
*/

use burn::tensor::Device;
use dedust_learn::Corpus;
use rustc_hash::FxHashMap;

use super::language::{Masked, PaperLanguage};
use super::pairs::pairs;
use super::tokens::tokenize;
use crate::chance::Chance;
use crate::model::{Epoch, Network as _, Optimizer, PaperModel, Schedule, Trained, train};
use crate::pair::Symbol;

/// What the paper leaves open, as we read it: see SGD's rate, clipping, epochs and decay.
pub const SCHEDULE: Schedule = Schedule {
    optimizer: Optimizer::Sgd(0.5),
    batch: 20,
    max_epochs: 30,
    patience: 5,
    decay: 0.99,
    max_steps: usize::MAX,
};

/// A trained model with its vocabulary, which remembers what it translated.
#[derive(Debug)]
pub struct PaperTranslator {
    language: PaperLanguage,
    model: PaperModel,
    device: Device,
    /// Translations by source.
    known: FxHashMap<Vec<u32>, Option<Vec<u32>>>,
}

impl PaperTranslator {
    /// Trains a model with so many units; the paper has 512. `None` if the site has nothing to learn from.
    pub fn train(
        corpus: &Corpus,
        units: usize,
        schedule: &Schedule,
        seed: u64,
        device: &Device,
        progress: &dyn Fn(&Epoch),
    ) -> Option<Self> {
        let (language, pairs) = pairs(corpus, seed);
        if pairs.train.is_empty() {
            return None;
        }
        let mut chance = Chance::new(seed, corpus.site());
        let model = PaperModel::new(language.len(), units, &mut chance, device);
        let Trained { model, .. } = train(model, &pairs, schedule, &mut chance, device, progress);
        Some(Self { language, model, device: device.clone(), known: FxHashMap::default() })
    }

    /// The canonical forms of URLs, as tokens joined by blanks. A URL whose translation makes no sense is its own.
    pub fn translate(&mut self, urls: &[&str]) -> Vec<String> {
        let masked: Vec<Option<Masked<'_>>> = urls.iter().map(|url| self.language.mask(url)).collect();
        let mut new: Vec<&[u32]> = masked.iter().flatten().map(|masked| masked.words.as_slice()).collect();
        new.sort_unstable();
        new.dedup();
        new.retain(|words| !self.known.contains_key(*words));
        let decoded = self.model.decode(&new, &self.device);
        let words = |symbol: &Symbol| match symbol {
            Symbol::Word(word) => Some(*word),
            Symbol::Copy(_) => None,
        };
        let decoded =
            decoded.into_iter().map(|symbols| symbols?.iter().map(words).collect::<Option<Vec<u32>>>());
        self.known.extend(new.into_iter().map(<[u32]>::to_vec).zip(decoded));
        urls.iter()
            .zip(&masked)
            .map(|(url, masked)| {
                let translated = masked.as_ref().and_then(|masked| {
                    let words = self.known.get(&masked.words)?.as_ref()?;
                    self.language.restore(words, &masked.arguments)
                });
                translated.unwrap_or_else(|| tokenize(url)).join(" ")
            })
            .collect()
    }
}
