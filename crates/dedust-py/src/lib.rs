/*!
The Python module `dedust._dedust`: the types of the Rust libraries as Python classes.

Holds no logic of its own: arguments are converted, the interpreter is released, the library is called, and results are
converted. Columns of tables cross the border as Arrow arrays, without copies (`arrow`). No threads outlive a call, so that
processes may fork between calls; a `seen::PySeenSet` is the exception, and refuses to be used in a child.
*/

mod arrow;
mod batch;
mod cluster;
mod column;
mod errors;
mod evaluate;
mod explanation;
mod html;
mod inputs;
mod learn;
mod normalizer;
mod observations;
mod rows;
mod rule_set;
mod rule_set_methods;
mod seen;
mod site_reducer;
mod site_rows;
mod spread;
mod text;
mod work;

use pyo3::pymodule;

/// What Python sees.
#[pymodule]
mod _dedust {
    #[pymodule_export]
    use crate::cluster::{PyClusters, cluster};
    #[pymodule_export]
    use crate::column::Column;
    #[pymodule_export]
    use crate::errors::{
        DedustError, LoadRulesError, ParseUrlError, ReadError, SeenError, TrainError, WriteError,
    };
    #[pymodule_export]
    use crate::evaluate::{PyEvaluation, evaluate};
    #[pymodule_export]
    use crate::explanation::Explanation;
    #[pymodule_export]
    use crate::learn::{PyTrainer, PyTraining};
    #[pymodule_export]
    use crate::normalizer::{PyNormalizer, site_of};
    #[pymodule_export]
    use crate::observations::ObservationWriter;
    #[pymodule_export]
    use crate::rows::Rows;
    #[pymodule_export]
    use crate::rule_set::PyRuleSet;
    #[pymodule_export]
    use crate::seen::PySeenSet;
    #[pymodule_export]
    use crate::site_reducer::PySiteReducer;
    #[pymodule_export]
    use crate::spread::{
        PyCensus, PySamplePlan, PySampler, always_whole, declared_sites, merge_sightings, unused_columns,
    };

    /// The version of the package.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
