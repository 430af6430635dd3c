//! The settings of traces: the receiver, its headers, and the share of traces that it gets.

use http::{HeaderName, HeaderValue};
use url::Url;

use super::parse::{items, missing_setting, optional, read};
use super::{ConfigError, Values};

const ENDPOINT: &str = "otlp_endpoint";
const HEADERS: &str = "otlp_headers";

/// Receiver of traces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceSettings {
    /// URL of the receiver, without the path `/v1/traces`.
    pub endpoint: String,
    /// Headers of each request. `Debug` hides their values.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Share of traces to send, 0 to 100.
    pub sample_percent: u8,
}

pub(super) fn traces(values: &Values) -> Result<Option<TraceSettings>, ConfigError> {
    let allowed = "must be the URL of an OTLP receiver, such as http://127.0.0.1:4318";
    let endpoint = optional(values.get(ENDPOINT), allowed, endpoint)?;
    let allowed = "must be headers such as Authorization=Basic abc, separated by commas";
    let headers = optional(values.get(HEADERS), allowed, headers)?;
    let percent = |text: &str| text.parse().ok().filter(|percent| *percent <= 100);
    let sample_percent =
        read(values.get("otlp_sample_percent"), "must be a whole number from 0 to 100", percent)?;
    match (endpoint, headers) {
        (Some(endpoint), headers) => {
            let headers = headers.unwrap_or_default();
            Ok(Some(TraceSettings { endpoint, headers, sample_percent }))
        }
        (None, Some(_)) => Err(missing_setting(values, ENDPOINT, HEADERS)),
        (None, None) => Ok(None),
    }
}

/// Parses an address. Credentials belong into a header, because the log names the address.
fn endpoint(text: &str) -> Option<String> {
    let url = Url::parse(text).ok()?;
    let is_web = matches!(url.scheme(), "http" | "https");
    let is_plain = url.username().is_empty() && url.password().is_none();
    let is_whole = url.query().is_none() && url.fragment().is_none();
    (is_web && is_plain && is_whole && url.has_host()).then(|| url.to_string())
}

fn headers(text: &str) -> Option<Vec<(HeaderName, HeaderValue)>> {
    let header = |item: &str| {
        let (name, value) = item.split_once('=')?;
        let mut value = HeaderValue::from_str(value.trim()).ok()?;
        value.set_sensitive(true);
        Some((name.trim().parse().ok()?, value))
    };
    items(text).map(header).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Layers;

    fn parse(pairs: &[(&str, &str)]) -> Result<Option<TraceSettings>, String> {
        let mut layers = Layers::default();
        let given = pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        layers.environment.extend(given);
        let values = layers.resolve().map_err(|error| error.to_string())?;
        traces(&values).map_err(|error| error.to_string())
    }

    #[test]
    fn receiver_has_headers_that_stay_hidden() {
        let endpoint = (ENDPOINT, "https://otlp.example.com/otlp");
        let headers = (HEADERS, "Authorization=Basic aGk=, x-scope=1");
        let settings = parse(&[endpoint, headers, ("otlp_sample_percent", "5")]).unwrap().unwrap();
        assert_eq!(settings.endpoint, "https://otlp.example.com/otlp");
        assert_eq!(settings.headers[0].1, "Basic aGk=");
        assert_eq!((settings.headers[1].0.as_str(), settings.sample_percent), ("x-scope", 5));
        assert!(!format!("{settings:?}").contains("aGk"), "{settings:?}");
        assert_eq!(parse(&[]), Ok(None));
    }

    #[test]
    fn unusable_receivers_are_refused_without_secrets() {
        let endpoint = (ENDPOINT, "http://127.0.0.1:4318");
        let refusals: Vec<String> = [
            &[(ENDPOINT, "127.0.0.1:4318")][..],
            &[(ENDPOINT, "https://ada:hunter2@example.com")],
            &[(HEADERS, "Authorization=hunter2")],
            &[endpoint, (HEADERS, "hunter2")],
            &[endpoint, ("otlp_sample_percent", "101")],
        ]
        .iter()
        .map(|pairs| parse(pairs).unwrap_err())
        .collect();
        insta::assert_snapshot!(refusals.join("\n"), @"
        `otlp_endpoint` must be the URL of an OTLP receiver, such as http://127.0.0.1:4318, not `127.0.0.1:4318` (from the environment)
        `otlp_endpoint` must be the URL of an OTLP receiver, such as http://127.0.0.1:4318 (from the environment)
        `otlp_endpoint` must also be set if `otlp_headers` is (from the environment)
        `otlp_headers` must be headers such as Authorization=Basic abc, separated by commas (from the environment)
        `otlp_sample_percent` must be a whole number from 0 to 100, not `101` (from the environment)
        ");
    }
}
