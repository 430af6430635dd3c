//! Classifies requests by their path: those whose key is verified, and those whose response has no
//! end.

/// Returns whether a key in a request to this path is verified.
pub(crate) fn is_for_keys(path: &str) -> bool {
    let method = path.strip_prefix("/rpc").unwrap_or(path);
    path.starts_with("/v1/")
        || path.starts_with("/probe/")
        || path == mcp::PATH
        || (looks_like_a_method(method) && !is_public(method))
}

/// Returns whether the method at this path needs no key and lasts as long as its client likes.
pub(crate) fn is_public_stream(path: &str) -> bool {
    let path = path.strip_prefix("/rpc").unwrap_or(path);
    is_public(path) && path != "/grpc.health.v1.Health/Check"
}

/// Returns whether the method at this path needs no key. Load balancers query health, and
/// reflection reveals only public data.
pub(crate) fn is_public(path: &str) -> bool {
    [
        "/grpc.health.v1.Health/",
        "/grpc.reflection.v1.ServerReflection/",
        "/grpc.reflection.v1alpha.ServerReflection/",
    ]
    .iter()
    .any(|service| path.starts_with(service))
}

/// Returns whether a path has the form `/package.Service/Method`.
pub(crate) fn looks_like_a_method(path: &str) -> bool {
    let Some((service, method)) = path.get(1..).and_then(|path| path.split_once('/')) else {
        return false;
    };
    service.contains('.') && !method.is_empty() && !method.contains('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_count_only_if_they_are_verified() {
        for (path, expected) in [
            ("/monitor.v1.MonitorService/GetMonitor", true),
            ("/rpc/monitor.v1.MonitorService/GetMonitor", true),
            ("/v1/whoami", true),
            ("/mcp", true),
            ("/mcp/", false),
            ("/rpc/grpc.health.v1.Health/Watch", false),
            ("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", false),
            ("/status/page", false),
            ("/docs", false),
            ("/metrics", false),
        ] {
            assert_eq!(is_for_keys(path), expected, "{path}");
        }
    }

    #[test]
    fn health_watches_and_reflection_are_streams() {
        for (path, expected) in [
            ("/grpc.health.v1.Health/Watch", true),
            ("/rpc/grpc.health.v1.Health/Watch", true),
            ("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", true),
            ("/rpc/grpc.health.v1.Health/Check", false),
            ("/monitor.v1.MonitorService/GetMonitor", false),
            ("/status/page", false),
        ] {
            assert_eq!(is_public_stream(path), expected, "{path}");
        }
    }

    #[test]
    fn only_paths_of_methods_are_taken_for_methods() {
        for (path, expected) in [
            ("/monitor.v1.MonitorService/GetMonitor", true),
            ("/monitor.v1.MonitorService/Nonsense", true),
            ("/", false),
            ("", false),
            ("/favicon.ico", false),
            ("/monitor.v1.MonitorService", false),
            ("/monitor.v1.MonitorService/", false),
            ("/monitor.v1.MonitorService/Get/Monitor", false),
        ] {
            assert_eq!(looks_like_a_method(path), expected, "{path}");
        }
    }
}
