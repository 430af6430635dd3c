//! The environment: the variables that settings are read from, and a word on those that only look
//! like one. What a setting means belongs to `config`.

use crate::config::{SETTINGS, Setting};

/// Variable that names the configuration file.
pub(super) const FILE: &str = "ALOFT_CONFIG";
/// What variables of ours begin with.
const OURS: &str = "ALOFT_";
/// Those of the project's own tools and tests, which are no settings.
const TOOLS: [&str; 3] = ["ALOFT_TOOLS_", "ALOFT_TEST_", "ALOFT_SIMULATION_"];

/// What a variable of the environment is set to; commands that are no server ask for theirs here too.
#[expect(clippy::disallowed_methods, reason = "this is where the environment is read")]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Says which variables look like settings and are none, so that a slip of the pen is found. They
/// are not refused as keys of the file are: orchestrators put variables of their own beside ours,
/// such as `ALOFT_SERVICE_HOST` where a service is called `aloft`.
pub(super) fn warn_of_strangers() {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for name in strangers(names) {
        tracing::warn!(
            "the variable `{name}` is not a setting and has no effect; `aloft config` lists all settings"
        );
    }
}

fn strangers(names: impl Iterator<Item = String>) -> Vec<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_look_like_settings_and_are_none_are_found() {
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
        let found = strangers(names.into_iter().map(ToOwned::to_owned));
        assert_eq!(found, ["ALOFT_LISTNE", "ALOFT_SERVICE_HOST"]);
    }
}
