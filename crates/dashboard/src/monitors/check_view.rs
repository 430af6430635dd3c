//! A check with its details, as a panel shows it: stored in the response log, or of a draft.

use contract::monitor::decode_instant;
use contract::monitor::wire::{
    AttemptLog, CertificateLog, DnsAnswerLog, GetResponseLogResponse, HopLog, ResponseLog,
    Timestamp as WireTimestamp,
};
use rules::Timestamp;

use super::units::{self, Badge};
use super::waterfall::{self, PhaseBar};
use crate::{region_names, time};

/// A check with its details.
#[derive(Clone, Debug)]
pub(crate) struct CheckView {
    pub(crate) place: String,
    /// Empty for a kind that probes do not check.
    pub(crate) region: String,
    pub(crate) outcome: Badge,
    pub(crate) latency: String,
    pub(crate) status_code: Option<i32>,
    /// Time at which it was due, as HTML.
    pub(crate) slot: String,
    pub(crate) trigger: String,
    pub(crate) served_by: String,
    /// Phases of the last exchange, if no attempts are stored.
    pub(crate) phases: Vec<PhaseBar>,
    pub(crate) attempts: Vec<LoggedAttempt>,
}

/// An attempt.
#[derive(Clone, Debug)]
pub(crate) struct LoggedAttempt {
    /// Position, from 1.
    pub(crate) number: usize,
    pub(crate) started_at: String,
    pub(crate) latency: String,
    /// Whether its details are visible at first.
    pub(crate) is_open: bool,
    /// Failure and reasons, one sentence each.
    pub(crate) reasons: Vec<String>,
    pub(crate) assertions: Vec<AssertionView>,
    pub(crate) hops: Vec<HopView>,
    pub(crate) answers: Vec<AnswerView>,
    pub(crate) body: Option<String>,
    /// Note about a body that is not complete. Empty if it is.
    pub(crate) body_note: &'static str,
}

/// An assertion and whether it holds.
#[derive(Clone, Debug)]
pub(crate) struct AssertionView {
    pub(crate) outcome: Badge,
    pub(crate) expected: String,
    pub(crate) actual: String,
}

/// A request and its response, or a connection.
#[derive(Clone, Debug)]
pub(crate) struct HopView {
    pub(crate) url: String,
    /// Protocol, status and address.
    pub(crate) summary: String,
    pub(crate) bars: Vec<PhaseBar>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) certificate: Option<CertificateView>,
}

/// A certificate.
#[derive(Clone, Debug)]
pub(crate) struct CertificateView {
    pub(crate) subject: String,
    pub(crate) issuer: String,
    /// End of its validity, as HTML.
    pub(crate) not_after: String,
    pub(crate) fingerprint: String,
}

/// The response to a DNS query.
#[derive(Clone, Debug)]
pub(crate) struct AnswerView {
    pub(crate) record: String,
    pub(crate) summary: String,
    pub(crate) records: Vec<String>,
}

impl CheckView {
    /// Returns the view of a check.
    pub(super) fn new(check: &GetResponseLogResponse) -> Self {
        let log: &ResponseLog = &check.log;
        let count = check.attempts.len();
        let is_known = count == 0 && !waterfall::named(&log.phases).is_empty();
        let phases = if is_known { waterfall::bars(&[&log.phases]).remove(0) } else { Vec::new() };
        Self {
            place: place(&log.region, &log.place),
            region: log.region.clone(),
            outcome: units::outcome_badge(&log.outcome),
            latency: latency(log),
            status_code: log.status_code,
            slot: exact_time(log.slot.as_option()),
            trigger: log.trigger.clone(),
            served_by: log.served_by.clone(),
            phases,
            attempts: logged_attempts(&check.attempts),
        }
    }
}

/// Returns the duration of a check. An evaluation of a heartbeat monitor, and a call without a start, have none.
fn latency(log: &ResponseLog) -> String {
    if log.attempts == 0 { "no duration".to_owned() } else { units::latency(log.latency_us) }
}

/// Returns the name of a region's place for people, such as `Amsterdam` or `Amsterdam, from this server`.
fn place(region: &str, place: &str) -> String {
    if region.is_empty() {
        return "Heartbeat".to_owned();
    }
    let city = region_names::city(region);
    if place.is_empty() { city } else { format!("{city}, from {place}") }
}

/// Returns a time of the contract as HTML, or a dash.
pub(super) fn html_time(at: Option<&WireTimestamp>) -> String {
    instant(at).map_or_else(|| "–".to_owned(), |at| time::time(&at))
}

/// Returns a time of the contract with its seconds as HTML, or a dash.
pub(super) fn exact_time(at: Option<&WireTimestamp>) -> String {
    instant(at).map_or_else(|| "–".to_owned(), |at| time::time_with_seconds(&at))
}

/// Returns a time of the contract.
pub(super) fn instant(at: Option<&WireTimestamp>) -> Option<Timestamp> {
    at.and_then(decode_instant)
}

/// Returns the views of attempts, with the last one open.
pub(crate) fn logged_attempts(attempts: &[AttemptLog]) -> Vec<LoggedAttempt> {
    let count = attempts.len();
    attempts.iter().enumerate().map(|(index, it)| attempt(it, index, count)).collect()
}

fn attempt(attempt: &AttemptLog, index: usize, count: usize) -> LoggedAttempt {
    let phases: Vec<_> = attempt.hops.iter().map(|hop| &*hop.phases).collect();
    let bars = waterfall::bars(&phases);
    let failure = Some(attempt.failure_detail.clone()).filter(|it| !it.is_empty());
    let is_new = |it: &&String| failure.as_ref() != Some(*it);
    let reasons = attempt.reasons.iter().filter(is_new).cloned();
    LoggedAttempt {
        number: index + 1,
        started_at: exact_time(attempt.started_at.as_option()),
        latency: units::latency(attempt.latency_us),
        is_open: index + 1 == count,
        reasons: failure.iter().cloned().chain(reasons).collect(),
        assertions: attempt
            .assertions
            .iter()
            .map(|it| AssertionView {
                outcome: units::outcome_badge(if it.passed { "success" } else { "failure" }),
                expected: it.expected.clone(),
                actual: it.actual.clone(),
            })
            .collect(),
        hops: attempt.hops.iter().zip(bars).map(|(it, bars)| hop(it, bars)).collect(),
        answers: attempt.answers.iter().map(answer).collect(),
        body: attempt.body.clone(),
        body_note: match (attempt.body_cut, attempt.body_truncated) {
            (true, _) => "The rest was not read, because the memory for bodies was full.",
            (false, true) => "The beginning; the rest is not stored.",
            (false, false) => "",
        },
    }
}

fn hop(hop: &HopLog, bars: Vec<PhaseBar>) -> HopView {
    let status = hop.status_code.map(|it| it.to_string());
    let parts = [hop.version.clone(), status.unwrap_or_default(), hop.address.clone()];
    let parts: Vec<String> = parts.into_iter().filter(|it| !it.is_empty()).collect();
    HopView {
        url: hop.url.clone(),
        summary: parts.join(" · "),
        bars,
        headers: hop.headers.iter().map(|it| (it.key.clone(), it.value.clone())).collect(),
        certificate: hop.certificate.as_option().map(certificate),
    }
}

fn certificate(certificate: &CertificateLog) -> CertificateView {
    CertificateView {
        subject: certificate.subject.clone(),
        issuer: certificate.issuer.clone(),
        not_after: html_time(certificate.not_after.as_option()),
        fingerprint: certificate.fingerprint.clone(),
    }
}

fn answer(answer: &DnsAnswerLog) -> AnswerView {
    let server = Some(format!("from {}", answer.server)).filter(|_| !answer.server.is_empty());
    let parts = [Some(answer.rcode.clone()), server, Some(units::latency(answer.latency_us))];
    AnswerView {
        record: answer.record.clone(),
        summary: parts.into_iter().flatten().collect::<Vec<_>>().join(" · "),
        records: answer
            .records
            .iter()
            .map(|it| format!("{} (TTL {} s)", it.value, it.ttl))
            .collect(),
    }
}
