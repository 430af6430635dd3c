//! Scenarios of alerts. `alert` measures the time from a failing check to its message at the
//! receiver, with a thousand monitors running and everything synced to disk. `queue` measures the
//! time for thousands of messages if one receiver of many hangs. Targets and receivers are threads
//! of this process, so that one clock measures both ends.

mod ends;

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

pub(super) use self::ends::FlippingPage;
use self::ends::Receiver;
use super::api::Api;
use super::observe::{self, Load, Wire};
use super::process::{RunningService, Target};
use super::sizes::Sizes;
use super::{Figure, Scenario};

/// All scenarios in order.
pub(super) const ALERTS: &[Scenario] = &[("alert", alert), ("queue", queue)];

/// Monitors that run next to the one that breaks.
const BACKGROUND_LOAD: Load = Load { wire: Wire::Plain, monitors: 1_000, regions: 1 };
/// Number of times that it breaks.
const BREAKS: usize = 300;
/// Number of receivers.
const RECEIVERS: usize = 100;
const MESSAGES: usize = 100;
/// Timeout.
const PATIENCE: Duration = Duration::from_mins(2);
const MONITORS: &str = "monitor.v1.MonitorService";
const NOTIFICATIONS: &str = "notification.v1.NotificationService";

/// Measures the time from the failing check's arrival at its target to the message at the receiver.
fn alert(target: &Target, sizes: &Sizes) -> Result<Vec<Figure>> {
    let folder = tempfile::tempdir()?;
    let key = observe::key(folder.path())?;
    let service = observe::start(folder.path(), target)?;
    observe::create(&service, &key, target, BACKGROUND_LOAD)?;
    let (page, receiver) = (FlippingPage::start()?, Receiver::start(false)?);
    let mut api = Api::new(service.address, &key)?;
    let monitor = create_monitor(&mut api, &page)?;
    create_channel(&mut api, &receiver, &[&monitor])?;
    std::thread::sleep(sizes.warm_up);
    let mut took = Vec::with_capacity(BREAKS);
    for _ in 0..BREAKS {
        page.break_down();
        api.call("TriggerMonitor", &json!({ "id": monitor }))?;
        let received_at =
            receiver.next(PATIENCE).context("no message about the failure arrived")?;
        let failed = page.last_visit().context("the failing check did not arrive")?;
        took.push(received_at.saturating_duration_since(failed).as_secs_f64() * 1e3);
        page.recover();
        api.call("TriggerMonitor", &json!({ "id": monitor }))?;
        receiver.next(PATIENCE).context("no message about the recovery arrived")?;
    }
    service.stop()?;
    took.sort_by(f64::total_cmp);
    let at = |share: f64| took[((took.len() - 1) as f64 * share).round() as usize];
    let figure = |what: &str, value| Figure {
        name: format!("failing check to message: {what}"),
        monitors: Some(BACKGROUND_LOAD.monitors),
        value,
        unit: "ms",
    };
    Ok(vec![figure("p50", at(0.5)), figure("p99", at(0.99))])
}

/// Measures the time until all receivers but one have all their messages. The remaining receiver
/// accepts requests and never responds.
fn queue(_: &Target, _: &Sizes) -> Result<Vec<Figure>> {
    let folder = tempfile::tempdir()?;
    let key = observe::key(folder.path())?;
    let service = RunningService::start(folder.path(), &observe::NO_LIMIT)?;
    let mut api = Api::new(service.address, &key)?;
    let page = FlippingPage::start()?;
    let mut monitors = Vec::with_capacity(MESSAGES);
    for _ in 0..MESSAGES {
        monitors.push(create_monitor(&mut api, &page)?);
    }
    let named: Vec<&str> = monitors.iter().map(String::as_str).collect();
    let mut receivers = Vec::with_capacity(RECEIVERS);
    for number in 0..RECEIVERS {
        let receiver = Receiver::start(number == 0)?;
        create_channel(&mut api, &receiver, &named)?;
        receivers.push(receiver);
    }
    page.break_down();
    let begun = Instant::now();
    for monitor in &monitors {
        api.call("TriggerMonitor", &json!({ "id": monitor }))?;
    }
    let mut last = begun;
    for receiver in &receivers[1..] {
        for _ in 0..MESSAGES {
            last = last.max(receiver.next(PATIENCE).context("a message did not arrive")?);
        }
    }
    let waiting = api.call_of(NOTIFICATIONS, "ListDeliveries", &json!({ "state": "waiting" }))?;
    service.stop()?;
    let waiting = waiting["totalSize"].as_u64().context("the response has no totalSize")?;
    ensure!(waiting >= 1, "the receiver that hangs got all its messages");
    Ok(vec![Figure {
        name: "10,000 messages, one receiver of 100 hangs: the others done".to_owned(),
        monitors: Some(MESSAGES),
        value: last.saturating_duration_since(begun).as_secs_f64(),
        unit: "s",
    }])
}

/// Creates a monitor of the page that alerts at its first failure.
fn create_monitor(api: &mut Api, page: &FlippingPage) -> Result<String> {
    let monitor = json!({
        "name": "breaks", "url": page.url(), "periodicity": "10m", "retry": 0,
        "regions": ["fly-ams"], "active": true,
    });
    let made = api.call_of(MONITORS, "CreateHttpMonitor", &json!({ "monitor": monitor }))?;
    let id = made["monitor"]["id"].as_str().context("the monitor has no id")?.to_owned();
    api.call("TriggerMonitor", &json!({ "id": id }))?;
    Ok(id)
}

/// Creates a channel of a kind that never combines several events in a message.
fn create_channel(api: &mut Api, receiver: &Receiver, monitors: &[&str]) -> Result<Value> {
    let channel = json!({
        "providerType": "grafana_oncall", "grafanaOncall": { "webhookUrl": receiver.url() },
        "monitorIds": monitors,
    });
    api.call_of(NOTIFICATIONS, "CreateNotification", &json!({ "notification": channel }))
}
