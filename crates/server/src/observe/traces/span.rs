//! Spans of checks and requests. The trace of a check has a span per phase of its last exchange.

use std::borrow::Cow;

use data_encoding::HEXLOWER;
use domain::check::{Phases, ResultKey};
use rules::Timestamp;
use sha2::{Digest as _, Sha256};
use web::context::Context;

use super::{CheckTrace, RequestTrace};

const NANOS_PER_MILLI: u64 = 1_000_000;
const NANOS_PER_MICRO: u64 = 1_000;

/// Identity of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct TraceId([u8; 16]);

/// Identity of a span in its trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SpanId([u8; 8]);

/// Span of a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parent {
    pub(super) trace: TraceId,
    pub(super) span: SpanId,
    /// Whether the caller records its trace.
    pub(super) is_sampled: bool,
}

/// Position of a span, with its number in the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpanKind {
    Internal = 1,
    Server = 2,
    Client = 3,
}

/// Value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AttributeValue {
    Text(String),
    Number(i64),
}

/// A span.
#[derive(Clone, Debug)]
pub(super) struct Span {
    pub(super) trace: TraceId,
    pub(super) id: SpanId,
    pub(super) parent: Option<SpanId>,
    pub(super) name: Cow<'static, str>,
    pub(super) kind: SpanKind,
    /// Nanoseconds since 1970, as of `end`.
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) attributes: Vec<(&'static str, AttributeValue)>,
    /// Reason of a failure.
    pub(super) error: Option<String>,
}

impl TraceId {
    /// Returns the trace of a check. It follows from the identity of the result, so that a receiver that
    /// gets a result twice sees one trace.
    pub(super) fn of_check(identity: &ResultKey) -> Self {
        let ResultKey { monitor, revision, region, slot, trigger } = identity;
        let text =
            format!("{monitor} {revision} {region} {} {}", slot.as_millis(), trigger.as_str());
        let hash: [u8; 32] = Sha256::digest(text).into();
        Self::from_first(hash)
    }

    pub(super) fn random(ctx: &Context) -> Self {
        Self::from_first(ctx.secret_bytes())
    }

    /// Returns the random end of the ID as a number.
    pub(super) fn number(self) -> u64 {
        u128::from_be_bytes(self.0) as u64
    }

    pub(super) fn hex(self) -> String {
        HEXLOWER.encode(&self.0)
    }

    fn from_first(bytes: [u8; 32]) -> Self {
        let [first, ..] = bytes.as_chunks::<16>().0 else { return Self([1; 16]) };
        Self(*first)
    }

    /// Returns the span with this number in the trace.
    fn span(self, number: u8) -> SpanId {
        let mut hash = Sha256::new();
        hash.update(self.0);
        hash.update([number]);
        let hash: [u8; 32] = hash.finalize().into();
        let [first, ..] = hash.as_chunks::<8>().0 else { return SpanId([1; 8]) };
        SpanId(*first)
    }
}

impl SpanId {
    pub(super) fn random(ctx: &Context) -> Self {
        // Zero would mean no span.
        Self(ctx.random().max(1).to_be_bytes())
    }

    pub(super) fn hex(self) -> String {
        HEXLOWER.encode(&self.0)
    }
}

impl Parent {
    /// Reads the header `traceparent`. Later versions may add fields at the end.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().split('-');
        let version = hex::<1>(parts.next()?)?;
        let (trace, span) = (hex::<16>(parts.next()?)?, hex::<8>(parts.next()?)?);
        let flags = hex::<1>(parts.next()?)?;
        let is_whole = version != [0] || parts.next().is_none();
        let is_valid = is_whole && version != [0xff] && trace != [0; 16] && span != [0; 8];
        let is_sampled = flags[0] & 1 == 1;
        is_valid.then_some(Self { trace: TraceId(trace), span: SpanId(span), is_sampled })
    }
}

/// Returns the spans of a check: the whole, and the phases of its last exchange.
pub(super) fn spans_of_check(check: &CheckTrace) -> Vec<Span> {
    let trace = TraceId::of_check(&check.identity);
    let root = trace.span(0);
    let end = nanos(check.finished_at);
    let start = end.saturating_sub(u64::from(check.latency_us) * NANOS_PER_MICRO);
    let span = |number, name, kind, (start, end)| Span {
        trace,
        id: trace.span(number),
        parent: (number > 0).then_some(root),
        name: Cow::Borrowed(name),
        kind,
        start,
        end,
        attributes: Vec::new(),
        error: None,
    };
    let mut whole = span(0, "check", SpanKind::Client, (start, end));
    whole.attributes = check_attributes(check);
    whole.error.clone_from(&check.reason);
    let first = start.saturating_add(check.earlier_hops_us.saturating_mul(NANOS_PER_MICRO));
    let phases = timed_phases(&check.phases, (first, end)).into_iter();
    let phases = phases.map(|(number, name, times)| span(number, name, SpanKind::Internal, times));
    std::iter::once(whole).chain(phases).collect()
}

/// Returns the span of a request.
pub(super) fn span_of_request(request: &RequestTrace) -> Span {
    let RequestTrace { open, id, status, is_failed, micros } = request;
    let start = nanos(open.at);
    let text = |text: &str| AttributeValue::Text(text.to_owned());
    Span {
        trace: open.trace,
        id: open.span,
        parent: open.parent.map(|parent| parent.span),
        name: Cow::Owned(format!("{} {}", open.method, open.route)),
        kind: SpanKind::Server,
        start,
        end: start.saturating_add(micros.saturating_mul(NANOS_PER_MICRO)),
        attributes: vec![
            ("http.request.method", text(open.method)),
            ("http.route", text(&open.route)),
            ("http.response.status_code", AttributeValue::Number(i64::from(status.as_u16()))),
            ("aloft.request.id", text(id)),
        ],
        error: is_failed.then(|| status.to_string()),
    }
}

/// Returns the duration of an exchange, in microseconds.
pub(super) fn duration_us(phases: &Phases) -> u64 {
    in_order(phases).into_iter().filter_map(|(_, _, micros)| micros.map(u64::from)).sum()
}

fn check_attributes(check: &CheckTrace) -> Vec<(&'static str, AttributeValue)> {
    let identity = &check.identity;
    let text = |text: &str| AttributeValue::Text(text.to_owned());
    let mut all = vec![
        ("aloft.monitor.id", text(&identity.monitor.to_string())),
        ("aloft.check.region", text(&identity.region.to_string())),
        ("aloft.check.slot", text(&identity.slot.to_string())),
        ("aloft.check.trigger", text(identity.trigger.as_str())),
        ("aloft.check.outcome", text(check.outcome.as_str())),
        ("aloft.check.attempts", AttributeValue::Number(i64::from(check.attempts))),
        ("aloft.probe.name", text(&check.probe.0)),
    ];
    if let Some(status) = check.status {
        all.push(("http.response.status_code", AttributeValue::Number(i64::from(status))));
    }
    all
}

/// Returns the phases with their times, one after the other from the first time on, and never after the
/// end of the check: probes measure both.
fn timed_phases(phases: &Phases, (first, end): (u64, u64)) -> Vec<(u8, &'static str, (u64, u64))> {
    let mut from = first.min(end);
    let mut timed = Vec::new();
    for (number, name, micros) in in_order(phases) {
        let Some(micros) = micros else { continue };
        let until = from.saturating_add(u64::from(micros) * NANOS_PER_MICRO).min(end);
        timed.push((number, name, (from, until)));
        from = until;
    }
    timed
}

const fn in_order(phases: &Phases) -> [(u8, &'static str, Option<u32>); 5] {
    [
        (1, "dns", phases.dns_us),
        (2, "connect", phases.connect_us),
        (3, "tls", phases.tls_us),
        (4, "first byte", phases.first_byte_us),
        (5, "transfer", phases.transfer_us),
    ]
}

fn nanos(at: Timestamp) -> u64 {
    u64::try_from(at.as_millis()).unwrap_or_default() * NANOS_PER_MILLI
}

/// Reads lower-case hexadecimal digits of exactly this many bytes.
fn hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    HEXLOWER.decode(text.as_bytes()).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

    #[test]
    fn parent_of_a_request_is_read() {
        let parent = Parent::parse(&format!("00-{TRACE}-b7ad6b7169203331-01")).unwrap();
        assert_eq!((parent.trace.hex(), parent.is_sampled), (TRACE.to_owned(), true));
        assert_eq!(parent.span.hex(), "b7ad6b7169203331");
        let later = Parent::parse(&format!("cc-{TRACE}-b7ad6b7169203331-00-more"));
        assert!(!later.unwrap().is_sampled);
        for malformed in [
            String::new(),
            "00-0-0-0".to_owned(),
            format!("ff-{TRACE}-b7ad6b7169203331-01"),
            format!("00-{TRACE}-b7ad6b7169203331-01-more"),
            format!("00-{TRACE}-0000000000000000-01"),
            format!("00-{}-b7ad6b7169203331-01", "0".repeat(32)),
            format!("00-{}-b7ad6b7169203331-01", TRACE.to_uppercase()),
        ] {
            assert_eq!(Parent::parse(&malformed), None, "{malformed}");
        }
    }

    #[test]
    fn phases_follow_each_other_until_the_end() {
        let phases = Phases {
            dns_us: Some(1),
            connect_us: Some(2),
            tls_us: None,
            first_byte_us: Some(3),
            transfer_us: Some(4),
        };
        assert_eq!(duration_us(&phases), 10);
        let timed: Vec<_> = timed_phases(&phases, (90_000, 98_000))
            .into_iter()
            .map(|(_, name, (from, until))| format!("{name} {from} {until}"))
            .collect();
        assert_eq!(
            timed,
            [
                "dns 90000 91000",
                "connect 91000 93000",
                "first byte 93000 96000",
                "transfer 96000 98000"
            ]
        );
    }
}
