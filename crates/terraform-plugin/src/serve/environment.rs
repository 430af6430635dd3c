//! Reads the variables and arguments that a host passes to a plugin. The modules that use the
//! values interpret them.

use std::ffi::OsString;
use std::path::PathBuf;

/// Name and value of the variable that identifies a host.
const COOKIE: (&str, &str) =
    ("TF_PLUGIN_MAGIC_COOKIE", "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2");

/// The variables and arguments of this process, as text.
#[derive(Debug, Default, Clone)]
pub(crate) struct Environment {
    /// Whether a host started the process, and not a person.
    pub(crate) is_started_by_host: bool,
    /// `PLUGIN_PROTOCOL_VERSIONS`: major versions that the host supports, separated by commas.
    pub(crate) versions: Option<String>,
    /// `PLUGIN_CLIENT_CERT`: certificate of the host as PEM.
    pub(crate) client_certificate: Option<String>,
    /// `PLUGIN_MIN_PORT` and `PLUGIN_MAX_PORT`, for hosts without Unix sockets.
    pub(crate) ports: [Option<String>; 2],
    /// `PLUGIN_UNIX_SOCKET_DIR`: folder for sockets instead of the one for temporary files.
    pub(crate) socket_folder: Option<PathBuf>,
    /// `PLUGIN_MULTIPLEX_GRPC`: the host reads a seventh field of the handshake.
    pub(crate) seventh_part: bool,
    /// Whether `--debug` is among the arguments.
    pub(crate) debug: bool,
    /// First of `TF_LOG_PROVIDER_<NAME>`, `TF_LOG_PROVIDER` and `TF_LOG` that is set.
    pub(crate) log: Option<String>,
}

impl Environment {
    /// Reads the environment of this process. `name` is the provider's short name.
    pub(crate) fn from_process(name: &str) -> Self {
        Self::read(read_variable, std::env::args_os().skip(1), name)
    }

    /// Reads any variables and arguments. An empty variable counts as unset.
    fn read(
        variable: impl Fn(&str) -> Option<OsString>,
        arguments: impl IntoIterator<Item = OsString>,
        name: &str,
    ) -> Self {
        let given = |name: &str| variable(name).filter(|value| !value.is_empty());
        let text = |name: &str| given(name).map(|value| value.to_string_lossy().into_owned());
        let own = format!("TF_LOG_PROVIDER_{}", name.to_uppercase().replace('-', "_"));
        Self {
            is_started_by_host: text(COOKIE.0).is_some_and(|value| value == COOKIE.1),
            versions: text("PLUGIN_PROTOCOL_VERSIONS"),
            client_certificate: text("PLUGIN_CLIENT_CERT"),
            ports: [text("PLUGIN_MIN_PORT"), text("PLUGIN_MAX_PORT")],
            socket_folder: given("PLUGIN_UNIX_SOCKET_DIR").map(PathBuf::from),
            seventh_part: given("PLUGIN_MULTIPLEX_GRPC").is_some(),
            debug: arguments.into_iter().any(|word| word == "--debug" || word == "-debug"),
            log: text(&own).or_else(|| text("TF_LOG_PROVIDER")).or_else(|| text("TF_LOG")),
        }
    }
}

fn read_variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)], arguments: &[&str]) -> Environment {
        let find = |name: &str| {
            variables.iter().find(|(own, _)| *own == name).map(|(_, value)| OsString::from(value))
        };
        Environment::read(find, arguments.iter().map(OsString::from), "my-cloud")
    }

    #[test]
    fn only_correct_cookie_identifies_a_host() {
        assert!(environment(&[COOKIE], &[]).is_started_by_host);
        assert!(!environment(&[(COOKIE.0, "another")], &[]).is_started_by_host);
        assert!(!environment(&[], &[]).is_started_by_host);
    }

    #[test]
    fn most_specific_variable_sets_log_level() {
        let all = [
            ("TF_LOG", "ERROR"),
            ("TF_LOG_PROVIDER", "WARN"),
            ("TF_LOG_PROVIDER_MY_CLOUD", "TRACE"),
        ];
        for (from, level) in [(2, "TRACE"), (1, "WARN"), (0, "ERROR")] {
            assert_eq!(environment(&all[..=from], &[]).log.as_deref(), Some(level));
        }
        assert_eq!(environment(&[("TF_LOG", "")], &[]).log, None);
    }

    #[test]
    fn both_debug_flags_enable_debug_mode() {
        assert!(environment(&[], &["--debug"]).debug && environment(&[], &["x", "-debug"]).debug);
        assert!(!environment(&[], &["debug"]).debug);
    }
}
