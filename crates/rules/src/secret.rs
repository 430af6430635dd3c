//! A value that must not be revealed by accident. `store` encrypts it at rest.

use std::fmt;

use zeroize::Zeroize;

/// A secret. `Debug` prints `…`, there is neither `Display` nor `Serialize`, and the memory is
/// wiped on drop. [`Secret::expose`] is the only access, so that uses can be found.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret<T: Zeroize>(T);

impl<T: Zeroize> Secret<T> {
    /// Wraps a value.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// Returns the value, for the one place that needs it.
    pub const fn expose(&self) -> &T {
        &self.0
    }
}

impl<T: Zeroize> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

impl<T: Zeroize> Drop for Secret<T> {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_hides_the_secret() {
        assert_eq!(format!("{:?}", Secret::new("hunter2".to_owned())), "…");
    }
}
