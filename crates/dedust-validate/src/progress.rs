/*!
Word of how far a run has come, for those who want to show it. Silent by default.
*/

use crate::pair::Target;
use crate::trial::Trial;

/// Told about a run, from any of its threads.
pub trait Progress: Sync {
    /// The trial of a rule begins, which `needed` pairs of the same page confirm. The function that is returned is told after
    /// each pair what is known, and dropped when the trial ends.
    fn start<'p>(&'p self, site: &str, target: Target, needed: u64) -> Box<dyn FnMut(&Trial) + 'p> {
        let _ = (site, target, needed);
        Box::new(|_| {})
    }
}

/// Says nothing.
impl Progress for () {}
