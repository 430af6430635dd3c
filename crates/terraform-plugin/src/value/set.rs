//! Sets: kept in one order, so that equal sets are equal values.

use super::Value;

/// Elements without order. Equal known elements stand once; those with unknown parts stay apart,
/// for they may become different.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Set(Vec<Value>);

impl Set {
    /// The elements in the order of their values.
    pub fn as_slice(&self) -> &[Value] {
        &self.0
    }

    /// The elements in the order of their values.
    pub fn iter(&self) -> std::slice::Iter<'_, Value> {
        self.0.iter()
    }

    /// The elements, to be changed and collected again.
    pub fn into_vec(self) -> Vec<Value> {
        self.0
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
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
