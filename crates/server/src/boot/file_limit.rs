//! The limit of open files, which connections and checks share.

/// Minimum number of connections from callers, even with a low limit of open files.
const CONNECTIONS_LEAST: usize = 64;

/// Returns the maximum number of caller connections. They share the limit of open files with
/// checks, which need more: half as many.
pub(super) fn connections_max() -> usize {
    (probe::concurrency_limit() / 2).max(CONNECTIONS_LEAST)
}

/// Raises the limit of open files. Each check needs one, and the soft limit is often far below the
/// hard one.
pub(super) fn raise_file_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::debug!(%error, "failed to raise the limit of open files: {error}");
    }
}
