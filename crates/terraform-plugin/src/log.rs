//! Writes the log in the form that hosts read: one JSON object per line on stderr, as go-hclog
//! writes them. Receives every `tracing` event of the provider. `TF_LOG` sets the level.

mod line;

use std::io::Write;

use serde_json::{Map, Value};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Scope};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

use line::Fields;

/// Libraries whose events do not help people who read a provider's log.
const LIBRARIES: [&str; 7] = ["h2", "hyper", "hyper_util", "rustls", "tokio", "tonic", "tower"];

/// Starts to write events to stderr. `level` is the value of `TF_LOG` or a similar variable. Has no
/// effect if the provider has installed a `tracing` subscriber before.
pub(crate) fn start(level: Option<&str>, human_readable: bool) {
    let level = if human_readable { level.or(Some("INFO")) } else { level };
    let level = threshold(level);
    let libraries = LIBRARIES.map(|name| (name, level.min(LevelFilter::WARN)));
    let wanted = Targets::new().with_default(level).with_targets(libraries);
    let registry = tracing_subscriber::registry();
    // A subscriber installed by the provider takes precedence.
    drop(if human_readable {
        registry.with(fmt::layer().with_writer(std::io::stderr).with_filter(wanted)).try_init()
    } else {
        registry.with(Lines.with_filter(wanted)).try_init()
    });
}

/// Returns the level that `TF_LOG` requests. As in hosts, `JSON` and unknown words mean everything.
fn threshold(level: Option<&str>) -> LevelFilter {
    let Some(level) = level else { return LevelFilter::OFF };
    let known = [
        ("OFF", LevelFilter::OFF),
        ("ERROR", LevelFilter::ERROR),
        ("WARN", LevelFilter::WARN),
        ("INFO", LevelFilter::INFO),
        ("DEBUG", LevelFilter::DEBUG),
    ];
    let found = known.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(level));
    found.map_or(LevelFilter::TRACE, |(_, level)| level)
}

/// Layer that writes events as lines. A line contains the fields of the enclosing spans.
struct Lines;

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Lines {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        span.extensions_mut().insert(fields);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(fields) = span.extensions_mut().get_mut::<Fields>() {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut around = Map::<String, Value>::new();
        let scope = context.event_scope(event);
        for span in scope.into_iter().flat_map(Scope::from_root) {
            if let Some(fields) = span.extensions().get::<Fields>() {
                around.extend(fields.0.clone());
            }
        }
        let line = line::format(event, around, now());
        // If stderr is closed, nobody can read the error.
        drop(std::io::stderr().lock().write_all(line.as_bytes()));
    }
}

#[expect(clippy::disallowed_methods, reason = "a log line contains its time")]
fn now() -> jiff::Timestamp {
    jiff::Timestamp::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_match_those_of_hosts() {
        for (level, expected) in [
            (None, LevelFilter::OFF),
            (Some("off"), LevelFilter::OFF),
            (Some("WARN"), LevelFilter::WARN),
            (Some("Info"), LevelFilter::INFO),
            (Some("TRACE"), LevelFilter::TRACE),
            (Some("JSON"), LevelFilter::TRACE),
            (Some("loud"), LevelFilter::TRACE),
        ] {
            assert_eq!(threshold(level), expected, "{level:?}");
        }
    }
}
