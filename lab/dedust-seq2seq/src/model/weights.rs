/*!
Models in a file: safetensors, with a card for every site.

The file of a rule file `rules.json` is `rules.json.safetensors`. Its metadata has the format's version, a checksum of all
numbers, and for each site a [`Card`]: what the model was trained on, how well it does, and the words it knows. Tensors
are named `site/parameter`. Loading refuses files of other programs and versions, damaged bytes, and tensors that do not
fit their card.
*/

use std::collections::{BTreeMap, HashMap};
use std::io;

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Device, Tensor, TensorData};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::copying::CopyModel;
use crate::chance::Chance;
use crate::copying::Language;

/// The format this build writes and reads.
const VERSION: &str = "1";
const FORMAT_KEY: &str = "dedust-seq2seq";
const CHECKSUM_KEY: &str = "checksum";
const SITE_PREFIX: &str = "site ";

/// What is known of a model beside its weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// URLs of the site that it was trained on.
    pub urls: u64,
    /// Those of them whose page was known.
    pub labelled: u64,
    /// Pairs of URLs, before equal ones were taken together.
    pub pairs: u64,
    /// Distinct pairs learned from.
    pub train_pairs: u64,
    /// Distinct pairs held out.
    pub held_out_pairs: u64,
    /// Distinct templates.
    pub templates: u64,
    /// Units of each layer.
    pub units: u64,
    /// What chance depended on.
    pub seed: u64,
    /// Passes over the pairs.
    pub epochs: u64,
    /// The loss on held-out pairs.
    pub held_out_loss: f64,
    /// The share of held-out pairs that are translated word by word as they are.
    pub exact_match: f64,
    /// Rules that its translations became.
    pub rules: u64,
    /// The words.
    pub language: Language,
}

/// A model of one site.
#[derive(Clone, Debug)]
pub struct SiteModel {
    /// What is known of it.
    pub card: Card,
    /// The model.
    pub model: CopyModel,
}

/// The models of any number of sites.
#[derive(Clone, Debug, Default)]
pub struct Weights {
    /// By site.
    pub sites: BTreeMap<Box<str>, SiteModel>,
}

/// Why a file of weights is refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadWeightsError {
    /// Not safetensors, or cut off.
    #[error("not a file of weights; expected safetensors")]
    Malformed(#[source] safetensors::SafeTensorError),
    /// Weights of another program.
    #[error("these weights were not written by dedust: their metadata has no `{FORMAT_KEY}`")]
    Foreign,
    /// Written by another release. Learn the rules again.
    #[error("weights have format version {found}, this build reads {VERSION}")]
    UnsupportedVersion {
        /// The version in the file.
        found: String,
    },
    /// Some bytes are not what they were.
    #[error("weights are damaged: their checksum is {found}, not {expected}")]
    Damaged {
        /// The checksum in the file.
        expected: String,
        /// That of the numbers.
        found: String,
    },
    /// The card of a site cannot be read.
    #[error("the card of site `{site}` is malformed")]
    Card {
        /// The site.
        site: Box<str>,
        /// Where and what.
        source: serde_json::Error,
    },
    /// A tensor is missing or has another shape than its card says.
    #[error("tensor `{name}` is missing or has the wrong shape; expected {expected:?}")]
    Tensor {
        /// Its name.
        name: String,
        /// The shape that the card asks for.
        expected: Vec<usize>,
    },
}

/// The parameters of a model as numbers, in their fixed order.
#[derive(Default)]
struct Collect {
    tensors: Vec<(Vec<usize>, Vec<f32>)>,
}

impl ModuleVisitor for Collect {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let tensor = param.val();
        let numbers = tensor.to_data().try_into_vec::<f32>().unwrap_or_default();
        self.tensors.push((tensor.dims().to_vec(), numbers));
    }
}

/// Puts numbers in place of parameters.
struct Fill<'d> {
    tensors: std::vec::IntoIter<Vec<f32>>,
    device: &'d Device,
}

impl ModuleMapper for Fill<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        match self.tensors.next() {
            None => param,
            Some(numbers) => {
                let data = TensorData::new(numbers, param.val().dims());
                Param::from_data(data, self.device)
            }
        }
    }
}

fn collect(model: &CopyModel) -> Vec<(Vec<usize>, Vec<f32>)> {
    let mut collect = Collect::default();
    model.visit(&mut collect);
    collect.tensors
}

fn name_of(site: &str, at: usize) -> String {
    format!("{site}/{at:02}")
}

/// A checksum of tensors in the order of their names.
fn checksum<'t>(tensors: impl Iterator<Item = (&'t str, &'t [u8])>) -> String {
    let mut hash = Xxh3::new();
    for (name, bytes) in tensors {
        hash.update(name.as_bytes());
        hash.update(bytes);
    }
    format!("{:016x}", hash.digest())
}

impl Weights {
    /// Writes the file; the same models, the same bytes.
    pub fn save(&self, mut writer: impl io::Write) -> io::Result<()> {
        let mut tensors: BTreeMap<String, (Vec<usize>, Vec<u8>)> = BTreeMap::new();
        let mut metadata: HashMap<String, String> = HashMap::new();
        metadata.insert(FORMAT_KEY.into(), VERSION.into());
        for (site, SiteModel { card, model }) in &self.sites {
            metadata.insert(format!("{SITE_PREFIX}{site}"), serde_json::to_string(card)?);
            for (at, (shape, numbers)) in collect(model).into_iter().enumerate() {
                let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
                tensors.insert(name_of(site, at), (shape, bytes));
            }
        }
        let sum = checksum(tensors.iter().map(|(name, (_, bytes))| (name.as_str(), bytes.as_slice())));
        metadata.insert(CHECKSUM_KEY.into(), sum);
        let views: Vec<(&str, TensorView<'_>)> = tensors
            .iter()
            .map(|(name, (shape, bytes))| {
                let view = TensorView::new(Dtype::F32, shape.clone(), bytes);
                view.map(|view| (name.as_str(), view)).map_err(io::Error::other)
            })
            .collect::<Result<_, _>>()?;
        let bytes = safetensors::serialize(views, Some(metadata)).map_err(io::Error::other)?;
        writer.write_all(&sorted_header(&bytes)?)
    }

    /// Reads and checks a file.
    pub fn load(bytes: &[u8], device: &Device) -> Result<Self, LoadWeightsError> {
        let file = SafeTensors::deserialize(bytes).map_err(LoadWeightsError::Malformed)?;
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(LoadWeightsError::Malformed)?;
        let metadata = header.metadata().clone().unwrap_or_default();
        match metadata.get(FORMAT_KEY) {
            None => return Err(LoadWeightsError::Foreign),
            Some(found) if found == VERSION => {}
            Some(found) => return Err(LoadWeightsError::UnsupportedVersion { found: found.clone() }),
        }
        let mut tensors: Vec<(String, TensorView<'_>)> = file.tensors();
        tensors.sort_by(|a, b| a.0.cmp(&b.0));
        let found = checksum(tensors.iter().map(|(name, view)| (name.as_str(), view.data())));
        let expected = metadata.get(CHECKSUM_KEY).cloned().unwrap_or_default();
        if found != expected {
            return Err(LoadWeightsError::Damaged { expected, found });
        }
        let mut sites = BTreeMap::new();
        for (key, card) in &metadata {
            let Some(site) = key.strip_prefix(SITE_PREFIX) else { continue };
            let card: Card = serde_json::from_str(card)
                .map_err(|source| LoadWeightsError::Card { site: site.into(), source })?;
            let model = load_model(&file, site, &card, device)?;
            sites.insert(site.into(), SiteModel { card, model });
        }
        Ok(Self { sites })
    }
}

/// The model that a card describes, with the numbers of the file.
fn load_model(
    file: &SafeTensors<'_>,
    site: &str,
    card: &Card,
    device: &Device,
) -> Result<CopyModel, LoadWeightsError> {
    // Numbers of units beyond reason would be allocated before a tensor is found missing.
    let units = usize::try_from(card.units).ok().filter(|&units| (1..=1024).contains(&units));
    let units = units.ok_or_else(|| LoadWeightsError::Tensor {
        name: name_of(site, 0),
        expected: vec![card.language.len(), 64],
    })?;
    let empty = CopyModel::new(card.language.len(), units, &mut Chance::new(0, site), device);
    let mut numbers = Vec::new();
    for (at, (shape, _)) in collect(&empty).into_iter().enumerate() {
        let name = name_of(site, at);
        let view = file.tensor(&name).ok().filter(|view| view.dtype() == Dtype::F32 && view.shape() == shape);
        let refused = || LoadWeightsError::Tensor { name: name.clone(), expected: shape.clone() };
        let bytes = view.ok_or_else(refused)?.data().to_vec();
        numbers.push(
            bytes
                .chunks_exact(4)
                .map(|number| f32::from_le_bytes([number[0], number[1], number[2], number[3]]))
                .collect(),
        );
    }
    Ok(empty.map(&mut Fill { tensors: numbers.into_iter(), device }))
}

/// The same file with its header's keys in order: metadata comes from a hash map, whose order changes from run to run.
fn sorted_header(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let malformed = || io::Error::other("the header of safetensors cannot be read back");
    let (length, rest) = bytes.split_first_chunk::<8>().ok_or_else(malformed)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(io::Error::other)?;
    let (header, data) = rest.split_at_checked(length).ok_or_else(malformed)?;
    let header: BTreeMap<String, serde_json::Value> = serde_json::from_slice(header)?;
    let mut header = serde_json::to_vec(&header)?;
    header.resize(header.len().next_multiple_of(8), b' ');
    Ok([&(header.len() as u64).to_le_bytes()[..], &header, data].concat())
}
