/*!
The networks: sources in, translations out.

Both read a source with a recurrent network (GRU) and write its translation word by word with another. [`CopyModel`], the
default, looks back at the source while it writes and may copy from it; [`PaperModel`] is that of the paper and keeps all
it knows of the source in one state.

Everything is computed on one thread in a fixed order, and weights start from numbers that depend on the seed and the
site only: the same input gives the same bytes, on any number of threads.
*/

mod batch;
mod copying;
mod gru;
mod paper;
mod train;
mod weights;

pub use batch::Batch;
pub use copying::CopyModel;
pub use paper::{PaperModel, UNITS as PAPER_UNITS};
pub use train::{Epoch, Network, Optimizer, Schedule, Trained, train};
pub use weights::{Card, LoadWeightsError, SiteModel, Weights};

/// The device that everything runs on.
pub fn cpu() -> burn::tensor::Device {
    burn::tensor::Device::flex()
}
