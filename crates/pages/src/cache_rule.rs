//! Rule of a response for caches and search engines.

/// Rule of a response for caches and search engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CacheRule {
    /// Everybody may see it.
    Public,
    /// It is for this visitor only, or holds only for this moment.
    NoStore,
}
