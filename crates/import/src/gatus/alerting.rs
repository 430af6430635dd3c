//! Alerts of endpoints and the providers that send them. A provider becomes a channel, and each of its
//! overrides another one.

use serde_json::{Map, Value};

use super::{duration, provider};
use crate::assembly::Assembly;
use crate::channel;
use crate::preview::{Entry, ObjectKind};
use crate::record::Record;

/// Failures in a row before an alert, if none are set (`alerting/alert/alert.go`).
const FAILURES_DEFAULT: i64 = 3;
/// Successes in a row before a recovery, if none are set.
const SUCCESSES_DEFAULT: i64 = 2;

/// Owner of the settings of a receiver. A group and an endpoint may have the same name.
#[derive(Clone, PartialEq, Eq)]
enum Of {
    Provider,
    Group(String),
    Endpoint(String),
}

/// A receiver of alerts with the endpoints that it serves.
struct Receiver {
    /// Key in `alerting`, such as `slack`.
    kind: String,
    of: Of,
    settings: Map<String, Value>,
    monitors: Vec<String>,
    /// Whether an endpoint wants no message when it recovers.
    hides_recoveries: bool,
}

/// All providers, and the defaults of their alerts.
#[derive(Default)]
pub(super) struct Alerting {
    receivers: Vec<Receiver>,
    defaults: Vec<(String, Map<String, Value>)>,
    /// Problems of the section.
    wrong: Vec<String>,
}

impl Alerting {
    /// Reads the section `alerting`.
    pub(super) fn read(config: &mut Record) -> Self {
        let mut alerting = Self::default();
        let Some(mut section) = config.record("alerting") else { return alerting };
        for kind in section.names() {
            let Some(mut provider) = section.record(&kind) else { continue };
            if let Some(Value::Object(defaults)) = provider.take("default-alert") {
                alerting.defaults.push((kind.clone(), defaults));
            }
            let overrides = provider.records("overrides");
            let settings = fields(provider, &mut alerting.wrong);
            for mut group in overrides {
                let name = group.text("group").unwrap_or_default();
                let settings = overridden(&settings, fields(group, &mut alerting.wrong));
                alerting.add(&kind, Of::Group(name), settings);
            }
            alerting.add(&kind, Of::Provider, settings);
        }
        fields(section, &mut alerting.wrong);
        alerting
    }

    fn add(&mut self, kind: &str, of: Of, settings: Map<String, Value>) {
        self.receivers.push(Receiver {
            kind: kind.to_owned(),
            of,
            settings,
            monitors: Vec::new(),
            hides_recoveries: false,
        });
    }

    /// Reads the alerts of an endpoint. Returns the largest number of failures before an alert.
    pub(super) fn of_endpoint(
        &mut self,
        record: &mut Record,
        monitor: &str,
        group: Option<&str>,
        name: &str,
        entry: &mut Entry,
    ) -> Option<i64> {
        let mut failures = None;
        for alert in record.records("alerts") {
            let mut alert = self.with_defaults(alert, entry);
            let kind = alert.text("type").unwrap_or_default();
            if alert.flag("enabled") == Some(false) {
                continue;
            }
            let least = alert.integer("failure-threshold").filter(|least| *least > 0);
            failures = failures.max(Some(least.unwrap_or(FAILURES_DEFAULT)));
            let successes = alert.integer("success-threshold").unwrap_or(SUCCESSES_DEFAULT);
            if successes > SUCCESSES_DEFAULT {
                let what = format!("`success-threshold: {successes}`");
                entry.lose(what, "a monitor recovers once most regions succeed");
            }
            if duration::take(&mut alert, "minimum-reminder-interval", entry).is_some() {
                entry.lose("reminders", "set `remindEvery` in the preferences of its channels");
            }
            if alert.take("description").is_some() {
                entry
                    .lose("the description of an alert", "write it into the monitor's description");
            }
            let hides_recoveries = alert.flag("send-on-resolved") != Some(true);
            let settings = alert.record("provider-override");
            let settings = settings.map(|settings| fields(settings, &mut self.wrong));
            entry.close(alert);
            match self.receiver(&kind, group, name, settings) {
                Some(receiver) => {
                    receiver.monitors.push(monitor.to_owned());
                    receiver.hides_recoveries |= hides_recoveries;
                }
                None => entry.lose(
                    format!("alerts of the type `{kind}`"),
                    "configure the provider under `alerting`, and import again",
                ),
            }
        }
        failures
    }

    /// Fills the fields that an alert leaves to its provider.
    fn with_defaults(&self, alert: Record, entry: &mut Entry) -> Record {
        let kind = alert.peek("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut wrong = Vec::new();
        let mut alert = fields(alert, &mut wrong);
        for problem in wrong {
            entry.lose(problem, "correct the value in the source, and import again");
        }
        let defaults = self.defaults.iter().find(|(of, _)| *of == kind);
        for (name, value) in defaults.into_iter().flat_map(|(_, defaults)| defaults) {
            alert.entry(name.clone()).or_insert_with(|| value.clone());
        }
        Record::from(alert)
    }

    /// Returns the receiver of an alert: an override of its own, that of its group, or the provider.
    fn receiver(
        &mut self,
        kind: &str,
        group: Option<&str>,
        name: &str,
        settings: Option<Map<String, Value>>,
    ) -> Option<&mut Receiver> {
        let at_of = |of: &Of| {
            self.receivers.iter().position(|receiver| receiver.kind == kind && receiver.of == *of)
        };
        let by_group = group.and_then(|group| at_of(&Of::Group(group.to_owned())));
        let at = by_group.or_else(|| at_of(&Of::Provider))?;
        let Some(settings) = settings else { return self.receivers.get_mut(at) };
        let settings = overridden(&self.receivers[at].settings, settings);
        self.add(kind, Of::Endpoint(name.to_owned()), settings);
        self.receivers.last_mut()
    }

    /// Imports all receivers as channels.
    pub(super) fn import(self, assembly: &mut Assembly) {
        if !self.wrong.is_empty() {
            let mut entry = Entry::new(ObjectKind::Setting, "alerting");
            for problem in self.wrong {
                entry.lose(problem, "correct the value in the source, and import again");
            }
            assembly.note(entry);
        }
        for receiver in self.receivers {
            let Receiver { kind, of, settings, monitors, hides_recoveries } = receiver;
            let name = match of {
                Of::Provider => kind.clone(),
                Of::Group(of) | Of::Endpoint(of) => format!("{kind} {of}"),
            };
            let mut entry = Entry::new(ObjectKind::Channel, &name);
            let mut settings = Record::from(settings);
            let Some(mut drafts) = provider::drafts(&kind, &mut settings, &mut entry) else {
                let remedy = "use a `webhook` channel to a program that passes messages on";
                entry.lose(format!("the provider `{kind}`"), remedy);
                assembly.note(entry);
                continue;
            };
            for draft in &mut drafts {
                let address = draft.name.take();
                draft.name =
                    Some(address.map_or_else(|| name.clone(), |to| format!("{name} {to}")));
            }
            if hides_recoveries {
                let why = "choose the events in the channel's preferences";
                entry.change("send-on-resolved", false, true, why);
            }
            for setting in settings.names() {
                entry.lose(format!("the setting `{setting}`"), channel::remedy_of(&setting));
                settings.take(&setting);
            }
            entry.close(settings);
            assembly.channels(drafts, &monitors, entry);
        }
    }
}

/// Returns all fields of an object. `wrong` gets what was wrong with those that were read.
fn fields(mut record: Record, wrong: &mut Vec<String>) -> Map<String, Value> {
    let names = record.names();
    let fields =
        names.into_iter().filter_map(|name| Some((name.clone(), record.take(&name)?))).collect();
    wrong.extend(record.finish().1);
    fields
}

fn overridden(base: &Map<String, Value>, with: Map<String, Value>) -> Map<String, Value> {
    let mut merged = base.clone();
    merged.extend(with);
    merged
}
