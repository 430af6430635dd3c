//! A check as a drawing for the terminal: a line per phase, its bar where it lies in the whole.

use std::fmt::Write as _;

use domain::check::{AttemptEvidence, Certificate, DnsAnswer, HopEvidence};

/// Characters of the whole exchange.
const WIDTH: u64 = 48;
/// Eighths of a character, the widest last.
const EIGHTHS: [&str; 9] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"];
const GREEN: &str = "\u{1b}[32m";
const YELLOW: &str = "\u{1b}[33m";
const RED: &str = "\u{1b}[31m";
const FAINT: &str = "\u{1b}[2m";
const PLAIN: &str = "\u{1b}[0m";

/// Draws the attempts of a check and its outcome.
pub(super) fn draw(attempts: &[AttemptEvidence], outcome: &str, colours: bool) -> String {
    let mut text = String::new();
    for (index, attempt) in attempts.iter().enumerate() {
        if attempts.len() > 1 {
            line(&mut text, &format!("attempt {}", index + 1));
        }
        draw_attempt(&mut text, attempt);
    }
    line(&mut text, &format!("{{{outcome}}}{outcome}{{/}}"));
    paint(&text, colours)
}

fn draw_attempt(text: &mut String, attempt: &AttemptEvidence) {
    let whole = u64::from(attempt.latency_us.max(1));
    for (hop, begin) in attempt.hops.iter().zip(super::begins(attempt)) {
        line(text, &title(hop));
        let mut at = u64::from(begin);
        for (name, spent) in phases(hop) {
            let bar = bar(at, u64::from(spent), whole);
            line(text, &format!("  {name:<10} {:>10}  {bar}", milliseconds(spent)));
            at += u64::from(spent);
        }
        if let Some(certificate) = &hop.certificate {
            line(text, &format!("  {{faint}}{}{{/}}", of_certificate(certificate)));
        }
    }
    for answer in &attempt.answers {
        draw_answer(text, answer);
    }
    line(text, &format!("  {:<10} {:>10}", "total", milliseconds(attempt.latency_us)));
    for assertion in &attempt.assertions {
        let mark = if assertion.holds { "{success}✓{/}" } else { "{failure}✗{/}" };
        line(
            text,
            &format!("  {mark} {}  {{faint}}seen: {}{{/}}", assertion.assertion, assertion.seen),
        );
    }
    for reason in &attempt.reasons {
        line(text, &format!("  {{failure}}{reason}{{/}}"));
    }
}

fn draw_answer(text: &mut String, answer: &DnsAnswer) {
    let server = answer.server.map(|server| format!(" from {server}")).unwrap_or_default();
    let wire = if answer.over_tcp { " over TCP" } else { "" };
    line(
        text,
        &format!(
            "{} {} {}{{faint}}{server}{wire}{{/}}",
            answer.kind,
            answer.rcode,
            milliseconds(answer.latency_us)
        ),
    );
    for alias in &answer.aliases {
        line(text, &format!("  alias {alias}"));
    }
    for record in &answer.records {
        line(text, &format!("  {}  {{faint}}ttl {}{{/}}", record.value, record.ttl));
    }
}

fn title(hop: &HopEvidence) -> String {
    let parts = [
        hop.url.clone(),
        hop.status.map(|status| format!("→ {status}")),
        hop.version.clone(),
        hop.address.clone().map(|address| format!("{{faint}}{address}{{/}}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn phases(hop: &HopEvidence) -> impl Iterator<Item = (&'static str, u32)> {
    let phases = hop.phases;
    [
        ("dns", phases.dns_us),
        ("connect", phases.connect_us),
        ("tls", phases.tls_us),
        ("first byte", phases.first_byte_us),
        ("transfer", phases.transfer_us),
    ]
    .into_iter()
    .filter_map(|(name, spent)| Some((name, spent?)))
}

fn of_certificate(certificate: &Certificate) -> String {
    let until = certificate.not_after.to_string();
    let day = until.split('T').next().unwrap_or(&until);
    format!("certificate {}, by {}, until {day}", certificate.subject, certificate.issuer)
}

/// A bar that begins `at` and is `spent` long, where `whole` fills the width.
fn bar(at: u64, spent: u64, whole: u64) -> String {
    let eighths = |time: u64| (time.min(whole) * WIDTH * 8) / whole;
    let (begin, end) = (eighths(at), eighths(at + spent));
    // A phase that took next to nothing still shows where it lies.
    let length = (end - begin).max(1);
    let mut bar = " ".repeat((begin / 8) as usize);
    bar.push_str(&EIGHTHS[8].repeat((length / 8) as usize));
    bar.push_str(EIGHTHS[(length % 8) as usize]);
    bar
}

fn milliseconds(microseconds: u32) -> String {
    format!("{}.{:02} ms", microseconds / 1_000, microseconds % 1_000 / 10)
}

fn line(text: &mut String, content: &str) {
    writeln!(text, "{content}").expect("writing to memory does not fail");
}

/// Puts the colours in the place of their names, or nothing. Control characters of what was seen
/// are taken out before: an answer must not write to the terminal.
fn paint(text: &str, colours: bool) -> String {
    let text: String =
        text.chars().filter(|letter| *letter == '\n' || !letter.is_control()).collect();
    [
        ("{success}", GREEN),
        ("{degraded}", YELLOW),
        ("{failure}", RED),
        ("{faint}", FAINT),
        ("{/}", PLAIN),
    ]
    .iter()
    .fold(text, |text, (name, colour)| text.replace(name, if colours { colour } else { "" }))
}

#[cfg(test)]
mod tests {
    use domain::check::Phases;
    use rules::Timestamp;

    use super::*;

    #[test]
    fn phases_stand_below_each_other_where_they_lie_in_the_whole() {
        let hop = HopEvidence {
            url: Some("http://127.0.0.1/".to_owned()),
            address: Some("127.0.0.1:80".to_owned()),
            phases: Phases {
                connect_us: Some(250),
                first_byte_us: Some(500),
                transfer_us: Some(250),
                ..Phases::default()
            },
            version: Some("HTTP/1.1".to_owned()),
            status: Some(200),
            headers: Vec::new(),
            certificate: None,
        };
        let attempt = AttemptEvidence {
            started_at: Timestamp::from_millis(0),
            latency_us: 1_000,
            failure: None,
            reasons: Vec::new(),
            assertions: Vec::new(),
            hops: vec![hop],
            body: None,
            body_truncated: false,
            answers: Vec::new(),
        };
        insta::assert_snapshot!(draw(&[attempt], "success", false), @"");
    }

    #[test]
    fn what_was_seen_cannot_write_to_the_terminal() {
        assert_eq!(paint("a\u{1b}[31mb{faint}\n", true), format!("a[31mb{FAINT}\n"));
    }
}
