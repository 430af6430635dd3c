//! A memory budget shared by the bodies of all checks. If it is used up, less of a body is kept. So
//! one target with large responses cannot take the memory of the process, however many monitors it
//! has.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;

/// The remaining budget. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Memory(Arc<AtomicUsize>);

/// A reserved part of the budget, released on drop.
#[derive(Debug)]
pub(crate) struct Reservation {
    memory: Memory,
    bytes: usize,
}

/// Bytes with their reservation.
struct BodyBuffer {
    bytes: Vec<u8>,
    _reservation: Reservation,
}

impl Memory {
    pub(crate) fn new(bytes: usize) -> Self {
        Self(Arc::new(AtomicUsize::new(bytes)))
    }

    /// Creates an empty reservation.
    pub(crate) fn reserve(&self) -> Reservation {
        Reservation { memory: self.clone(), bytes: 0 }
    }
}

impl Reservation {
    /// Reserves more bytes; returns false if not enough are left.
    pub(crate) fn grow(&mut self, bytes: usize) -> bool {
        let less = |left: usize| left.checked_sub(bytes);
        let taken = self.memory.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok();
        self.bytes += if taken { bytes } else { 0 };
        taken
    }

    /// Releases all but this many bytes.
    pub(crate) fn shrink(&mut self, bytes: usize) {
        let more = self.bytes.saturating_sub(bytes);
        self.memory.0.fetch_add(more, Ordering::Relaxed);
        self.bytes -= more;
    }

    /// Returns the bytes, which keep the reservation until their last clone is dropped.
    pub(crate) fn into_bytes(self, bytes: Vec<u8>) -> Bytes {
        if bytes.is_empty() {
            return Bytes::new();
        }
        Bytes::from_owner(BodyBuffer { bytes, _reservation: self })
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.memory.0.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

impl AsRef<[u8]> for BodyBuffer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_clone_releases_the_reservation() {
        let memory = Memory::new(100);
        let (mut first, mut second) = (memory.reserve(), memory.reserve());
        assert!(first.grow(60) && second.grow(30));
        assert!(!second.grow(11), "ten are left");
        first.shrink(50);
        assert!(second.grow(11));
        let bytes = first.into_bytes(vec![0; 50]);
        let clone = bytes.slice(1..2);
        drop((bytes, second));
        let mut third = memory.reserve();
        assert!(!third.grow(51) && third.grow(50));
        drop(clone);
        assert!(third.grow(50));
    }
}
