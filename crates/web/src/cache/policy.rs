//! Limits of a cache.

use std::time::Duration;

/// Time for which an absent key of the database is not looked up again.
const ABSENT_FOR: Duration = Duration::from_secs(5);
/// Maximum time of a read of the database, and of waiting for one of another request.
const READ_WITHIN: Duration = Duration::from_secs(5);
/// Maximum number of concurrent reads of the database by one cache.
const READS_MAX: usize = 8;

/// Limits of a cache.
#[derive(Clone, Copy, Debug)]
pub struct CachePolicy {
    /// Age from which a value is read again.
    pub fresh_for: Duration,
    /// Time for which an absent key is not looked up again.
    pub absent_for: Duration,
    /// Approximate maximum size of all entries, in bytes. A value larger than a ninth of it is not
    /// cached.
    pub bytes_max: usize,
    /// Maximum number of concurrent reads, so that other users of the source keep their share.
    pub reads_max: usize,
    /// Maximum time that a request waits for the read of another one.
    pub wait_within: Duration,
    /// Maximum time of a read.
    pub read_within: Duration,
}

impl CachePolicy {
    /// Creates limits that suit values from the database.
    pub const fn new(fresh_for: Duration, bytes_max: usize) -> Self {
        Self {
            fresh_for,
            absent_for: ABSENT_FOR,
            bytes_max,
            reads_max: READS_MAX,
            wait_within: READ_WITHIN,
            read_within: READ_WITHIN,
        }
    }
}
