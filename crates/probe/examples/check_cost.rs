//! Measures the cost of a check for the probe: CPU time of its thread, and the memory of a check in
//! flight. Covers plain requests, DNS and TLS, 64 at a time against loopback targets. Run with
//! `cargo run --profile dist -p aloft-probe --example check_cost`.

#![expect(clippy::print_stdout, reason = "the example prints its measurements")]

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use aloft_probe::{Egress, Nameservers, Probe, Settings, read_roots};
use domain::check::{CheckPlan, Job, Outcome, Trigger};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use rules::monitor::{Check, HttpCheck, Monitor, MonitorSettings};
use rules::{MonitorId, Periodicity, Region, Timestamp, WorkspaceId};
use testkit::target::{Authority, DnsTarget, HttpTarget, Protocol, ScriptedResponse, Validity};
use tokio::time::Instant;

const CHECKS: u32 = 20_000;
const AT_A_TIME: usize = 64;
const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

/// URLs of the targets, and the authority and nameserver to use.
struct Targets {
    urls: Vec<(&'static str, String)>,
    roots: String,
    nameserver: std::net::SocketAddr,
}

fn main() {
    let (sender, receiver) = channel();
    std::thread::spawn(move || runtime().block_on(serve(&sender)));
    let targets: Targets = receiver.recv().expect("the targets start");
    let probe = Probe::new(Settings {
        egress: Egress::new(true, []),
        nameservers: Nameservers::Given(vec![targets.nameserver]),
        extra_roots: read_roots(targets.roots.as_bytes())
            .expect("the PEM has a certificate authority"),
        concurrency: AT_A_TIME,
        ..Settings::default()
    });
    for (what, url) in targets.urls {
        let job = job(url);
        runtime().block_on(measure(what, &probe, &job));
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime can be created")
}

async fn serve(sender: &std::sync::mpsc::Sender<Targets>) {
    let authority = Authority::new("Example CA");
    let identity = |names: &[&str]| authority.issue(names, Validity::Valid);
    let plain = HttpTarget::start().await;
    let secure = HttpTarget::start_tls(identity(&["127.0.0.1"]), Protocol::Http1).await;
    let second = HttpTarget::start_tls(identity(&["127.0.0.1"]), Protocol::Http2).await;
    for target in [&plain, &secure, &second] {
        target.on("/", ScriptedResponse::ok("x".repeat(64)));
    }
    let dns = DnsTarget::start().await;
    dns.address_of("target.test", "127.0.0.1");
    let targets = Targets {
        urls: vec![
            ("HTTP/1.1", plain.url("/")),
            ("HTTP/1.1, name looked up", plain.url_as("target.test", "/")),
            ("HTTPS, HTTP/1.1", secure.url("/")),
            ("HTTPS, HTTP/2", second.url("/")),
        ],
        roots: authority.pem(),
        nameserver: dns.address(),
    };
    sender.send(targets).expect("the main thread is waiting");
    std::future::pending::<()>().await;
}

async fn measure(what: &str, probe: &Probe, job: &Job) {
    run(probe, job, 100).await;
    let (start, cpu) = (Instant::now(), thread_cpu());
    run(probe, job, CHECKS).await;
    let (took, cpu) = (start.elapsed(), thread_cpu().saturating_sub(cpu));
    println!(
        "{what}: {:.1} µs CPU a check, {:.0} checks/s, {} bytes of future",
        cpu.as_secs_f64() * 1e6 / f64::from(CHECKS),
        f64::from(CHECKS) / took.as_secs_f64(),
        size_of_val(&probe.run(job, || NOW)),
    );
}

async fn run(probe: &Probe, job: &Job, checks: u32) {
    let mut running = FuturesUnordered::new();
    for _ in 0..checks {
        if running.len() >= AT_A_TIME {
            running.next().await;
        }
        running.push(async {
            let attempts = probe.run(job, || NOW).await;
            let outcome = attempts.last().map(|(_, assessment)| assessment.outcome);
            assert_eq!(outcome, Some(Outcome::Success), "{attempts:?}");
        });
    }
    while running.next().await.is_some() {}
}

/// Returns the CPU time of this thread according to the kernel.
fn thread_cpu() -> Duration {
    let text =
        std::fs::read_to_string("/proc/thread-self/schedstat").expect("the example runs on Linux");
    let nanos = text.split(' ').next().and_then(|word| word.parse().ok());
    Duration::from_nanos(nanos.expect("the first word is the CPU time in nanoseconds"))
}

fn job(url: String) -> Job {
    let check = Check::Http(HttpCheck::new(url));
    let monitor = Monitor {
        id: MonitorId::from_bits(1),
        workspace: WorkspaceId::from_bits(1),
        revision: 1,
        settings: MonitorSettings {
            timeout_ms: 10_000,
            degraded_at_ms: Some(0),
            retry: 0,
            active: true,
            ..MonitorSettings::new("measured", Periodicity::ThirtySeconds, check)
        },
        created_at: NOW,
        updated_at: NOW,
    };
    Job {
        plan: Arc::new(CheckPlan::new(&monitor).expect("the monitor is valid")),
        region: Region::ALL[0],
        slot: NOW,
        trigger: Trigger::Scheduled,
        next_slot: NOW + Duration::from_secs(30),
        keep_evidence: false,
    }
}
