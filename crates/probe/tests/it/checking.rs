//! Helpers for these tests: build a plan from settings, run one job with a probe that may reach
//! loopback, and inspect the result.

use std::sync::Arc;
use std::time::Duration;

use aloft_probe::{Egress, Nameservers, Probe, Settings};
use domain::check::{
    Assessment, Attempt, CheckPlan, DnsObservation, Failure, FailureKind, HttpObservation, Job,
    Observation, Outcome, TcpObservation, Trigger,
};
use rules::monitor::{
    Check, DnsCheck, Header, HttpCheck, Monitor, MonitorSettings, TcpCheck, TextAssertion,
};
use rules::{Method, MonitorId, Periodicity, Region, TextComparator, Timestamp, WorkspaceId};
use testkit::target::DnsTarget;

/// Due time of every slot in these tests.
pub(crate) const SLOT: Timestamp = Timestamp::from_millis(1_700_000_000_000);

/// A check to run once.
pub(crate) struct Checking {
    pub(crate) check: Check,
    pub(crate) settings: Settings,
    pub(crate) timeout_ms: u32,
    pub(crate) degraded_at_ms: u32,
    pub(crate) retry: u8,
}

/// Result of the check, in particular of its last attempt.
#[derive(Debug)]
pub(crate) struct Outcomes {
    pub(crate) attempts: Vec<(Attempt, Assessment)>,
}

/// Creates a GET of `url` with a probe that may reach loopback.
pub(crate) fn get(url: impl Into<String>) -> Checking {
    checking(Check::Http(HttpCheck::new(url)))
}

/// Creates a TCP check of `host:port`.
pub(crate) fn connect(uri: impl Into<String>) -> Checking {
    checking(Check::Tcp(TcpCheck::new(uri)))
}

/// Creates a DNS check of `name`.
pub(crate) fn look_up(name: &str, dns: &DnsTarget) -> Checking {
    let check = DnsCheck { uri: name.to_owned(), record_assertions: Vec::new() };
    checking(Check::Dns(check)).asking(dns)
}

fn checking(check: Check) -> Checking {
    let settings = Settings {
        egress: Egress::new(true, []),
        nameservers: Nameservers::Given(Vec::new()),
        ..Settings::default()
    };
    Checking { check, settings, timeout_ms: 30_000, degraded_at_ms: 0, retry: 0 }
}

impl Checking {
    pub(crate) fn http(mut self, change: impl FnOnce(&mut HttpCheck)) -> Self {
        if let Check::Http(http) = &mut self.check {
            change(http);
        }
        self
    }

    pub(crate) fn tcp(mut self, change: impl FnOnce(&mut TcpCheck)) -> Self {
        if let Check::Tcp(tcp) = &mut self.check {
            change(tcp);
        }
        self
    }

    pub(crate) fn dns(mut self, change: impl FnOnce(&mut DnsCheck)) -> Self {
        if let Check::Dns(dns) = &mut self.check {
            change(dns);
        }
        self
    }

    pub(crate) fn method(self, method: Method, body: &str) -> Self {
        self.http(|http| {
            http.method = method;
            body.clone_into(&mut http.body);
        })
    }

    pub(crate) fn header(self, key: &str, value: &str) -> Self {
        self.http(|http| http.headers.push(Header { key: key.to_owned(), value: value.to_owned() }))
    }

    pub(crate) fn body_contains(self, target: &str) -> Self {
        self.body(TextComparator::Contains, target)
    }

    pub(crate) fn body(self, comparator: TextComparator, target: &str) -> Self {
        let assertion = TextAssertion { target: target.to_owned(), comparator };
        self.http(|http| http.body_assertions.push(assertion))
    }

    pub(crate) fn asking(mut self, dns: &DnsTarget) -> Self {
        self.settings.nameservers = Nameservers::Given(vec![dns.address()]);
        self
    }

    pub(crate) fn behind(mut self, egress: Egress) -> Self {
        self.settings.egress = egress;
        self
    }

    pub(crate) fn trusting(mut self, pem: &str) -> Self {
        self.settings.extra_roots = aloft_probe::read_roots(pem.as_bytes()).unwrap();
        self
    }

    pub(crate) fn body_memory(mut self, bytes: usize) -> Self {
        self.settings.body_memory = bytes;
        self
    }

    pub(crate) fn timeout_ms(mut self, timeout_ms: u32) -> Self {
        self.timeout_ms = timeout_ms;
        self
    }

    pub(crate) fn degraded_at_ms(mut self, degraded_at_ms: u32) -> Self {
        self.degraded_at_ms = degraded_at_ms;
        self
    }

    pub(crate) fn retry(mut self, retry: u8) -> Self {
        self.retry = retry;
        self
    }

    pub(crate) fn plan(&self) -> CheckPlan {
        let monitor = Monitor {
            id: MonitorId::from_bits(7),
            workspace: WorkspaceId::from_bits(1),
            revision: 1,
            settings: MonitorSettings {
                timeout_ms: self.timeout_ms,
                degraded_at_ms: Some(self.degraded_at_ms),
                retry: self.retry,
                active: true,
                ..MonitorSettings::new("tested", Periodicity::TenMinutes, self.check.clone())
            },
            created_at: SLOT,
            updated_at: SLOT,
        };
        CheckPlan::new(&monitor).unwrap()
    }

    pub(crate) async fn run(self) -> Outcomes {
        self.run_until(SLOT + Duration::from_mins(10)).await
    }

    /// Runs the check with this time on the probe's clock.
    pub(crate) async fn run_at(self, now: Timestamp) -> Outcomes {
        let job = job(self.plan(), now + Duration::from_mins(10));
        Outcomes { attempts: Probe::new(self.settings).run(&job, || now).await }
    }

    /// Runs the check, with the next slot at this time.
    pub(crate) async fn run_until(self, next_slot: Timestamp) -> Outcomes {
        let job = job(self.plan(), next_slot);
        Outcomes { attempts: Probe::new(self.settings).run(&job, || SLOT).await }
    }
}

/// Creates a scheduled job of `plan`, with the next slot at this time.
pub(crate) fn job(plan: CheckPlan, next_slot: Timestamp) -> Job {
    Job {
        plan: Arc::new(plan),
        region: Region::ALL[0],
        slot: SLOT,
        trigger: Trigger::Scheduled,
        next_slot,
        keep_evidence: true,
    }
}

impl Outcomes {
    pub(crate) fn last(&self) -> &(Attempt, Assessment) {
        self.attempts.last().unwrap()
    }

    pub(crate) fn outcome(&self) -> Outcome {
        self.last().1.outcome
    }

    pub(crate) fn latency_us(&self) -> u32 {
        self.last().0.latency_us
    }

    /// Returns the reasons why it is not a success.
    pub(crate) fn reasons(&self) -> &[String] {
        &self.last().1.reasons
    }

    pub(crate) fn failure(&self) -> &Failure {
        self.last().0.failure.as_ref().unwrap_or_else(|| panic!("no failure, but {self:?}"))
    }

    pub(crate) fn failure_kind(&self) -> FailureKind {
        self.failure().kind
    }

    pub(crate) fn http(&self) -> &HttpObservation {
        match &self.last().0.observation {
            Observation::Http(seen) => seen,
            Observation::Tcp(_) | Observation::Dns(_) => panic!("not an HTTP check: {self:?}"),
        }
    }

    /// Returns the number of kept body bytes, and whether the body was longer.
    pub(crate) fn kept_body(&self) -> (usize, bool) {
        let body = &self.http().body;
        (body.bytes.len(), body.truncated)
    }

    pub(crate) fn tcp(&self) -> &TcpObservation {
        match &self.last().0.observation {
            Observation::Tcp(seen) => seen,
            Observation::Http(_) | Observation::Dns(_) => panic!("not a TCP check: {self:?}"),
        }
    }

    pub(crate) fn dns(&self) -> &DnsObservation {
        match &self.last().0.observation {
            Observation::Dns(seen) => seen,
            Observation::Http(_) | Observation::Tcp(_) => panic!("not a DNS check: {self:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn assert_success(&self) {
        assert_eq!(self.outcome(), Outcome::Success, "{:?}", self.attempts);
    }
}

/// Replaces the random port of a target in `text` by `PORT`.
pub(crate) fn portless(text: &str, port: u16) -> String {
    text.replace(&port.to_string(), "PORT")
}
