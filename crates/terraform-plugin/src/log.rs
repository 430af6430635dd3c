//! The log in the form in which hosts read it: one JSON object per line on stderr, as go-hclog writes
//! them. Every `tracing` event of the provider goes there; which are worth writing is `TF_LOG`'s.

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

/// Libraries below us, whose own talk is of no use to people who read a provider's log.
const LIBRARIES: [&str; 7] = ["h2", "hyper", "hyper_util", "rustls", "tokio", "tonic", "tower"];

/// Sends events to stderr from now on. `level` is what `TF_LOG` and its like say. Whoever has set up
/// `tracing` before keeps what was set up.
pub(crate) fn start(level: Option<&str>, for_people: bool) {
    let level = if for_people { level.or(Some("INFO")) } else { level };
    let level = threshold(level);
    let libraries = LIBRARIES.map(|name| (name, level.min(LevelFilter::WARN)));
    let wanted = Targets::new().with_default(level).with_targets(libraries);
    let registry = tracing_subscriber::registry();
    // A provider that has its own subscriber says where its events go.
    drop(if for_people {
        registry.with(fmt::layer().with_writer(std::io::stderr).with_filter(wanted)).try_init()
    } else {
        registry.with(Lines.with_filter(wanted)).try_init()
    });
}

/// What `TF_LOG` asks for. Hosts take `JSON` and words they do not know for everything, and so do we.
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

/// Writes events as lines. Fields of the spans around an event are fields of its line.
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
        let line = line::of(event, around, now());
        // Without a stderr there is nobody to tell.
        drop(std::io::stderr().lock().write_all(line.as_bytes()));
    }
}

#[expect(clippy::disallowed_methods, reason = "a line of a log says when it was written")]
fn now() -> jiff::Timestamp {
    jiff::Timestamp::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_those_of_hosts() {
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
