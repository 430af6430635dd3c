//! Converts attempts to their evidence.

use ::http::HeaderMap;
use rules::limits;

use super::{
    AttemptEvidence, CHAIN, HEADER_BYTES_FINAL, HEADER_BYTES_REDIRECT, HopEvidence, RECORDS,
    TEXT_CHARS,
};
use crate::check::redact::{self, Configured, shorten};
use crate::check::{
    Assessment, Attempt, Certificate, DnsAnswer, Failure, Hop, HttpObservation, Observation,
    ObservedBody, Phases, TcpObservation, http,
};

/// Converts one attempt to its evidence.
pub(super) fn attempt(attempt: Attempt, assessment: Assessment) -> AttemptEvidence {
    let mut kept = AttemptEvidence {
        started_at: attempt.started_at,
        latency_us: attempt.latency_us,
        failure: attempt
            .failure
            .map(|Failure { kind, detail }| Failure::new(kind, bounded(detail))),
        reasons: assessment.reasons.into_iter().map(bounded).collect(),
        assertions: assessment.assertions,
        hops: Vec::new(),
        body: None,
        body_truncated: false,
        body_cut: false,
        answers: Vec::new(),
    };
    match attempt.observation {
        Observation::Http(seen) => kept.http(seen),
        Observation::Tcp(seen) => kept.hops.push(connection(&seen)),
        Observation::Dns(seen) => {
            kept.hops.push(look_up(seen.phases));
            kept.answers = seen.answers.into_iter().map(answer).collect();
        }
    }
    kept
}

impl AttemptEvidence {
    fn http(&mut self, seen: HttpObservation) {
        let last = seen.hops.len().saturating_sub(1);
        if let Some(answer) = seen.hops.last().filter(|answer| answer.status.is_some()) {
            let (text, has_more) = beginning(&answer.headers, &seen.body);
            self.body = Some(text);
            self.body_truncated = has_more;
            self.body_cut = seen.body.memory_exhausted;
        }
        self.hops = seen
            .hops
            .into_iter()
            .enumerate()
            .map(|(index, seen)| {
                if index == last {
                    hop(seen, HEADER_BYTES_FINAL, CHAIN)
                } else {
                    hop(seen, HEADER_BYTES_REDIRECT, 1)
                }
            })
            .collect();
    }
}

impl AttemptEvidence {
    /// Redacts the configured secrets in all texts that the target may have echoed.
    pub(super) fn redact(&mut self, secrets: &Configured) {
        let failure = self.failure.iter_mut().map(|failure| &mut failure.detail);
        let seen = self.assertions.iter_mut().map(|assertion| &mut assertion.actual);
        let hops = self.hops.iter_mut().flat_map(|hop| {
            let headers = hop.headers.iter_mut().flat_map(|(name, value)| [name, value]);
            let certificate = hop.certificate.iter_mut().flat_map(|shown| {
                [&mut shown.subject, &mut shown.issuer].into_iter().chain(&mut shown.chain)
            });
            hop.url.iter_mut().chain(headers).chain(certificate)
        });
        let texts = failure.chain(&mut self.reasons).chain(seen).chain(hops).chain(&mut self.body);
        texts.for_each(|text| secrets.redact(text));
    }
}

fn hop(hop: Hop, header_bytes: usize, chain: usize) -> HopEvidence {
    let url = redact::without_credentials(&hop.url);
    HopEvidence {
        url: Some(shorten(url.as_str(), TEXT_CHARS)),
        address: hop.address.map(|address| address.to_string()),
        phases: hop.phases,
        version: hop.status.map(|_| format!("{:?}", hop.version)),
        status: hop.status,
        headers: headers(&hop.headers, header_bytes),
        certificate: hop.certificate.map(|shown| certificate(shown, chain)),
    }
}

/// Returns the hop for the one connection of a TCP check.
fn connection(seen: &TcpObservation) -> HopEvidence {
    HopEvidence { address: seen.address.map(|address| address.to_string()), ..look_up(seen.phases) }
}

/// Returns a hop with phases only.
fn look_up(phases: Phases) -> HopEvidence {
    HopEvidence {
        url: None,
        address: None,
        phases,
        version: None,
        status: None,
        headers: Vec::new(),
        certificate: None,
    }
}

fn headers(headers: &HeaderMap, most: usize) -> Vec<(String, String)> {
    let mut bytes = 0;
    headers
        .iter()
        .map(|(name, value)| {
            let text = String::from_utf8_lossy(value.as_bytes());
            let value = redact::header_value(name.as_str(), &text);
            (shorten(name.as_str(), TEXT_CHARS), shorten(&value, TEXT_CHARS))
        })
        .take_while(|(name, value)| {
            let fits = bytes < most;
            bytes += name.len() + value.len();
            fits
        })
        .collect()
}

/// Returns the first 4 KiB of a body as text, and whether the body is longer.
fn beginning(headers: &HeaderMap, body: &ObservedBody) -> (String, bool) {
    let kept = &body.bytes[..body.bytes.len().min(limits::EVIDENCE_BODY_BYTES)];
    let has_more = body.truncated || kept.len() < body.bytes.len();
    (http::decode(headers, kept, has_more).into_owned(), has_more)
}

fn certificate(mut certificate: Certificate, chain: usize) -> Certificate {
    certificate.chain.truncate(chain);
    Certificate {
        subject: bounded(certificate.subject),
        issuer: bounded(certificate.issuer),
        chain: certificate.chain.into_iter().map(bounded).collect(),
        fingerprint: bounded(certificate.fingerprint),
        not_before: certificate.not_before,
        not_after: certificate.not_after,
        chain_not_after: certificate.chain_not_after,
    }
}

fn answer(mut answer: DnsAnswer) -> DnsAnswer {
    answer.records.truncate(RECORDS);
    answer.aliases.truncate(RECORDS);
    for record in &mut answer.records {
        record.value = bounded(std::mem::take(&mut record.value));
    }
    for alias in &mut answer.aliases {
        *alias = bounded(std::mem::take(alias));
    }
    answer
}

/// Shortens `text` to the limit for evidence.
fn bounded(text: String) -> String {
    // A text never has fewer bytes than characters, so a short text needs neither counting nor
    // copying.
    if text.len() <= TEXT_CHARS { text } else { shorten(&text, TEXT_CHARS) }
}
