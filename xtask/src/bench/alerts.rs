//! The scenarios of alerts: how soon after a failing check its message is at the receiver, with a
//! thousand monitors running and everything synced to disk in between; and how long thousands of
//! messages take where one receiver of many hangs. Targets and receivers are threads of this process,
//! so that one clock sees both ends.

mod ends;

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

pub(super) use self::ends::Page;
use self::ends::Receiver;
use super::api::Api;
use super::observe::{self, Load, Wire};
use super::process::{Service, Target};
use super::scenario::Sizes;
use super::{Figure, Scenario};

/// All scenarios, in the order in which they run.
pub(super) const ALERTS: &[Scenario] = &[("alert", alert), ("queue", queue)];

/// Monitors that run beside the one that breaks.
const BESIDE: Load = Load { wire: Wire::Plain, monitors: 1_000, regions: 1 };
/// How often it breaks.
const BREAKS: usize = 300;
/// Receivers, and messages for each.
const RECEIVERS: usize = 100;
const MESSAGES: usize = 100;
/// Longest time that anything is waited for.
const PATIENCE: Duration = Duration::from_mins(2);
const MONITORS: &str = "monitor.v1.MonitorService";
const NOTIFICATIONS: &str = "notification.v1.NotificationService";

/// From the failing check's arrival at its target to the message at the receiver.
fn alert(target: &Target, sizes: &Sizes) -> Result<Vec<Figure>> {
    let folder = tempfile::tempdir()?;
    let key = observe::key(folder.path())?;
    let service = observe::start(folder.path(), target)?;
    observe::create(&service, &key, target, BESIDE)?;
    let (page, receiver) = (Page::start()?, Receiver::start(false)?);
    let mut api = Api::new(service.address, &key)?;
    let monitor = watch(&mut api, &page)?;
    tell(&mut api, &receiver, &[&monitor])?;
    std::thread::sleep(sizes.warm_up);
    let mut took = Vec::with_capacity(BREAKS);
    for _ in 0..BREAKS {
        page.break_down();
        api.call("TriggerMonitor", &json!({ "id": monitor }))?;
        let told = receiver.next(PATIENCE).context("nobody was told of a failure")?;
        let failed = page.last_visit().context("the failing check came")?;
        took.push(told.saturating_duration_since(failed).as_secs_f64() * 1e3);
        page.recover();
        api.call("TriggerMonitor", &json!({ "id": monitor }))?;
        receiver.next(PATIENCE).context("nobody was told of a recovery")?;
    }
    service.stop()?;
    took.sort_by(f64::total_cmp);
    let at = |share: f64| took[((took.len() - 1) as f64 * share).round() as usize];
    let figure = |what: &str, value| Figure {
        name: format!("failing check to message: {what}"),
        monitors: Some(BESIDE.monitors),
        value,
        unit: "ms",
    };
    Ok(vec![figure("p50", at(0.5)), figure("p99", at(0.99))])
}

/// Many messages at once for many receivers, of which one takes what comes and never answers: until
/// the last of the others has its last.
fn queue(_: &Target, _: &Sizes) -> Result<Vec<Figure>> {
    let folder = tempfile::tempdir()?;
    let key = observe::key(folder.path())?;
    let service = Service::start(folder.path(), &observe::NO_LIMIT)?;
    let mut api = Api::new(service.address, &key)?;
    let page = Page::start()?;
    let mut monitors = Vec::with_capacity(MESSAGES);
    for _ in 0..MESSAGES {
        monitors.push(watch(&mut api, &page)?);
    }
    let named: Vec<&str> = monitors.iter().map(String::as_str).collect();
    let mut receivers = Vec::with_capacity(RECEIVERS);
    for number in 0..RECEIVERS {
        let receiver = Receiver::start(number == 0)?;
        tell(&mut api, &receiver, &named)?;
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
            last = last.max(receiver.next(PATIENCE).context("a message did not come")?);
        }
    }
    let waiting = api.call_of(NOTIFICATIONS, "ListDeliveries", &json!({ "state": "waiting" }))?;
    service.stop()?;
    let waiting = waiting["totalSize"].as_u64().context("the log says how many wait")?;
    ensure!(waiting >= 1, "the receiver that hangs has all it was sent");
    Ok(vec![Figure {
        name: "10,000 messages, one receiver of 100 hangs: the others done".to_owned(),
        monitors: Some(MESSAGES),
        value: last.saturating_duration_since(begun).as_secs_f64(),
        unit: "s",
    }])
}

/// A monitor of the page that is told of at its first failure.
fn watch(api: &mut Api, page: &Page) -> Result<String> {
    let monitor = json!({
        "name": "breaks", "url": page.url(), "periodicity": "10m", "retry": 0,
        "regions": ["fly-ams"], "active": true,
    });
    let made = api.call_of(MONITORS, "CreateHttpMonitor", &json!({ "monitor": monitor }))?;
    let id = made["monitor"]["id"].as_str().context("a monitor has an id")?.to_owned();
    api.call("TriggerMonitor", &json!({ "id": id }))?;
    Ok(id)
}

/// A channel of a kind that is never told several events at once.
fn tell(api: &mut Api, receiver: &Receiver, monitors: &[&str]) -> Result<Value> {
    let channel = json!({
        "providerType": "grafana_oncall", "grafanaOncall": { "webhookUrl": receiver.url() },
        "monitorIds": monitors,
    });
    api.call_of(NOTIFICATIONS, "CreateNotification", &json!({ "notification": channel }))
}
