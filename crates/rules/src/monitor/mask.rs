//! Partial updates: copies the fields in an `update_mask` and keeps all others (design §4). `parse`
//! validates the result.

use super::{CheckDraft, DnsDraft, HttpDraft, MonitorDraft, TcpDraft};
use crate::mask::{check, replace};
use crate::{Violation, Violations, tables};

impl MonitorDraft {
    /// Copies the fields in `mask` (the specification's names) from `other`, clearing those that
    /// `other` omits. Rejects unknown names and another kind of monitor without copying anything.
    pub fn apply_mask(&mut self, other: Self, mask: &[String]) -> Result<(), Violations> {
        let kind = self.check.kind();
        if other.check.kind() != kind {
            let allowed = format!("must stay {kind}: a monitor keeps its kind");
            return Err(Violation::new("type", other.check.kind(), allowed).into());
        }
        check(tables::monitor(kind), mask)?;
        self.apply_named(other, |name| mask.iter().any(|named| named == name));
        Ok(())
    }

    fn apply_named(&mut self, other: Self, named: impl Fn(&str) -> bool) {
        // Destructured, so that a new field cannot be forgotten here.
        let Self {
            name,
            periodicity,
            timeout,
            degraded_at,
            retry,
            active,
            public,
            description,
            regions,
            check,
        } = other;
        replace(&mut self.name, name, named("name"));
        replace(&mut self.periodicity, periodicity, named("periodicity"));
        replace(&mut self.timeout, timeout, named("timeout"));
        replace(&mut self.degraded_at, degraded_at, named("degraded_at"));
        replace(&mut self.retry, retry, named("retry"));
        replace(&mut self.active, active, named("active"));
        replace(&mut self.public, public, named("public"));
        replace(&mut self.description, description, named("description"));
        replace(&mut self.regions, regions, named("regions"));
        match (&mut self.check, check) {
            (CheckDraft::Http(mine), CheckDraft::Http(other)) => mine.apply_named(other, named),
            (CheckDraft::Tcp(mine), CheckDraft::Tcp(TcpDraft { uri })) => {
                replace(&mut mine.uri, uri, named("uri"));
            }
            (CheckDraft::Dns(mine), CheckDraft::Dns(DnsDraft { uri, record_assertions })) => {
                replace(&mut mine.uri, uri, named("uri"));
                replace(&mut mine.record_assertions, record_assertions, named("record_assertions"));
            }
            (CheckDraft::Http(_) | CheckDraft::Tcp(_) | CheckDraft::Dns(_), _) => {
                unreachable!("`apply_mask` checked that the kinds are equal")
            }
        }
    }
}

impl HttpDraft {
    fn apply_named(&mut self, other: Self, named: impl Fn(&str) -> bool) {
        let Self {
            url,
            method,
            body,
            follow_redirects,
            headers,
            status_code_assertions,
            body_assertions,
            header_assertions,
        } = other;
        replace(&mut self.url, url, named("url"));
        replace(&mut self.method, method, named("method"));
        replace(&mut self.body, body, named("body"));
        replace(&mut self.follow_redirects, follow_redirects, named("follow_redirects"));
        replace(&mut self.headers, headers, named("headers"));
        replace(
            &mut self.status_code_assertions,
            status_code_assertions,
            named("status_code_assertions"),
        );
        replace(&mut self.body_assertions, body_assertions, named("body_assertions"));
        replace(&mut self.header_assertions, header_assertions, named("header_assertions"));
    }
}
