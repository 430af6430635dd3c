//! Encodes a result and its evidence. Secrets were removed before the evidence was stored.

use contract::monitor::wire::{
    AssertionLog, AttemptLog, CertificateLog, DnsAnswerLog, DnsRecordLog, HopLog,
    Phases as WirePhases, ResponseHeader, ResponseLog,
};
use contract::monitor::{encode_instant, micros};
use contract::{SecretVisibility, encode_url};
use domain::check::{
    AssertionResult, AttemptEvidence, Certificate, CheckResult, DnsAnswer, FailureKind,
    HopEvidence, Phases,
};
use store::LogCursor;

use super::super::status::RegionNames;
use super::cursor;

/// Encodes a result as an item of a list.
pub(super) fn encode_log(
    result: &CheckResult,
    names: RegionNames<'_>,
    has_details: bool,
) -> ResponseLog {
    let identity = result.identity;
    let at = LogCursor {
        slot: identity.slot,
        region: identity.region,
        trigger: identity.trigger,
        revision: identity.revision,
    };
    ResponseLog {
        id: cursor::encode_id(&at),
        slot: encode_instant(identity.slot),
        region: names.name(identity.region),
        served_by: names.probe(&result.probe),
        trigger: identity.trigger.as_str().to_owned(),
        outcome: result.outcome.as_str().to_owned(),
        latency_us: micros(result.latency_us),
        status_code: result.status.map(i32::from),
        attempts: i32::from(result.attempts),
        phases: phases(&result.phases).into(),
        finished_at: encode_instant(result.finished_at),
        has_details,
        place: names.place(identity.region),
    }
}

/// Encodes one attempt with all of its stored evidence.
pub(in crate::rpc) fn attempt(attempt: &AttemptEvidence, secrets: SecretVisibility) -> AttemptLog {
    let failure = attempt.failure.as_ref();
    AttemptLog {
        started_at: encode_instant(attempt.started_at),
        latency_us: micros(attempt.latency_us),
        failure: failure.map(|failure| failure_name(failure.kind).to_owned()).unwrap_or_default(),
        failure_detail: failure.map(|failure| failure.detail.clone()).unwrap_or_default(),
        reasons: attempt.reasons.clone(),
        assertions: attempt.assertions.iter().map(assertion).collect(),
        hops: attempt.hops.iter().map(|it| hop(it, secrets)).collect(),
        body: attempt.body.clone(),
        body_truncated: attempt.body_truncated,
        body_cut: attempt.body_cut,
        answers: attempt.answers.iter().map(encode_dns_answer).collect(),
    }
}

fn phases(phases: &Phases) -> WirePhases {
    WirePhases {
        dns_us: phases.dns_us.map(micros),
        connect_us: phases.connect_us.map(micros),
        tls_us: phases.tls_us.map(micros),
        first_byte_us: phases.first_byte_us.map(micros),
        transfer_us: phases.transfer_us.map(micros),
    }
}

fn assertion(result: &AssertionResult) -> AssertionLog {
    AssertionLog {
        expected: result.assertion.clone(),
        actual: result.actual.clone(),
        passed: result.passed,
    }
}

fn hop(hop: &HopEvidence, secrets: SecretVisibility) -> HopLog {
    let header = |(key, value): &(String, String)| {
        let is_url = key.eq_ignore_ascii_case("location");
        let value = if is_url { encode_url(value, secrets) } else { value.clone() };
        ResponseHeader { key: key.clone(), value }
    };
    HopLog {
        url: hop.url.as_deref().map(|url| encode_url(url, secrets)).unwrap_or_default(),
        address: hop.address.clone().unwrap_or_default(),
        phases: phases(&hop.phases).into(),
        version: hop.version.clone().unwrap_or_default(),
        status_code: hop.status.map(i32::from),
        headers: hop.headers.iter().map(header).collect(),
        certificate: hop.certificate.as_ref().map(certificate).into(),
    }
}

fn certificate(certificate: &Certificate) -> CertificateLog {
    CertificateLog {
        subject: certificate.subject.clone(),
        issuer: certificate.issuer.clone(),
        not_before: encode_instant(certificate.not_before),
        not_after: encode_instant(certificate.not_after),
        chain_not_after: encode_instant(certificate.chain_not_after),
        chain: certificate.chain.clone(),
        fingerprint: certificate.fingerprint.clone(),
    }
}

fn encode_dns_answer(answer: &DnsAnswer) -> DnsAnswerLog {
    let record = |record: &domain::check::DnsRecord| DnsRecordLog {
        value: record.value.clone(),
        ttl: micros(record.ttl),
    };
    DnsAnswerLog {
        record: answer.kind.to_string(),
        rcode: answer.rcode.clone(),
        server: answer.server.map(|server| server.to_string()).unwrap_or_default(),
        over_tcp: answer.over_tcp,
        aliases: answer.aliases.clone(),
        records: answer.records.iter().map(record).collect(),
        latency_us: micros(answer.latency_us),
    }
}

const fn failure_name(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Timeout => "timeout",
        FailureKind::NameNotFound => "name_not_found",
        FailureKind::NameUnresolved => "name_unresolved",
        FailureKind::AddressRefused => "address_refused",
        FailureKind::ConnectionRefused => "connection_refused",
        FailureKind::ConnectionFailed => "connection_failed",
        FailureKind::TlsFailed => "tls_failed",
        FailureKind::CertificateInvalid => "certificate_invalid",
        FailureKind::ProtocolBroken => "protocol_broken",
        FailureKind::RedirectsExhausted => "redirects_exhausted",
        FailureKind::RedirectInvalid => "redirect_invalid",
        FailureKind::BodyUndecodable => "body_undecodable",
        FailureKind::ProbeExhausted => "probe_exhausted",
        FailureKind::ProbeWithoutIpv6 => "probe_without_ipv6",
    }
}
