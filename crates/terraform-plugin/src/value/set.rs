//! Sets: stored in a fixed order, so that equal sets are equal values.

use super::Value;

/// Elements without order. Equal known elements occur once. Elements with unknown parts stay
/// separate, because they may become different.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Set(Vec<Value>);

impl Set {
    /// Returns the elements, sorted by value.
    pub fn as_slice(&self) -> &[Value] {
        &self.0
    }

    /// Iterates over the elements, sorted by value.
    pub fn iter(&self) -> std::slice::Iter<'_, Value> {
        self.0.iter()
    }

    /// Returns the elements, to be changed and collected again.
    pub fn into_vec(self) -> Vec<Value> {
        self.0
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<Value> for Set {
    fn from_iter<I: IntoIterator<Item = Value>>(elements: I) -> Self {
        let mut elements: Vec<Value> = elements.into_iter().collect();
        elements.sort();
        elements.dedup_by(|later, earlier| later == earlier && !earlier.has_unknown());
        Self(elements)
    }
}

impl<'a> IntoIterator for &'a Set {
    type Item = &'a Value;
    type IntoIter = std::slice::Iter<'a, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
