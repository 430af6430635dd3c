//! Invariants of assertions for any input: used by the fuzz target `assertions` and by the test
//! that replays its corpus.

use std::time::Duration;

use ::http::header::{CONTENT_TYPE, HeaderMap, HeaderValue, SERVER};
use rules::monitor::{
    Check, HeaderAssertion, HttpCheck, Monitor, MonitorSettings, StatusCodeAssertion, TextAssertion,
};
use rules::{
    Method, MonitorId, NumberComparator, Periodicity, TextComparator, Timestamp, WorkspaceId,
};

use super::http::decode;
use super::redact::EXCERPT_CHARS;
use super::text::{Comparison, SearchBudget, Text, TextExpectation};
use super::{
    Attempt, CheckPlan, Hop, HttpObservation, Observation, ObservedBody, Outcome, Phases, assess,
};

/// One assertion of each sort and a response, parsed from the lines of a fuzz input.
struct Input<'a> {
    text: TextComparator,
    number: NumberComparator,
    is_head: bool,
    truncated: bool,
    status: u16,
    wanted_status: u16,
    content_type: &'a [u8],
    header: &'a [u8],
    target: String,
    body: &'a [u8],
}

impl<'a> Input<'a> {
    /// Parses five parts, each but the last on its own line. The first line chooses comparators,
    /// method, truncation and statuses, a letter each. Then come content type, header value, target
    /// and body.
    fn read(input: &'a [u8]) -> Self {
        let mut lines = input.splitn(5, |byte| *byte == b'\n');
        let mut line = || lines.next().unwrap_or_default();
        let choices = line();
        let choice = |at: usize| {
            usize::from(choices.get(at).copied().unwrap_or_default().wrapping_sub(b'a'))
        };
        Self {
            text: TextComparator::ALL[choice(0) % TextComparator::ALL.len()],
            number: NumberComparator::ALL[choice(1) % NumberComparator::ALL.len()],
            is_head: choice(2) % 2 == 1,
            truncated: choice(3) % 2 == 1,
            status: 100 + choice(4) as u16,
            wanted_status: 100 + choice(5) as u16,
            content_type: line(),
            header: line(),
            target: String::from_utf8_lossy(line()).into_owned(),
            body: line(),
        }
    }

    fn plan(&self) -> CheckPlan {
        let TextExpectation { target, comparator, .. } = expected(self.text, &self.target);
        let body_assertions = vec![TextAssertion { target: target.clone(), comparator }];
        let status = StatusCodeAssertion { target: self.wanted_status, comparator: self.number };
        let check = Check::Http(HttpCheck {
            method: if self.is_head { Method::Head } else { Method::Get },
            follow_redirects: false,
            status_code_assertions: vec![status],
            body_assertions,
            header_assertions: vec![HeaderAssertion { key: "Server".into(), target, comparator }],
            ..HttpCheck::new("http://example.com/")
        });
        let settings = MonitorSettings {
            timeout_ms: 1_000,
            retry: 0,
            active: true,
            ..MonitorSettings::new("fuzzed", Periodicity::ThirtySeconds, check)
        };
        let at = Timestamp::from_millis(0);
        let (id, workspace) = (MonitorId::from_bits(1), WorkspaceId::from_bits(1));
        let monitor =
            Monitor { id, workspace, revision: 1, settings, created_at: at, updated_at: at };
        CheckPlan::new(&monitor).expect("the request does not depend on the input")
    }

    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in [(CONTENT_TYPE, self.content_type), (SERVER, self.header)] {
            if let Ok(value) = HeaderValue::from_bytes(value) {
                headers.append(name, value);
            }
        }
        headers
    }

    fn attempt(&self) -> Attempt {
        let hop = Hop {
            url: "http://example.com/".parse().expect("the URL is constant and valid"),
            address: None,
            phases: Phases::default(),
            version: ::http::Version::HTTP_11,
            status: Some(self.status),
            headers: self.headers(),
            certificate: None,
        };
        let bytes = bytes::Bytes::copy_from_slice(self.body);
        let seen = HttpObservation {
            hops: vec![hop],
            body: ObservedBody { bytes, truncated: self.truncated, ..ObservedBody::default() },
        };
        let latency_us = Duration::from_millis(5).as_micros() as u32;
        let started_at = Timestamp::from_millis(0);
        Attempt { started_at, latency_us, observation: Observation::Http(seen), failure: None }
    }
}

/// Checks one assertion of each sort against a response.
///
/// # Panics
///
/// If the outcome and its reasons disagree, or a comparator and its opposite agree. Also if a
/// prefix of the body decides differently from the whole body.
pub fn assertions(input: &[u8]) {
    let input = Input::read(input);
    outcome_and_reasons_agree(&input);
    let text = decode(&input.headers(), input.body, false);
    opposites_disagree(&text, &input.target);
    for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)).take(64) {
        a_beginning_decides_as_the_whole(&text, end, &input);
    }
    for end in (0..input.body.len()).take(64) {
        let beginning = decode(&input.headers(), &input.body[..end], true);
        assert!(text.starts_with(&*beginning), "{beginning:?} is not a prefix of {text:?}");
    }
}

fn outcome_and_reasons_agree(input: &Input<'_>) {
    let found = assess(&input.plan(), &input.attempt());
    let all_hold = found.assertions.iter().all(|assertion| assertion.passed);
    assert_eq!(found.assertions.len(), 3, "the plan has one assertion of each sort");
    assert_eq!(found.outcome == Outcome::Success, all_hold);
    assert_eq!(found.reasons.is_empty(), all_hold, "{:?}", found.reasons);
    for assertion in &found.assertions {
        assert!(assertion.actual.chars().count() <= EXCERPT_CHARS, "{}", assertion.actual);
        assert!(!assertion.actual.contains(char::is_control), "{:?}", assertion.actual);
    }
}

/// Returns the expectation. A target that is not an expression becomes `a`.
fn expected(comparator: TextComparator, target: &str) -> TextExpectation {
    TextExpectation::new(comparator, target)
        .or_else(|_| TextExpectation::new(comparator, "a"))
        .expect("`a` is an expression")
}

fn opposites_disagree(text: &str, target: &str) {
    use TextComparator::{
        Contains, Empty, Eq, Gt, Gte, Lt, Lte, Matches, Neq, NotContains, NotEmpty, NotMatches,
    };
    let pairs = [
        (Eq, Neq),
        (Contains, NotContains),
        (Empty, NotEmpty),
        (Gt, Lte),
        (Lt, Gte),
        (Matches, NotMatches),
    ];
    for (one, other) in pairs {
        let held = [one, other].map(|it| {
            Text::complete(text).compare(&expected(it, target).ready(&SearchBudget::new()))
        });
        let fits = held == [Comparison::NotANumber; 2]
            || held.contains(&Comparison::Yes) && held.contains(&Comparison::No);
        assert!(fits, "{text:?} {one} and {other} {target:?}: {held:?}");
    }
}

fn a_beginning_decides_as_the_whole(text: &str, end: usize, input: &Input<'_>) {
    let beginning = Text { known: &text[..end], has_more: true };
    let held = beginning.compare(&expected(input.text, &input.target).ready(&SearchBudget::new()));
    let whole = Text::complete(text)
        .compare(&expected(input.text, &input.target).ready(&SearchBudget::new()));
    let beginning = beginning.known;
    assert!(
        held == Comparison::Undecidable || held == whole,
        "{beginning:?} of {text:?} {} {:?}: {held:?} and then {whole:?}",
        input.text,
        input.target
    );
}

#[cfg(test)]
#[path = "../../../../fuzz/replay.rs"]
mod corpus;

#[cfg(test)]
mod tests {
    #[test]
    fn assertions_corpus_passes() {
        super::corpus::replay("assertions", super::assertions);
    }
}
