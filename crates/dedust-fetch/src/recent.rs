/*!
Values by name, of which only those used last are kept.

A crawl meets any number of hosts, and redirects lead to more. A value that is forgotten is made anew when its name is
asked for again; one that is in use is never forgotten.
*/

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A map with room for a fixed number of values.
#[derive(Debug)]
pub(crate) struct Recent<V> {
    capacity: usize,
    entries: Mutex<Entries<V>>,
}

#[derive(Debug)]
struct Entries<V> {
    by_name: HashMap<String, Entry<V>>,
    /// Counts the calls, so that entries can be ordered by their last use.
    clock: u64,
}

#[derive(Debug)]
struct Entry<V> {
    value: Arc<V>,
    used_at: u64,
}

impl<V: Default> Recent<V> {
    /// Room for `capacity` values that nobody holds.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity, entries: Mutex::new(Entries { by_name: HashMap::new(), clock: 0 }) }
    }

    /// The value of this name, a default one if there is none.
    pub(crate) fn get(&self, name: &str) -> Arc<V> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.clock += 1;
        let used_at = entries.clock;
        if let Some(entry) = entries.by_name.get_mut(name) {
            entry.used_at = used_at;
            return entry.value.clone();
        }
        if entries.by_name.len() >= self.capacity {
            entries.forget_oldest();
        }
        let value = Arc::<V>::default();
        entries.by_name.insert(name.to_owned(), Entry { value: value.clone(), used_at });
        value
    }
}

impl<V> Entries<V> {
    fn forget_oldest(&mut self) {
        let unused = self.by_name.iter().filter(|(_, entry)| Arc::strong_count(&entry.value) == 1);
        let oldest = unused.min_by_key(|(_, entry)| entry.used_at).map(|(name, _)| name.clone());
        if let Some(name) = oldest {
            self.by_name.remove(&name);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use super::*;

    fn len<V>(recent: &Recent<V>) -> usize {
        recent.entries.lock().unwrap().by_name.len()
    }

    #[test]
    fn the_value_used_longest_ago_is_forgotten() {
        let recent = Recent::<OnceLock<u32>>::new(2);
        recent.get("a").set(1).unwrap();
        recent.get("b").set(2).unwrap();
        recent.get("a");
        recent.get("c").set(3).unwrap();
        assert_eq!((recent.get("a").get(), recent.get("c").get()), (Some(&1), Some(&3)));
        assert_eq!(recent.get("b").get(), None);
        for number in 0..1000 {
            recent.get(&number.to_string());
        }
        assert_eq!(len(&recent), 2);
    }

    #[test]
    fn a_value_in_use_is_kept() {
        let recent = Recent::<OnceLock<u32>>::new(2);
        let held = recent.get("held");
        held.set(1).unwrap();
        for number in 0..1000 {
            recent.get(&number.to_string());
        }
        assert_eq!((recent.get("held").get(), len(&recent)), (Some(&1), 2));
    }
}
