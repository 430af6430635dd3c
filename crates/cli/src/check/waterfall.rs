//! Draws a check as a waterfall: a line per phase, with a bar at its position in time.

use std::fmt::Write as _;
use std::net::IpAddr;

use domain::check::{
    AssertionResult, AttemptEvidence, Certificate, DnsAnswer, FailureKind, HopEvidence, Outcome,
};
use http::StatusCode;
use rules::{Timestamp, counted};

use super::terminal::{Paper, Sheet, Style};

/// Characters before a bar: a margin, the phase's name, its time.
const LEFT: usize = 29;
const MARGIN: &str = "    ";
/// Maximum and minimum width of the bar of the whole exchange. A narrower terminal gets no bars.
const BAR_MAX: usize = 60;
const BAR_MIN: usize = 8;
/// Blocks of zero to eight eighths of a character.
const EIGHTHS: [&str; 9] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"];
/// Fill of a bar whose phase did not complete.
const BROKEN: &str = "░";
const RULE: &str = "─";
const DAY_MS: i64 = 86_400_000;
/// Number of remaining days below which a certificate is highlighted.
const SOON_DAYS: i64 = 14;

/// Draws the attempts of a check of `target` and its outcome.
pub(super) fn draw(
    target: &str,
    attempts: &[AttemptEvidence],
    outcome: Outcome,
    paper: Paper,
) -> String {
    let mut sheet = Sheet::new(paper);
    sheet.blank();
    for (index, attempt) in attempts.iter().enumerate() {
        if attempts.len() > 1 {
            let count = format!("attempt {} of {}", index + 1, attempts.len());
            sheet.line(&[(Style::Plain, "  "), (Style::Strong, &count)]);
        }
        draw_attempt(&mut sheet, target, attempt);
        let is_last = index + 1 == attempts.len();
        conclude(&mut sheet, attempt, if is_last { outcome } else { Outcome::Failure });
    }
    sheet.finish()
}

/// A phase or query, as drawn.
struct Bar {
    name: &'static str,
    style: Style,
    /// Start in microseconds from the beginning of the attempt.
    begin: u64,
    spent: u64,
    ended: bool,
}

fn draw_attempt(sheet: &mut Sheet, target: &str, attempt: &AttemptEvidence) {
    let whole = u64::from(attempt.latency_us.max(1));
    let mut at = 0;
    for (index, hop) in attempt.hops.iter().enumerate() {
        let is_last = index + 1 == attempt.hops.len();
        let mark = if index == 0 { "  " } else { "  ↳ " };
        let url = hop.url.as_deref().unwrap_or(target);
        sheet.folded((Style::Faint, mark), Style::Strong, url);
        draw_answer_line(sheet, url, hop);
        let mut bars = if attempt.answers.is_empty() { phases(hop, at) } else { Vec::new() };
        at = bars.last().map_or(at, |bar| bar.begin + bar.spent);
        if is_last {
            bars.extend(broken_off(attempt, hop, url, at));
        }
        bars.extend(attempt.answers.iter().map(query));
        for bar in &bars {
            draw_bar(sheet, bar, whole);
        }
        if let Some(certificate) = &hop.certificate {
            draw_certificate(sheet, certificate, attempt.started_at);
        }
        if !is_last {
            sheet.blank();
        }
    }
    draw_total(sheet, whole);
    for answer in &attempt.answers {
        draw_answer(sheet, answer);
    }
}

/// Draws the status, the version and the address of the responder.
fn draw_answer_line(sheet: &mut Sheet, target: &str, hop: &HopEvidence) {
    let status = hop.status.map(|code| {
        let words = StatusCode::from_u16(code).ok().and_then(|status| status.canonical_reason());
        (code, words.map_or_else(|| code.to_string(), |words| format!("{code} {words}")))
    });
    let (style, status) = match status {
        Some((200..=299, text)) => (Style::Good, text),
        Some((300..=399, text)) => (Style::Plain, text),
        Some((_, text)) => (Style::Bad, text),
        None => (Style::Plain, String::new()),
    };
    let version = hop.version.as_deref().map(|it| if it == "HTTP/2.0" { "HTTP/2" } else { it });
    let address = hop.address.as_deref().filter(|address| *address != target);
    let about = [version, address];
    let about = about.into_iter().flatten().collect::<Vec<_>>().join("  ");
    let gap = if status.is_empty() || about.is_empty() { "" } else { "  " };
    let needed = MARGIN.len() + status.len() + gap.len() + about.len();
    if !sheet.has_room(needed) {
        sheet.folded((Style::Plain, MARGIN), style, &status);
        sheet.folded((Style::Plain, MARGIN), Style::Faint, &about);
    } else if !(status.is_empty() && about.is_empty()) {
        sheet.line(&[
            (Style::Plain, MARGIN),
            (style, &status),
            (Style::Faint, gap),
            (Style::Faint, &about),
        ]);
    }
}

fn phases(hop: &HopEvidence, from: u64) -> Vec<Bar> {
    let mut begin = from;
    timeline(hop)
        .into_iter()
        .filter_map(|(name, style, spent)| {
            let spent = u64::from(spent?);
            let bar = Bar { name, style, begin, spent, ended: true };
            begin += spent;
            Some(bar)
        })
        .collect()
}

/// Returns the phases in order, with the microseconds of those that completed.
const fn timeline(hop: &HopEvidence) -> [(&'static str, Style, Option<u32>); 5] {
    let phases = hop.phases;
    [
        ("dns", Style::Dns, phases.dns_us),
        ("connect", Style::Connect, phases.connect_us),
        ("tls", Style::Tls, phases.tls_us),
        ("first byte", Style::FirstByte, phases.first_byte_us),
        ("transfer", Style::Transfer, phases.transfer_us),
    ]
}

/// Returns the bar of the phase in which the exchange failed. It starts at `begin`.
fn broken_off(
    attempt: &AttemptEvidence,
    hop: &HopEvidence,
    target: &str,
    begin: u64,
) -> Option<Bar> {
    let failed = attempt.failure.as_ref()?.kind;
    let timeline = timeline(hop);
    let next = timeline.iter().rposition(|(_, _, spent)| spent.is_some()).map_or(0, |at| at + 1);
    let index = match failed {
        FailureKind::AddressRefused
        | FailureKind::RedirectsExhausted
        | FailureKind::RedirectInvalid
        | FailureKind::BodyUndecodable
        | FailureKind::ProbeExhausted => return None,
        FailureKind::NameNotFound | FailureKind::NameUnresolved => 0,
        FailureKind::ConnectionRefused | FailureKind::ProbeWithoutIpv6 => 1,
        FailureKind::TlsFailed | FailureKind::CertificateInvalid => 2,
        FailureKind::Timeout | FailureKind::ConnectionFailed | FailureKind::ProtocolBroken => {
            match next {
                // An IP address needs no lookup, and http needs no handshake.
                0 if !attempt.answers.is_empty() => return None,
                0 if is_address(target) => 1,
                2 if !target.starts_with("https:") => 3,
                next => next,
            }
        }
    };
    let (name, _, spent) = *timeline.get(index)?;
    let left = u64::from(attempt.latency_us).saturating_sub(begin);
    spent.is_none().then_some(Bar { name, style: Style::Bad, begin, spent: left, ended: false })
}

/// Returns whether the host of a URL or of `host:port` is an IP address, which needs no lookup.
fn is_address(target: &str) -> bool {
    let rest = target.split_once("://").map_or(target, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let host = authority
        .strip_suffix(|letter: char| letter.is_ascii_digit())
        .map_or(authority, |_| authority.rsplit_once(':').map_or(authority, |(host, _)| host));
    host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok()
}

/// Returns the bar of a query. All queries start at once.
fn query(answer: &DnsAnswer) -> Bar {
    let spent = u64::from(answer.latency_us);
    Bar { name: answer.kind.as_str(), style: Style::Dns, begin: 0, spent, ended: true }
}

fn draw_bar(sheet: &mut Sheet, bar: &Bar, whole: u64) {
    let time = milliseconds(bar.spent);
    let (mark, style) = if bar.ended { (" ", bar.style) } else { ("✗", Style::Bad) };
    let name = format!(" {:<10} {time:>12}  ", bar.name);
    let Some(width) = width(sheet) else {
        sheet.line(&[(Style::Plain, "  "), (style, mark), (Style::Plain, &name)]);
        return;
    };
    let eighths = |time: u64| (time.min(whole) * width * 8) / whole;
    let (begin, end) = (eighths(bar.begin), eighths(bar.begin + bar.spent));
    // A very short phase still shows its position, even at the very end.
    let begin = begin.min(width * 8 - 1);
    let length = (end - begin).max(1);
    let blocks = if bar.ended {
        let whole = EIGHTHS[8].repeat((length / 8) as usize);
        format!("{whole}{}", EIGHTHS[(length % 8) as usize])
    } else {
        BROKEN.repeat(length.div_ceil(8) as usize)
    };
    let before = " ".repeat((begin / 8) as usize);
    sheet.line(&[
        (Style::Plain, "  "),
        (style, mark),
        (Style::Plain, &name),
        (Style::Plain, &before),
        (style, &blocks),
    ]);
}

fn draw_total(sheet: &mut Sheet, whole: u64) {
    let total = format!("    {:<10} {:>12}  ", "total", milliseconds(whole));
    let rule = width(sheet).map_or_else(String::new, |width| RULE.repeat(width as usize));
    sheet.line(&[(Style::Plain, &total), (Style::Faint, &rule)]);
}

/// Returns the number of characters for the whole exchange. `None` if the terminal is too narrow.
fn width(sheet: &Sheet) -> Option<u64> {
    let room = sheet.columns().saturating_sub(LEFT).min(BAR_MAX);
    (room >= BAR_MIN).then_some(room as u64)
}

fn draw_certificate(sheet: &mut Sheet, certificate: &Certificate, now: Timestamp) {
    let days = |end: Timestamp| (end.as_millis() - now.as_millis()).div_euclid(DAY_MS);
    let left = days(certificate.not_after);
    let (style, holds) = match left {
        ..0 => (Style::Bad, format!("expired on {}", day(certificate.not_after))),
        0..SOON_DAYS => (
            Style::Slow,
            format!("only {} left, until {}", counted(left, "day"), day(certificate.not_after)),
        ),
        SOON_DAYS.. => (
            Style::Faint,
            format!("{} left, until {}", counted(left, "day"), day(certificate.not_after)),
        ),
    };
    let (subject, issuer) = (common_name(&certificate.subject), common_name(&certificate.issuer));
    let mut text = format!("{subject}, by {issuer}, {holds}");
    if certificate.chain_not_after < certificate.not_after {
        let end = day(certificate.chain_not_after);
        write!(text, "; chain valid until {end}").expect("writing to a string cannot fail");
    }
    sheet.folded((Style::Plain, "    certificate  "), style, &text);
}

fn draw_answer(sheet: &mut Sheet, answer: &DnsAnswer) {
    let server = answer.server.map(|server| format!("  from {server}")).unwrap_or_default();
    let wire = if answer.over_tcp { " over TCP" } else { "" };
    let style = if answer.rcode == "NOERROR" { Style::Good } else { Style::Bad };
    let kind = format!("    {:<10} ", answer.kind.as_str());
    sheet.blank();
    sheet.line(&[
        (Style::Plain, &kind),
        (style, &answer.rcode),
        (Style::Faint, &server),
        (Style::Faint, wire),
    ]);
    let margin = " ".repeat(15);
    for alias in &answer.aliases {
        sheet.folded((Style::Faint, &margin), Style::Faint, &format!("alias of {alias}"));
    }
    let widest = answer.records.iter().map(|it| it.value.chars().count()).max().unwrap_or(0);
    for record in &answer.records {
        let value = format!("{:<widest$}", record.value, widest = widest.min(40));
        let ttl = format!("  ttl {}", record.ttl);
        sheet.line(&[(Style::Plain, &margin), (Style::Plain, &value), (Style::Faint, &ttl)]);
    }
}

/// Draws the assertions, and the outcome in the last line.
fn conclude(sheet: &mut Sheet, attempt: &AttemptEvidence, outcome: Outcome) {
    sheet.blank();
    for AssertionResult { assertion, passed: holds, actual: seen } in &attempt.assertions {
        let (mark, style) = if *holds { ("  ✓ ", Style::Good) } else { ("  ✗ ", Style::Bad) };
        let text = if *holds { assertion.clone() } else { format!("{assertion}; actual: {seen}") };
        sheet.folded((style, mark), Style::Plain, &text);
    }
    if !attempt.assertions.is_empty() {
        sheet.blank();
    }
    let (mark, style) = match outcome {
        Outcome::Success => ("  ✓ ", Style::Good),
        Outcome::Degraded => ("  ! ", Style::Slow),
        Outcome::Failure | Outcome::Skipped => ("  ✗ ", Style::Bad),
    };
    let word = outcome.as_str();
    if attempt.reasons.is_empty() {
        sheet.folded((style, mark), style, word);
    }
    for reason in &attempt.reasons {
        sheet.folded((style, mark), style, &format!("{word}: {reason}"));
    }
    sheet.blank();
}

fn day(at: Timestamp) -> String {
    let text = at.to_string();
    text.split('T').next().unwrap_or(&text).to_owned()
}

/// Returns the common name of a subject such as `C=US, O=Example, CN=example.com`, or else the
/// whole subject.
fn common_name(subject: &str) -> &str {
    subject.split(", ").find_map(|part| part.strip_prefix("CN=")).unwrap_or(subject)
}

fn milliseconds(microseconds: u64) -> String {
    format!("{}.{:02} ms", microseconds / 1_000, microseconds % 1_000 / 10)
}

#[cfg(test)]
mod tests;
