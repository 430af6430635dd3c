//! Conditions of Gatus as assertions (`config/endpoint/condition.go`, `placeholder.go`).

use rules::monitor::{CheckDraft, DnsDraft, HttpDraft, MonitorDraft, RecordAssertionDraft};
use rules::{NumberComparator, Pattern, RecordComparator, RecordKind, TextComparator};

use super::duration;
use super::json::BodyValue;
use crate::convert::{self, StatusRange};
use crate::preview::Entry;
use crate::secrets::Secrets;

/// Operators, in the order in which Gatus looks for them.
const OPERATORS: [&str; 6] = [" == ", " != ", " <= ", " >= ", " > ", " < "];
/// Smallest status code.
const STATUS_MIN: u16 = 100;
/// Remedy for a condition without a counterpart.
const REMEDY: &str = "add assertions on the status code, a header, or a text of the body";
/// Remedy for a condition that requires a failure.
const REMEDY_INVERTED: &str = "assert the status code or the text that the service gives meanwhile";

/// A condition in its parts.
struct Condition<'a> {
    written: &'a str,
    operator: &'a str,
    right: &'a str,
    /// The left side as written.
    left: &'a str,
    secrets: &'a Secrets,
    /// The placeholder on the left, in upper case: Gatus compares it without case.
    placeholder: String,
}

/// Adds the assertions of all conditions.
pub(super) fn import(
    conditions: &[String],
    record_type: &str,
    secrets: &Secrets,
    draft: &mut MonitorDraft,
    entry: &mut Entry,
) {
    // Gatus knows no slow monitors.
    draft.degraded_at = Some(0);
    let names_status = |written: &String| written.to_ascii_uppercase().contains("[STATUS]");
    let accepts_any_status = !conditions.iter().any(names_status);
    for written in conditions {
        let Some(condition) = Condition::of(written, secrets) else {
            entry.lose(format!("the condition `{written}`"), REMEDY);
            continue;
        };
        condition.import(record_type, draft, entry);
    }
    if let CheckDraft::Http(http) = &mut draft.check
        && accepts_any_status
        && http.status_code_assertions.is_empty()
    {
        // Gatus checks the status code only if a condition names it.
        convert::statuses(http, "conditions", &[StatusRange { from: 100, to: 599 }], entry);
    }
}

impl<'a> Condition<'a> {
    fn of(written: &'a str, secrets: &'a Secrets) -> Option<Self> {
        OPERATORS.iter().find_map(|operator| {
            let (left, right) = written.split_once(operator)?;
            let (left, right, operator) = (left.trim(), right.trim(), operator.trim());
            // Gatus accepts the placeholder on both sides.
            let is_placeholder = |side: &str| {
                side.starts_with('[') || side.starts_with("len(") || side.starts_with("has(")
            };
            let is_swapped = is_placeholder(right) && !is_placeholder(left);
            let (left, right, operator) = if is_swapped {
                (right, left, mirrored(operator))
            } else {
                (left, right, operator)
            };
            let placeholder = left.to_ascii_uppercase();
            Some(Self { written, operator, right, left, secrets, placeholder })
        })
    }

    fn import(&self, record_type: &str, draft: &mut MonitorDraft, entry: &mut Entry) {
        match self.placeholder.as_str() {
            "[CONNECTED]" if self.is("==", "true") || self.is("!=", "false") => {}
            "[DNS_RCODE]" if self.is("==", "NOERROR") => {}
            _ if self.requires_failure() => {
                entry.refuse(format!("the condition `{}`", self.written), REMEDY_INVERTED);
            }
            "[RESPONSE_TIME]" => self.response_time(draft, entry),
            "[STATUS]" | "[BODY]" | "LEN([BODY])" => match &mut draft.check {
                CheckDraft::Http(http) if self.placeholder == "[STATUS]" => {
                    self.status(http, entry);
                }
                CheckDraft::Http(http) => self.body(http, entry),
                CheckDraft::Dns(dns) => self.record(record_type, dns, entry),
                CheckDraft::Tcp(_) | CheckDraft::Heartbeat(_) => self.lose(entry),
            },
            "[CERTIFICATE_EXPIRATION]" => self.certificate(draft, entry),
            "[DOMAIN_EXPIRATION]" => {
                entry.lose(
                    format!("the condition `{}`", self.written),
                    "let the registrar renew it",
                );
            }
            _ => self.json(draft, entry),
        }
    }

    /// A bound on the validity of the certificate makes a monitor degraded, not down.
    fn certificate(&self, draft: &mut MonitorDraft, entry: &mut Entry) {
        const DAY: f64 = 86_400.0;
        let seconds = duration::seconds(&self.right.into()).filter(|seconds| *seconds > 0.0);
        match (&mut draft.check, seconds, self.operator) {
            (CheckDraft::Http(http), Some(seconds), ">" | ">=") => {
                convert::certificate_warning(http, "conditions", seconds / DAY, entry);
                let days = (seconds / DAY).ceil();
                let after = format_args!("certificate_warn_days {days}");
                let why = "a monitor whose certificate expires soon is degraded, not down";
                entry.change("conditions", self.written, after, why);
            }
            (
                CheckDraft::Http(_)
                | CheckDraft::Tcp(_)
                | CheckDraft::Dns(_)
                | CheckDraft::Heartbeat(_),
                _,
                _,
            ) => self.lose(entry),
        }
    }

    /// A condition on a value of a body of JSON.
    fn json(&self, draft: &mut MonitorDraft, entry: &mut Entry) {
        let value = BodyValue::of(self.left).filter(|_| !self.secrets.has_variable(self.left));
        let (CheckDraft::Http(http), Some(value)) = (&mut draft.check, value) else {
            return self.lose(entry);
        };
        let is_existence = matches!(value, BodyValue::Exists(_));
        let assertion = match (&value, self.pattern()) {
            (BodyValue::Whole(path), Some((comparator, target))) => {
                Some((path.clone(), comparator, target))
            }
            _ if self.right_is_plain() => value.assertion(self.operator, self.right),
            _ => None,
        };
        let Some((path, comparator, target)) = assertion else { return self.lose(entry) };
        let is_negation = matches!(comparator, TextComparator::Neq | TextComparator::NotMatches);
        let is_empty = comparator == TextComparator::Empty;
        if (is_negation || is_empty) && !is_existence {
            let after = format!("JSON {path} {comparator} {target}");
            let absent = if is_empty { "absent or null" } else { "absent" };
            let why = format!("a value that is {absent} satisfies it");
            entry.change("conditions", self.written, after.trim_end(), why);
        }
        convert::json_value(http, path, comparator, target);
    }

    fn right_is_plain(&self) -> bool {
        function(self.right, "any").is_none()
            && function(self.right, "pat").is_none()
            && !self.right.starts_with('[')
    }

    /// Returns the expression of `any(a, b)`, or of a pattern with `*` and `?`.
    fn pattern(&self) -> Option<(TextComparator, String)> {
        // The configuration replaces whole values of variables, and an expression changes them.
        if self.secrets.has_variable(self.right) {
            return None;
        }
        let comparator = match self.operator {
            "==" => TextComparator::Matches,
            "!=" => TextComparator::NotMatches,
            _ => return None,
        };
        if let Some(choices) = function(self.right, "any") {
            if choices.contains(['(', '[']) {
                return None;
            }
            let choices: Vec<_> =
                choices.split(',').map(|choice| Pattern::escape(choice.trim())).collect();
            return Some((comparator, format!("^({})$", choices.join("|"))));
        }
        let pattern = function(self.right, "pat")?;
        if pattern.contains(['[', '\\']) {
            return None;
        }
        let mut expression = "(?s)^".to_owned();
        for character in pattern.chars() {
            match character {
                '*' => expression.push_str(".*"),
                '?' => expression.push('.'),
                other => expression.push_str(&Pattern::escape(&other.to_string())),
            }
        }
        expression.push('$');
        Some((comparator, expression))
    }

    fn is(&self, operator: &str, right: &str) -> bool {
        self.operator == operator && self.right == right
    }

    /// Returns whether the condition holds only if the check fails: no connection, an error of DNS, or
    /// the status 0 of a request without an answer.
    fn requires_failure(&self) -> bool {
        match self.placeholder.as_str() {
            "[CONNECTED]" => self.is("==", "false") || self.is("!=", "true"),
            "[DNS_RCODE]" => self.operator == "==" || self.is("!=", "NOERROR"),
            "[STATUS]" => {
                let is_low = self.right.parse::<u16>().is_ok_and(|code| {
                    code < STATUS_MIN || (code == STATUS_MIN && self.operator == "<")
                });
                is_low && matches!(self.operator, "==" | "<" | "<=")
            }
            _ => false,
        }
    }

    fn lose(&self, entry: &mut Entry) {
        entry.lose(format!("the condition `{}`", self.written), REMEDY);
    }

    /// A bound on the response time makes a monitor degraded, not down.
    fn response_time(&self, draft: &mut MonitorDraft, entry: &mut Entry) {
        let millis = self.right.parse::<f64>().ok();
        let millis = millis.or_else(|| duration::seconds(&self.right.into()).map(|s| s * 1000.0));
        let (Some(millis), "<" | "<=") = (millis.filter(|ms| *ms >= 1.0), self.operator) else {
            return self.lose(entry);
        };
        let most = f64::from(rules::tables::TIMEOUT_MS_MAX);
        let kept = millis.min(most) as i32;
        let tighter = draft.degraded_at.filter(|already| *already > 0 && *already < kept);
        draft.degraded_at = Some(tighter.unwrap_or(kept));
        let why = "a slow monitor is degraded, not down";
        entry.change("conditions", self.written, format_args!("degraded_at {kept} ms"), why);
    }

    fn status(&self, http: &mut HttpDraft, entry: &mut Entry) {
        if let (Some(comparator), Ok(code)) = (comparator(self.operator), self.right.parse::<u16>())
        {
            return convert::status(http, comparator, code);
        }
        let ranges = match (function(self.right, "any"), function(self.right, "pat")) {
            (Some(codes), _) => {
                codes.split(',').map(|code| convert::status_range(code.trim())).collect()
            }
            (None, Some(pattern)) => status_pattern(pattern).map(|range| vec![range]),
            (None, None) => None,
        };
        match ranges.filter(|ranges: &Vec<StatusRange>| self.operator == "==" && !ranges.is_empty())
        {
            Some(ranges) => {
                let before = http.status_code_assertions.len();
                convert::statuses(http, "conditions", &ranges, entry);
                if http.status_code_assertions.len() == before {
                    // The default range needs no assertion alone, but others may follow.
                    convert::status(http, NumberComparator::Gte, ranges[0].from);
                    convert::status(http, NumberComparator::Lte, ranges[0].to);
                }
            }
            None => self.lose(entry),
        }
    }

    fn body(&self, http: &mut HttpDraft, entry: &mut Entry) {
        if self.placeholder == "LEN([BODY])" {
            return match (self.operator, self.right) {
                (">" | "!=", "0") | (">=", "1") => {
                    let why = "a JSON list or object without values is text all the same";
                    entry.change("conditions", self.written, "the body is not empty", why);
                    convert::body(http, TextComparator::NotEmpty, "");
                }
                ("==", "0") => convert::body(http, TextComparator::Empty, ""),
                _ => self.lose(entry),
            };
        }
        // Texts without an expression are easier to read.
        match self.simple_text().or_else(|| self.pattern()) {
            Some((comparator, target)) => convert::body(http, comparator, target),
            None => self.lose(entry),
        }
    }

    fn record(&self, record_type: &str, dns: &mut DnsDraft, entry: &mut Entry) {
        let comparator = |comparator: TextComparator| match comparator {
            TextComparator::Contains => Some(RecordComparator::Contains),
            TextComparator::NotContains => Some(RecordComparator::NotContains),
            TextComparator::Eq => Some(RecordComparator::Eq),
            TextComparator::Neq => Some(RecordComparator::Neq),
            TextComparator::Empty
            | TextComparator::NotEmpty
            | TextComparator::Gt
            | TextComparator::Gte
            | TextComparator::Lt
            | TextComparator::Lte
            | TextComparator::Matches
            | TextComparator::NotMatches => None,
        };
        let texts = if self.placeholder == "[BODY]" { self.record_texts(entry) } else { None };
        let Some(texts) = texts else { return self.lose(entry) };
        for (text_comparator, target) in texts {
            match comparator(text_comparator) {
                Some(comparator) if record_type == RecordKind::Mx.as_str() => {
                    let assertion = convert::mx_assertion(comparator, &target, entry);
                    dns.record_assertions.push(assertion);
                }
                Some(comparator) => dns.record_assertions.push(RecordAssertionDraft {
                    record: Some(record_type.to_owned()),
                    target: Some(target.trim_end_matches('.').to_owned()),
                    comparator: Some(comparator.to_string()),
                }),
                None => self.lose(entry),
            }
        }
    }

    /// Returns the comparison with one text that expresses this one.
    fn simple_text(&self) -> Option<(TextComparator, String)> {
        let is_equal = match self.operator {
            "==" => true,
            "!=" => false,
            _ => return None,
        };
        let equal = if is_equal { TextComparator::Eq } else { TextComparator::Neq };
        let Some(pattern) = function(self.right, "pat") else {
            return self.right_is_plain().then(|| (equal, self.right.to_owned()));
        };
        let contains =
            if is_equal { TextComparator::Contains } else { TextComparator::NotContains };
        let inside = pattern.strip_prefix('*').and_then(|rest| rest.strip_suffix('*'));
        let (comparator, text) = inside.map_or((equal, pattern), |inside| (contains, inside));
        let is_text = !text.contains(['*', '?', '[', '\\']);
        is_text.then(|| (comparator, text.to_owned()))
    }

    /// Returns the comparisons with records that express this one.
    fn record_texts(&self, entry: &mut Entry) -> Option<Vec<(TextComparator, String)>> {
        if let Some(text) = self.simple_text() {
            return Some(vec![text]);
        }
        let pattern = function(self.right, "pat")?;
        if pattern.contains(['?', '[', '\\']) {
            return None;
        }
        let parts: Vec<&str> = pattern.split('*').filter(|part| !part.is_empty()).collect();
        if parts.is_empty() {
            return Some(Vec::new());
        }
        if self.operator != "==" {
            return None;
        }
        let why = "a record is compared with texts that it contains, in any order";
        entry.change("conditions", self.written, "contains each part", why);
        let contains = |part: &&str| (TextComparator::Contains, (*part).to_owned());
        Some(parts.iter().map(contains).collect())
    }
}

/// Returns the operator for swapped sides.
fn mirrored(operator: &str) -> &str {
    match operator {
        "<=" => ">=",
        ">=" => "<=",
        ">" => "<",
        "<" => ">",
        same => same,
    }
}

fn comparator(operator: &str) -> Option<NumberComparator> {
    match operator {
        "==" => Some(NumberComparator::Eq),
        "!=" => Some(NumberComparator::Neq),
        "<=" => Some(NumberComparator::Lte),
        ">=" => Some(NumberComparator::Gte),
        ">" => Some(NumberComparator::Gt),
        "<" => Some(NumberComparator::Lt),
        _ => None,
    }
}

/// Returns the argument of a function such as `any(200, 204)`.
fn function<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')')
}

/// Returns the range of a pattern such as `2*`.
fn status_pattern(pattern: &str) -> Option<StatusRange> {
    let digit: u16 = match pattern.strip_suffix('*')? {
        first if first.len() == 1 => first.parse().ok()?,
        _ => return None,
    };
    (1..=5).contains(&digit).then(|| StatusRange { from: digit * 100, to: digit * 100 + 99 })
}
