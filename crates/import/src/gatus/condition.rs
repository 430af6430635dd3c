//! Conditions of Gatus as assertions (`config/endpoint/condition.go`, `placeholder.go`).

use rules::monitor::{CheckDraft, DnsDraft, HttpDraft, MonitorDraft, RecordAssertionDraft};
use rules::{NumberComparator, RecordComparator, RecordKind, TextComparator};

use super::duration;
use crate::convert::{self, StatusRange};
use crate::preview::Entry;

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
    /// The placeholder on the left, in upper case: Gatus compares it without case.
    placeholder: String,
}

/// Adds the assertions of all conditions.
pub(super) fn import(
    conditions: &[String],
    record_type: &str,
    draft: &mut MonitorDraft,
    entry: &mut Entry,
) {
    // Gatus knows no slow monitors.
    draft.degraded_at = Some(0);
    let names_status = |written: &String| written.to_ascii_uppercase().contains("[STATUS]");
    let accepts_any_status = !conditions.iter().any(names_status);
    for written in conditions {
        let Some(condition) = Condition::of(written) else {
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
    fn of(written: &'a str) -> Option<Self> {
        OPERATORS.iter().find_map(|operator| {
            let (left, right) = written.split_once(operator)?;
            let (left, right, operator) = (left.trim(), right.trim(), operator.trim());
            // Gatus accepts the placeholder on both sides.
            let is_placeholder = |side: &str| side.starts_with('[') || side.starts_with("len(");
            let is_swapped = is_placeholder(right) && !is_placeholder(left);
            let (left, right, operator) = if is_swapped {
                (right, left, mirrored(operator))
            } else {
                (left, right, operator)
            };
            Some(Self { written, operator, right, placeholder: left.to_ascii_uppercase() })
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
            "[CERTIFICATE_EXPIRATION]" => {
                let remedy =
                    "an expired certificate fails the check; renew certificates automatically";
                entry.lose(format!("the condition `{}`", self.written), remedy);
            }
            "[DOMAIN_EXPIRATION]" => {
                entry.lose(
                    format!("the condition `{}`", self.written),
                    "let the registrar renew it",
                );
            }
            _ => self.lose(entry),
        }
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
        match self.texts(entry) {
            Some(texts) => {
                for (comparator, target) in texts {
                    convert::body(http, comparator, target);
                }
            }
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
            | TextComparator::Lte => None,
        };
        let texts = if self.placeholder == "[BODY]" { self.texts(entry) } else { None };
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

    /// Returns the comparisons with texts that express this one.
    fn texts(&self, entry: &mut Entry) -> Option<Vec<(TextComparator, String)>> {
        let is_equal = match self.operator {
            "==" => true,
            "!=" => false,
            _ => return None,
        };
        if function(self.right, "any").is_some() || self.right.starts_with('[') {
            return None;
        }
        let Some(pattern) = function(self.right, "pat") else {
            let comparator = if is_equal { TextComparator::Eq } else { TextComparator::Neq };
            return Some(vec![(comparator, self.right.to_owned())]);
        };
        if pattern.contains(['?', '[', '\\']) {
            return None;
        }
        let parts: Vec<&str> = pattern.split('*').filter(|part| !part.is_empty()).collect();
        let is_anywhere = pattern.starts_with('*') && pattern.ends_with('*');
        match (parts.as_slice(), is_equal) {
            ([], _) => Some(Vec::new()),
            ([whole], true) if *whole == pattern => {
                Some(vec![(TextComparator::Eq, pattern.to_owned())])
            }
            ([part], _) if is_anywhere => {
                let comparator =
                    if is_equal { TextComparator::Contains } else { TextComparator::NotContains };
                Some(vec![(comparator, (*part).to_owned())])
            }
            (parts, true) => {
                let why = "a body is compared with texts that it contains, in any order";
                entry.change("conditions", self.written, "contains each part", why);
                let contains = |part: &&str| (TextComparator::Contains, (*part).to_owned());
                Some(parts.iter().map(contains).collect())
            }
            (_, false) => None,
        }
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
