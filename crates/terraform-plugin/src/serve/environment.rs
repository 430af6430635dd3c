//! What the host says to a plugin that it starts: variables and arguments, read once, here. What
//! they mean belongs to the modules that take the values.

use std::ffi::OsString;
use std::path::PathBuf;

/// The variable by which the host says that it is one, and what it holds.
const COOKIE: (&str, &str) =
    ("TF_PLUGIN_MAGIC_COOKIE", "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2");

/// Everything that this process was told, as text.
#[derive(Debug, Default, Clone)]
pub(crate) struct Environment {
    /// Whether a host started us rather than a person.
    pub(crate) by_host: bool,
    /// `PLUGIN_PROTOCOL_VERSIONS`: major versions that the host speaks, with commas.
    pub(crate) versions: Option<String>,
    /// `PLUGIN_CLIENT_CERT`: the certificate, as PEM, that the host will show.
    pub(crate) client_certificate: Option<String>,
    /// `PLUGIN_MIN_PORT` and `PLUGIN_MAX_PORT`, for hosts without unix sockets.
    pub(crate) ports: [Option<String>; 2],
    /// `PLUGIN_UNIX_SOCKET_DIR`: where sockets belong, if not below the folder for temporary files.
    pub(crate) socket_folder: Option<PathBuf>,
    /// `PLUGIN_MULTIPLEX_GRPC`: the host reads a seventh part of the handshake.
    pub(crate) seventh_part: bool,
    /// `--debug` among the arguments.
    pub(crate) debug: bool,
    /// `TF_LOG_PROVIDER_<NAME>`, `TF_LOG_PROVIDER` and `TF_LOG`, the first that is set.
    pub(crate) log: Option<String>,
}

impl Environment {
    /// Of this process, for a provider whose short name is `name`.
    pub(crate) fn of_process(name: &str) -> Self {
        Self::read(read_variable, std::env::args_os().skip(1), name)
    }

    /// Of any variables and arguments. An empty variable counts as none.
    fn read(
        variable: impl Fn(&str) -> Option<OsString>,
        arguments: impl IntoIterator<Item = OsString>,
        name: &str,
    ) -> Self {
        let given = |name: &str| variable(name).filter(|value| !value.is_empty());
        let text = |name: &str| given(name).map(|value| value.to_string_lossy().into_owned());
        let own = format!("TF_LOG_PROVIDER_{}", name.to_uppercase().replace('-', "_"));
        Self {
            by_host: text(COOKIE.0).is_some_and(|value| value == COOKIE.1),
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

    fn of(variables: &[(&str, &str)], arguments: &[&str]) -> Environment {
        let find = |name: &str| {
            variables.iter().find(|(own, _)| *own == name).map(|(_, value)| OsString::from(value))
        };
        Environment::read(find, arguments.iter().map(OsString::from), "my-cloud")
    }

    #[test]
    fn only_the_right_cookie_is_a_host() {
        assert!(of(&[COOKIE], &[]).by_host);
        assert!(!of(&[(COOKIE.0, "another")], &[]).by_host);
        assert!(!of(&[], &[]).by_host);
    }

    #[test]
    fn the_nearest_variable_says_what_is_logged() {
        let all = [
            ("TF_LOG", "ERROR"),
            ("TF_LOG_PROVIDER", "WARN"),
            ("TF_LOG_PROVIDER_MY_CLOUD", "TRACE"),
        ];
        for (from, level) in [(2, "TRACE"), (1, "WARN"), (0, "ERROR")] {
            assert_eq!(of(&all[..=from], &[]).log.as_deref(), Some(level));
        }
        assert_eq!(of(&[("TF_LOG", "")], &[]).log, None);
    }

    #[test]
    fn both_spellings_ask_for_a_debugger() {
        assert!(of(&[], &["--debug"]).debug && of(&[], &["x", "-debug"]).debug);
        assert!(!of(&[], &["debug"]).debug);
    }
}
