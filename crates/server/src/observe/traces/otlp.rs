//! Spans in OTLP, as JSON. Format: <https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>

use serde_json::{Value, json};

use super::span::{AttributeValue, Span};

/// Status of a span that failed.
const FAILED: u8 = 2;

/// Encodes spans of this server.
pub(super) fn encode(spans: &[Span]) -> String {
    let resource = [
        ("service.name", AttributeValue::Text("aloft".to_owned())),
        ("service.version", AttributeValue::Text(env!("CARGO_PKG_VERSION").to_owned())),
    ];
    let spans: Vec<Value> = spans.iter().map(span).collect();
    let scope = json!({ "name": "aloft", "version": env!("CARGO_PKG_VERSION") });
    json!({ "resourceSpans": [{
        "resource": { "attributes": attributes(&resource) },
        "scopeSpans": [{ "scope": scope, "spans": spans }],
    }] })
    .to_string()
}

/// Returns how many spans a receiver refused although it accepted the request, and why.
pub(super) fn refused(answer: &[u8]) -> Option<(u64, String)> {
    let answer: Value = serde_json::from_slice(answer).ok()?;
    let partial = answer.get("partialSuccess")?;
    let count = &partial["rejectedSpans"];
    // Numbers of 64 bits are texts in this format. Some receivers send numbers.
    let count = count.as_str().and_then(|it| it.parse().ok()).or_else(|| count.as_u64())?;
    let why = partial["errorMessage"].as_str().unwrap_or_default();
    (count > 0).then(|| (count, why.to_owned()))
}

fn span(span: &Span) -> Value {
    let mut encoded = json!({
        "traceId": span.trace.hex(),
        "spanId": span.id.hex(),
        "name": span.name,
        "kind": span.kind as u8,
        "startTimeUnixNano": span.start.to_string(),
        "endTimeUnixNano": span.end.to_string(),
        "attributes": attributes(&span.attributes),
    });
    if let Some(parent) = span.parent {
        encoded["parentSpanId"] = json!(parent.hex());
    }
    if let Some(why) = &span.error {
        encoded["status"] = json!({ "code": FAILED, "message": why });
    }
    encoded
}

fn attributes(all: &[(&'static str, AttributeValue)]) -> Vec<Value> {
    let encode = |(key, value): &(&'static str, AttributeValue)| {
        let value = match value {
            AttributeValue::Text(text) => json!({ "stringValue": text }),
            AttributeValue::Number(number) => json!({ "intValue": number.to_string() }),
        };
        json!({ "key": key, "value": value })
    };
    all.iter().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_success_names_the_refused_spans() {
        let answer = br#"{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}"#;
        assert_eq!(refused(answer), Some((3, "too old".to_owned())));
        for accepted in
            ["{}", "", "{\"partialSuccess\":{}}", "{\"partialSuccess\":{\"rejectedSpans\":\"0\"}}"]
        {
            assert_eq!(refused(accepted.as_bytes()), None, "{accepted}");
        }
    }
}
