//! The settings of the provider: arguments, then the environment, then defaults (spec §5.9). Reading the
//! environment belongs to `main`.

use std::time::Duration;

use contract::rpc::{self, DEFAULT_BASE_URL, Network};
use rules::tables::PROVIDER;
use rules::{Secret, Validator, Violations};
use url::Url;

/// The variable that replaces `api_token` (spec §5.9).
pub const TOKEN_VARIABLE: &str = "SERVICE_API_TOKEN";
/// The variable that replaces `base_url` (spec §5.3).
pub const URL_VARIABLE: &str = "SERVICE_API_URL";

/// The provider's arguments; `None` if left out.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    pub api_token: Option<Secret<String>>,
    pub base_url: Option<String>,
    /// Seconds for one attempt.
    pub request_timeout: Option<i32>,
    pub max_retries: Option<i32>,
}

/// The environment; an empty variable counts as not set.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// Value of [`TOKEN_VARIABLE`].
    pub api_token: Option<Secret<String>>,
    /// Value of [`URL_VARIABLE`].
    pub base_url: Option<String>,
    /// Proxies and trusted certificates.
    pub network: Network,
}

/// The effective settings.
#[derive(Clone, Debug)]
pub struct Settings {
    pub api_token: Secret<String>,
    pub base_url: String,
    /// Time for one attempt of a call.
    pub request_timeout: Duration,
    /// Most retries of a call that is safe to retry.
    pub max_retries: u32,
    /// Proxies and trusted certificates.
    pub network: Network,
}

impl Environment {
    /// Reads the environment. `variable` returns the value of a variable.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        Self {
            api_token: set(TOKEN_VARIABLE).map(Secret::new),
            base_url: set(URL_VARIABLE),
            network: Network::from_variables(variable),
        }
    }
}

impl Settings {
    /// Returns the effective settings, or all violations. Arguments win over the environment (spec §5.4).
    pub fn new(arguments: Arguments, environment: &Environment) -> Result<Self, Violations> {
        let mut reader = Validator::new(&PROVIDER);
        let from_environment = [
            ("api_token", TOKEN_VARIABLE, arguments.api_token.is_none()),
            ("base_url", URL_VARIABLE, arguments.base_url.is_none()),
        ];
        let is_set = [environment.api_token.is_some(), environment.base_url.is_some()];
        let token = arguments.api_token.or_else(|| environment.api_token.clone());
        let token = if let Some(token) = token {
            token_of(&mut reader, &token)
        } else {
            let allowed = format!("must be given, or {TOKEN_VARIABLE} must be set");
            reader.reject_without_value("api_token", allowed)
        };
        let base_url = arguments
            .base_url
            .or_else(|| environment.base_url.clone())
            .unwrap_or_else(|| DEFAULT_BASE_URL.to_owned());
        let base_url = parse_base_url(&mut reader, base_url);
        let seconds = reader.integer("request_timeout", arguments.request_timeout);
        let retries = reader.integer("max_retries", arguments.max_retries);
        let read = || {
            Some(Self {
                api_token: Secret::new(token?),
                base_url: base_url?,
                request_timeout: Duration::from_secs(seconds? as u64),
                max_retries: retries? as u32,
                network: environment.network.clone(),
            })
        };
        let settings = read();
        reader.finish(settings).map_err(|mut violations| {
            for violation in &mut violations.0 {
                let sources = from_environment.iter().zip(is_set);
                let source = sources.filter(|((field, _, left_out), is_set)| {
                    violation.field == *field && *left_out && *is_set
                });
                for ((_, variable, _), _) in source {
                    violation.allowed = format!("(from {variable}) {}", violation.allowed);
                }
            }
            violations
        })
    }
}

/// Reads the key. Rejects one that no header can carry: it was not copied from the service.
pub fn token_of(reader: &mut Validator, given: &Secret<String>) -> Option<String> {
    let token = reader.text("api_token", Some(given.expose().clone()))?;
    if rpc::is_sendable_key(given) {
        return Some(token);
    }
    reader
        .reject_without_value("api_token", "must contain only ASCII characters; copy the key again")
}

/// Reads the address of the service. Rejects credentials in it, because messages repeat the address.
pub fn parse_base_url(reader: &mut Validator, given: String) -> Option<String> {
    let parsed = Url::parse(&given);
    let parsed = parsed.is_ok_and(|url| !url.username().is_empty() || url.password().is_some());
    // Messages repeat a malformed address too.
    let rest = given.split_once("//").map_or(given.as_str(), |(_, rest)| rest);
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    if parsed || authority.contains('@') {
        return reader.reject_without_value("base_url", "must not contain a user name or password");
    }
    reader.text("base_url", Some(given))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(token: &str, url: &str) -> Environment {
        let (token, url) = (token.to_owned(), url.to_owned());
        Environment::from_variables(|name| match name {
            TOKEN_VARIABLE => Some(token.clone()),
            URL_VARIABLE => Some(url.clone()),
            _ => None,
        })
    }

    fn given(token: Option<&str>, url: Option<&str>) -> Arguments {
        Arguments {
            api_token: token.map(|token| Secret::new(token.to_owned())),
            base_url: url.map(str::to_owned),
            ..Arguments::default()
        }
    }

    #[test]
    fn argument_wins_over_environment_over_default() {
        // spec: §5.3, §5.4, §5.9
        let set = environment("env", "http://env/rpc");
        let unset = environment("", "");
        for (arguments, environment, token, url) in [
            (given(Some("arg"), Some("http://arg/rpc")), &set, "arg", "http://arg/rpc"),
            (given(None, None), &set, "env", "http://env/rpc"),
            (given(Some("arg"), None), &unset, "arg", DEFAULT_BASE_URL),
        ] {
            let settings = Settings::new(arguments, environment).unwrap();
            assert_eq!(settings.api_token.expose(), token);
            assert_eq!(settings.base_url, url);
        }
    }

    #[test]
    fn missing_token_names_its_variable() {
        let refused = Settings::new(given(None, None), &environment("", "")).unwrap_err();
        insta::assert_snapshot!(refused, @"`api_token` must be given, or SERVICE_API_TOKEN must be set");
    }

    #[test]
    fn refusals_never_show_the_token() {
        let arguments = Arguments {
            api_token: Some(Secret::new("se\ncret".to_owned())),
            base_url: Some("example.com".to_owned()),
            request_timeout: Some(0),
            max_retries: Some(21),
        };
        let refused = Settings::new(arguments, &Environment::default()).unwrap_err();
        assert!(!refused.to_string().contains("cret"));
        let fields: Vec<_> = refused.0.iter().map(|violation| violation.field.as_str()).collect();
        assert_eq!(fields, ["api_token", "base_url", "request_timeout", "max_retries"]);
    }

    #[test]
    fn credentials_in_the_address_are_refused_unseen() {
        for (url, fine) in [
            ("https://user:hunter2@example.com/rpc", false),
            ("https://hunter2@example.com", false),
            ("https://:hunter2@example.com", false),
            ("https:\\\\user:hunter2@example.com", false),
            ("user:hunter2@example.com/rpc", false),
            ("https://example.com/@rpc?to=a@b", true),
        ] {
            let settings = Settings::new(given(Some("key"), Some(url)), &Environment::default());
            let result = settings.map(drop).map_err(|refused| refused.to_string());
            let refusal = "`base_url` must not contain a user name or password".to_owned();
            assert_eq!(result, if fine { Ok(()) } else { Err(refusal) }, "{url}");
        }
    }

    // issue 16 point 18: "Messages name the environment variable that a bad value came from"
    #[test]
    fn bad_value_of_a_variable_names_it() {
        let bad = environment("key", "example.com");
        let refused = Settings::new(given(None, None), &bad).unwrap_err().to_string();
        assert!(refused.starts_with("`base_url` (from SERVICE_API_URL) must be"), "{refused}");
        let own = Settings::new(given(None, Some("example.com")), &bad).unwrap_err().to_string();
        assert!(!own.contains("SERVICE_API_URL"), "{own}");
    }

    #[test]
    fn key_that_cannot_be_sent_names_its_variable() {
        let bad = environment("schlüssel", "");
        let refused = Settings::new(given(None, None), &bad).unwrap_err();
        insta::assert_snapshot!(refused, @"`api_token` (from SERVICE_API_TOKEN) must contain only ASCII characters; copy the key again");
        let own = Settings::new(given(Some("schlüssel"), None), &bad).unwrap_err().to_string();
        assert!(!own.contains("SERVICE_API_TOKEN") && !own.contains("schl"), "{own}");
    }

    #[test]
    fn internationalised_host_name_is_usable() {
        let settings = environment("key", "https://münchen.example/rpc");
        let settings = Settings::new(given(None, None), &settings).unwrap();
        rpc::Client::with_network(&settings.network, &settings.base_url, &settings.api_token)
            .unwrap();
    }

    #[test]
    fn defaults_come_from_the_table() {
        let settings = Settings::new(given(Some("key"), None), &Environment::default()).unwrap();
        assert_eq!(settings.request_timeout, Duration::from_mins(1));
        assert_eq!(settings.max_retries, 4);
    }
}
