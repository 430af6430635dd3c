//! Environment variables: reads those of settings, and warns of similar names and missing ones.
//! `config` decides what a setting means.

use crate::config::{SETTINGS, Setting};
use crate::pipeline::Notifier;

/// Variable that names the configuration file.
pub(super) const FILE: &str = "ALOFT_CONFIG";
/// Prefix of all our variables.
const OURS: &str = "ALOFT_";
/// Prefixes of the project's own tools and tests, which are not settings.
const TOOLS: [&str; 3] = ["ALOFT_TOOLS_", "ALOFT_TEST_", "ALOFT_SIMULATION_"];

/// Returns the value of an environment variable. Commands other than the server use this too.
#[expect(clippy::disallowed_methods, reason = "this is where the environment is read")]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Warns of variables that look like settings but are not, to reveal typos. They are not rejected
/// like unknown keys of the file. Orchestrators set variables with the same prefix, such as
/// `ALOFT_SERVICE_HOST` for a service named `aloft`.
pub(super) fn warn_about_unknown_variables() {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for name in unknown_variables(names) {
        tracing::warn!(
            "the variable `{name}` is not a setting and has no effect; `aloft config` lists all settings"
        );
    }
}

fn unknown_variables(names: impl Iterator<Item = String>) -> Vec<String> {
    let is_known = |name: &str| {
        name == FILE
            || TOOLS.iter().any(|tool| name.starts_with(tool))
            || SETTINGS.iter().map(Setting::variable).any(|variable| variable == name)
    };
    let mut strangers: Vec<String> =
        names.filter(|name| name.starts_with(OURS) && !is_known(name)).collect();
    strangers.sort_unstable();
    strangers
}

/// Warns if WhatsApp messages are sent without a template.
pub(super) fn warn_without_template(notifier: &Notifier) {
    if notifier.is_without_template() {
        tracing::warn!(
            "`whatsapp_from` is set without `whatsapp_template`: WhatsApp messages reach only people \
             who wrote to the sender within 24 hours"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelled_variables_are_found() {
        let names = [
            "ALOFT_LISTEN",
            "ALOFT_LISTNE",
            "ALOFT_CONFIG",
            "ALOFT_MASTER_KEY",
            "ALOFT_TOOLS_DIR",
            "ALOFT_TEST_ENGINE",
            "ALOFT_SERVICE_HOST",
            "PATH",
            "SERVICE_API_KEY",
        ];
        let found = unknown_variables(names.into_iter().map(ToOwned::to_owned));
        assert_eq!(found, ["ALOFT_LISTNE", "ALOFT_SERVICE_HOST"]);
    }
}
