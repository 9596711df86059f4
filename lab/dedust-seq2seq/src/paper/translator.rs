/*!
The paper's variant as a whole: trained on one site, asked for the canonical forms of URLs.
*/

use burn::tensor::Device;
use dedust_baselines::ClosedRule;
use dedust_learn::Corpus;
use foldhash::HashMap;

use super::language::{Masked, PaperLanguage};
use super::pairs::pairs;
use super::rules::rules;
use super::tokens::tokenize;
use crate::chance::Chance;
use crate::model::{Epoch, Network as _, Optimizer, PaperModel, Schedule, Trained, train};
use crate::pair::Symbol;

/// What the paper leaves open, as we read it: see SGD's rate, clipping, epochs and decay.
pub const SCHEDULE: Schedule = Schedule {
    optimizer: Optimizer::Sgd(0.5),
    batch: 20,
    max_epochs: 30,
    min_epoch_steps: 50,
    patience: 5,
    decay: 0.99,
    max_steps: 6_000,
};

/// A trained model with its vocabulary, which remembers what it translated.
#[derive(Debug)]
pub struct PaperTranslator {
    language: PaperLanguage,
    model: PaperModel,
    device: Device,
    /// Translations by source.
    known: HashMap<Vec<u32>, Option<Vec<u32>>>,
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
        Some(Self { language, model, device: device.clone(), known: HashMap::default() })
    }

    /// What is translated of a corpus as rules, for all forms that it has and that read as URLs.
    pub fn rules(&mut self, corpus: &Corpus) -> Vec<ClosedRule> {
        let texts: Vec<&str> =
            (0..corpus.len() as u32).filter_map(|row| std::str::from_utf8(corpus.url(row)).ok()).collect();
        self.learn(&texts);
        rules(corpus, &self.language, |words| self.known.get(words)?.clone())
    }

    /// The canonical forms of URLs, as tokens joined by blanks. A URL whose translation makes no sense is its own.
    pub fn translate(&mut self, urls: &[&str]) -> Vec<String> {
        self.learn(urls);
        urls.iter()
            .map(|url| {
                let translated = self.language.mask(url).and_then(|masked| {
                    let words = self.known.get(&masked.words)?.as_ref()?;
                    Some(self.language.restore(words, &masked.arguments)?.join(" "))
                });
                translated.unwrap_or_else(|| tokenize(url).join(" "))
            })
            .collect()
    }

    /// Translates the forms that are not known.
    fn learn(&mut self, urls: &[&str]) {
        let masked: Vec<Masked<'_>> = urls.iter().filter_map(|url| self.language.mask(url)).collect();
        let mut new: Vec<&[u32]> = masked.iter().map(|masked| masked.words.as_slice()).collect();
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
    }
}
