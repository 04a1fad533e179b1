//! Rows by their number: one multiplication finds them. A million rows are looked up several times each.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// Hashes numbers that are spread already, or nearly: row ids, serials, other hashes. Not for text of tenants' choosing.
#[derive(Default)]
pub(super) struct Numbers(u64);

impl Hasher for Numbers {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, n: u64) {
        let mixed = (self.0.rotate_left(5) ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }

    fn write_u128(&mut self, n: u128) {
        let low = n & u128::from(u64::MAX);
        self.write_u64(u64::try_from(low).unwrap_or_default());
        self.write_u64(u64::try_from(n >> 64).unwrap_or_default());
    }
}

/// A map whose keys are numbers.
pub(super) type NumberMap<K, V> = HashMap<K, V, BuildHasherDefault<Numbers>>;

/// Rows in the order of their ids, and by id.
pub(super) struct Table<'e, K, T> {
    rows: Vec<&'e T>,
    index: NumberMap<K, u32>,
}

impl<'e, K: Copy + Ord + Hash, T> Table<'e, K, T> {
    /// Of two rows with one id, the later stays.
    pub fn new(all: &'e [T], id: impl Fn(&T) -> K) -> Self {
        let mut rows: Vec<&T> = all.iter().collect();
        if !rows.is_sorted_by_key(|row| id(row)) {
            rows.sort_by_key(|row| id(row));
        }
        let mut index = NumberMap::with_capacity_and_hasher(rows.len(), BuildHasherDefault::default());
        for (at, row) in (0u32..).zip(&rows) {
            index.insert(id(row), at);
        }
        if index.len() < rows.len() {
            let keep: Vec<&T> = (0u32..)
                .zip(&rows)
                .filter(|(at, row)| index.get(&id(row)) == Some(at))
                .map(|(_, row)| *row)
                .collect();
            rows = keep;
            index = (0u32..).zip(&rows).map(|(at, row)| (id(row), at)).collect();
        }
        Self { rows, index }
    }

    pub fn get(&self, id: K) -> Option<&'e T> {
        self.rows.get(self.position(id)?).copied()
    }

    /// Where a row stands in the order of ids.
    pub fn position(&self, id: K) -> Option<usize> {
        usize::try_from(*self.index.get(&id)?).ok()
    }

    pub fn iter(&self) -> impl Iterator<Item = &'e T> + '_ {
        self.rows.iter().copied()
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }
}

/// Several values for each row of a table, side by side in one vector.
pub(super) struct Lists<T> {
    /// Where the values of a row begin; those of the next row end them.
    starts: Vec<u32>,
    values: Vec<T>,
}

impl<T: Copy + Ord> Lists<T> {
    /// From pairs of a row's position and a value; a row's values are sorted.
    pub fn new(rows: usize, mut pairs: Vec<(u32, T)>) -> Self {
        pairs.sort_unstable();
        let mut starts = Vec::with_capacity(rows + 1);
        let mut at = 0u32;
        for row in (0u32..).take(rows + 1) {
            while pairs
                .get(usize::try_from(at).unwrap_or(usize::MAX))
                .is_some_and(|(owner, _)| *owner < row)
            {
                at += 1;
            }
            starts.push(at);
        }
        let values = pairs.into_iter().map(|(_, value)| value).collect();
        Self { starts, values }
    }

    pub fn of(&self, row: usize) -> &[T] {
        let edge = |at: usize| self.starts.get(at).and_then(|n| usize::try_from(*n).ok());
        match (edge(row), edge(row + 1)) {
            (Some(from), Some(to)) => self.values.get(from..to).unwrap_or_default(),
            _ => &[],
        }
    }
}
