//! One line of the log: `@level`, `@message`, `@module`, `@timestamp`, and the event's own fields.

use std::fmt::{Debug, Write};

use jiff::Timestamp;
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Level};

/// Maximum length of a text in bytes. Hosts parse lines of up to 64 KiB as JSON, and treat longer
/// ones as plain text.
const TEXT_BYTES_MAX: usize = 8 << 10;
/// Name of the field in which `tracing` stores an event's message.
const MESSAGE: &str = "message";

/// Fields of a span or an event by name.
#[derive(Debug, Default)]
pub(super) struct Fields(pub(super) Map<String, Value>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let mut text = String::new();
        // Writing to a string cannot fail, but the value's own `Debug` can.
        write!(text, "{value:?}").unwrap_or_default();
        self.put(field, cut(text));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, cut(value.to_owned()));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value);
    }
}

impl Fields {
    fn put(&mut self, field: &Field, value: impl Into<Value>) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

/// Formats the line of an event with its line end. `around` are the fields of the enclosing spans.
pub(super) fn format(event: &Event<'_>, around: Map<String, Value>, now: Timestamp) -> String {
    let mut fields = Fields(around);
    event.record(&mut fields);
    let metadata = event.metadata();
    let message = fields.0.shift_remove(MESSAGE).unwrap_or_else(|| metadata.name().into());
    let mut line = Map::new();
    line.insert("@level".into(), level(*metadata.level()).into());
    line.insert("@message".into(), message);
    line.insert("@module".into(), metadata.target().replace("::", ".").into());
    // Exactly six digits: hosts parse no other form.
    line.insert("@timestamp".into(), now.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string().into());
    line.extend(fields.0.into_iter().filter(|(name, _)| !name.starts_with('@')));
    Value::Object(line).to_string() + "\n"
}

fn level(level: Level) -> &'static str {
    match level {
        Level::ERROR => "error",
        Level::WARN => "warn",
        Level::INFO => "info",
        Level::DEBUG => "debug",
        Level::TRACE => "trace",
    }
}

/// Truncates texts that would make a line too long for hosts.
fn cut(mut text: String) -> String {
    if text.len() > TEXT_BYTES_MAX {
        text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tracing::Subscriber;
    use tracing_subscriber::Layer;
    use tracing_subscriber::layer::{Context, SubscriberExt};

    use super::*;

    struct RecordingLayer(Arc<Mutex<Vec<String>>>);

    impl<S: Subscriber> Layer<S> for RecordingLayer {
        fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
            let around = Map::from_iter([("request".to_owned(), Value::from("r1"))]);
            let now = Timestamp::from_microsecond(1_700_000_000_000_007).unwrap();
            self.0.lock().unwrap().push(format(event, around, now));
        }
    }

    fn lines(work: impl FnOnce()) -> Vec<String> {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let subscriber = tracing_subscriber::registry().with(RecordingLayer(Arc::clone(&kept)));
        tracing::subscriber::with_default(subscriber, work);
        std::mem::take(&mut *kept.lock().unwrap())
    }

    #[test]
    fn line_has_the_format_of_hosts() {
        let lines = lines(|| {
            tracing::warn!(target: "my_cloud::api", attempt = 2, why = %"busy", "asked again");
        });
        insta::assert_snapshot!(lines.concat(), @r#"{"@level":"warn","@message":"asked again","@module":"my_cloud.api","@timestamp":"2023-11-14T22:13:20.000007Z","request":"r1","attempt":2,"why":"busy"}"#);
    }

    #[test]
    fn long_text_is_truncated_to_one_line() {
        let lines = lines(|| tracing::info!("{}\n", "ü".repeat(TEXT_BYTES_MAX)));
        assert!(lines[0].len() < TEXT_BYTES_MAX + 200 && lines[0].contains('…'));
        assert_eq!(lines[0].matches('\n').count(), 1);
        let read: Value = serde_json::from_str(&lines[0]).unwrap();
        assert_eq!(read["@level"], "info");
    }
}
