/*!
Disjoint sets of rows that grow together, or fall apart altogether.

Rows are numbered `0..n`. Takes unions, answers which set a row is in. Union by size and path halving, so
that any sequence of operations costs practically constant time per operation. Keeps no record of why two
rows were united (see [`crate::label`]).
*/

/// A partition of `0..n`, at first into `n` sets of one element each.
#[derive(Debug, Clone)]
pub struct UnionFind {
    parent_of: Vec<u32>,
    /// Number of elements of a set, right only at its root.
    size_of: Vec<u32>,
}

impl UnionFind {
    /// `count` sets of one element each.
    ///
    /// # Panics
    ///
    /// If `count` exceeds `u32::MAX`.
    pub fn new(count: usize) -> UnionFind {
        let count = u32::try_from(count).expect("rows are numbered by u32");
        UnionFind { parent_of: (0..count).collect(), size_of: vec![1; count as usize] }
    }

    /// The element that stands for the set of `element`, until that set is united with another.
    ///
    /// # Panics
    ///
    /// If `element` is out of range.
    pub fn find(&mut self, mut element: u32) -> u32 {
        loop {
            let parent = self.parent_of[element as usize];
            if parent == element {
                return element;
            }
            let grandparent = self.parent_of[parent as usize];
            self.parent_of[element as usize] = grandparent;
            element = grandparent;
        }
    }

    /// Unites two sets and returns the root of the result.
    pub fn union(&mut self, left: u32, right: u32) -> u32 {
        let (left, right) = (self.find(left), self.find(right));
        if left == right {
            return left;
        }
        let (large, small) = if self.size_of[left as usize] >= self.size_of[right as usize] {
            (left, right)
        } else {
            (right, left)
        };
        self.parent_of[small as usize] = large;
        self.size_of[large as usize] += self.size_of[small as usize];
        large
    }

    /// Makes every element a set of its own again. They must be all elements of one or more sets.
    ///
    /// # Panics
    ///
    /// If an element is out of range.
    pub fn dissolve(&mut self, elements: impl Iterator<Item = u32>) {
        for element in elements {
            self.parent_of[element as usize] = element;
            self.size_of[element as usize] = 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn united_elements_share_a_root_and_others_do_not() {
        let mut sets = UnionFind::new(5);
        sets.union(0, 1);
        sets.union(3, 4);
        sets.union(1, 4);
        assert_eq!(sets.find(0), sets.find(3));
        assert_ne!(sets.find(0), sets.find(2));
    }

    #[test]
    fn union_returns_the_root_of_the_result() {
        let mut sets = UnionFind::new(3);
        let root = sets.union(0, 1);
        assert_eq!((root, root), (sets.find(0), sets.find(1)));
        assert_eq!(sets.union(1, 0), root);
        assert_eq!(sets.union(2, 1), root, "the larger set keeps its root");
    }

    #[test]
    fn a_dissolved_set_can_be_united_in_another_way() {
        let mut sets = UnionFind::new(5);
        [(0, 1), (1, 2), (3, 4)].into_iter().for_each(|(left, right)| {
            sets.union(left, right);
        });
        sets.dissolve([0, 1, 2].into_iter());
        sets.union(2, 3);
        assert_eq!(sets.find(2), sets.find(4));
        assert!([1, 2].iter().all(|&other| sets.find(0) != sets.find(other)));
    }

    proptest! {
        #[test]
        fn agrees_with_relabelling(unions in prop::collection::vec((0u32..20, 0u32..20), 0..30)) {
            let mut sets = UnionFind::new(20);
            let mut names: Vec<u32> = (0..20).collect();
            for (left, right) in unions {
                sets.union(left, right);
                let (from, to) = (names[left as usize], names[right as usize]);
                names.iter_mut().filter(|name| **name == from).for_each(|name| *name = to);
            }
            for left in 0..20u32 {
                for right in 0..20u32 {
                    let same = names[left as usize] == names[right as usize];
                    prop_assert_eq!(sets.find(left) == sets.find(right), same);
                }
            }
        }
    }
}
