//! The form of a monitor: what everybody fills in, and sections for the rest. A field of the tables
//! that no section names appears in the last one.

use contract::monitor::wire::{
    CreateDnsMonitorRequest, CreateHeartbeatMonitorRequest, CreateHttpMonitorRequest,
    CreateTcpMonitorRequest, UpdateDnsMonitorRequest, UpdateHeartbeatMonitorRequest,
    UpdateHttpMonitorRequest, UpdateTcpMonitorRequest,
};
use contract::region::wire::Region as WireRegion;
use contract::rpc::MethodRequest as _;
use rules::field::{Presence, Resource, Value};
use rules::{MonitorKind, tables};
use serde_json::{Map, Value as Json};

use super::regions::RegionChoice;
use crate::form::{Choice, Form, FormSpec, Input, Messages, Values};

/// Fields that everybody fills in, in their order. Those that a kind does not have are left out.
const START: [&str; 7] = ["url", "uri", "name", "interval", "grace", "periodicity", "active"];
/// Fields and blocks that say whether a response is good.
const CRITERIA: [&str; 9] = [
    "status_code_assertions",
    "body_assertions",
    "json_assertions",
    "header_assertions",
    "record_assertions",
    "timeout",
    "degraded_at",
    "certificate_warn_days",
    "retry",
];
/// Fields and blocks of the request.
const REQUEST: [&str; 7] = [
    "method",
    "headers",
    "body",
    "follow_redirects",
    "ip_version",
    "client_certificate",
    "client_key",
];
const REGIONS: &str = "regions";

/// Form of a monitor.
#[derive(Clone, Debug)]
pub(crate) struct MonitorForm {
    pub(crate) message: Option<String>,
    pub(crate) start: Vec<Input>,
    pub(crate) sections: Vec<FormSection>,
    /// `None` for a kind that no probe checks.
    pub(crate) regions: Option<RegionChoice>,
}

/// A part of the form that is closed until it has a value of its own.
#[derive(Clone, Debug)]
pub(crate) struct FormSection {
    pub(crate) title: &'static str,
    /// Summary of what happens without a change.
    pub(crate) help: String,
    pub(crate) inputs: Vec<Input>,
    pub(crate) is_open: bool,
}

/// The services of a kind.
pub(crate) struct KindMethods {
    pub(crate) create: &'static str,
    pub(crate) update: &'static str,
}

/// Returns the methods that create and update monitors of a kind.
pub(crate) const fn methods(kind: MonitorKind) -> KindMethods {
    match kind {
        MonitorKind::Http => KindMethods {
            create: CreateHttpMonitorRequest::PATH,
            update: UpdateHttpMonitorRequest::PATH,
        },
        MonitorKind::Tcp => KindMethods {
            create: CreateTcpMonitorRequest::PATH,
            update: UpdateTcpMonitorRequest::PATH,
        },
        MonitorKind::Dns => KindMethods {
            create: CreateDnsMonitorRequest::PATH,
            update: UpdateDnsMonitorRequest::PATH,
        },
        MonitorKind::Heartbeat => KindMethods {
            create: CreateHeartbeatMonitorRequest::PATH,
            update: UpdateHeartbeatMonitorRequest::PATH,
        },
    }
}

/// Returns the form of a kind with these values.
pub(super) fn form(
    kind: MonitorKind,
    known: &[WireRegion],
    (values, messages): (&Values, &Messages),
) -> MonitorForm {
    let table = tables::monitor(kind);
    let has = |name: &&str| table.writable().any(|it| it == *name);
    let of = |names: &[&'static str]| names.iter().copied().filter(has).collect::<Vec<_>>();
    let is_elsewhere =
        |name: &&str| *name == REGIONS || [&START[..], &CRITERIA, &REQUEST].concat().contains(name);
    let rest: Vec<&str> = table.writable().filter(|name| !is_elsewhere(name)).collect();
    let choices = |path: &str| choices(table, path);
    let part = |main: &[&str], more: &[&str]| {
        let spec = FormSpec { resource: table, main, more, choices: &choices };
        Form::new(spec, values, messages)
    };
    let section = |title, help: String, names: &[&str]| {
        let Form { more: inputs, is_more_open: is_open, .. } = part(&[], names);
        FormSection { title, help, inputs, is_open }
    };
    let sections = [
        section("Success criteria", criteria_help(kind), &of(&CRITERIA)),
        section("Request", "A GET request without headers and body.".to_owned(), &of(&REQUEST)),
        section("Advanced", "Tags, description and visibility.".to_owned(), &rest),
    ];
    let start = part(&of(&START), &[]);
    let regions = has(&REGIONS).then(|| {
        let error = part(&[REGIONS], &[]).main.into_iter().find_map(|input| match input {
            Input::Field(field) => field.error,
            Input::Group(_) | Input::Rows(_) => None,
        });
        RegionChoice::new(known, values, error)
    });
    MonitorForm {
        message: start.message,
        start: start.main.into_iter().map(|it| in_words_of_form(it, target(table))).collect(),
        sections: sections.into_iter().filter(|it| !it.inputs.is_empty()).collect(),
        regions,
    }
}

/// Returns the name of the field that holds the target of a kind. `None` for a kind that checks nothing.
pub(super) fn target(resource: &Resource) -> Option<&'static str> {
    let is_target = |name: &&str| ["url", "uri"].contains(name);
    resource.writable().find(is_target)
}

/// Returns the request that creates or updates this monitor.
pub(super) fn request(monitor: Map<String, Json>) -> Json {
    Json::Object(Map::from_iter([("monitor".to_owned(), Json::Object(monitor))]))
}

fn criteria_help(kind: MonitorKind) -> String {
    let expected = match kind {
        MonitorKind::Http => "A status code of 2xx",
        MonitorKind::Tcp => "A connection",
        MonitorKind::Dns => "An address record",
        // It has no criteria besides its times.
        MonitorKind::Heartbeat => return String::new(),
    };
    let table = tables::monitor(kind);
    let (timeout, retries) = (default_number(table, "timeout"), default_number(table, "retry"));
    format!("{expected} within {} seconds, with up to {retries} retries.", timeout / 1_000)
}

/// Returns the default of a number. Panics if it has none.
fn default_number(table: &Resource, name: &str) -> i32 {
    let Presence::Default(Value::Integer(number)) = table.field(name).presence else {
        panic!("`{name}` has no default number");
    };
    number
}

/// Says what the form does: without a name, the monitor gets that of its target.
fn in_words_of_form(input: Input, target: Option<&str>) -> Input {
    match input {
        Input::Field(mut field) if field.name == "name" && target.is_some() => {
            field.is_required = false;
            field.help = "If it is empty, the monitor is named after its target.";
            Input::Field(field)
        }
        Input::Field(mut field) if field.name == "active" => {
            field.help = "Without checks, the monitor is paused.";
            Input::Field(field)
        }
        input @ (Input::Field(_) | Input::Group(_) | Input::Rows(_)) => input,
    }
}

/// Returns the choices of a field of the resource, or of a block as `block.field`, in words.
fn choices(table: &Resource, path: &str) -> Option<Vec<Choice>> {
    let names = match path.split_once('.') {
        None if path == "periodicity" => table.field(path).shape.names()?,
        Some((block, "comparator")) => {
            let block = table.blocks.iter().find(|it| it.name == block)?;
            block.fields.iter().find(|it| it.name == "comparator")?.shape.names()?
        }
        None | Some(_) => return None,
    };
    let choice = |word: &&str| Choice { value: (*word).to_owned(), label: in_words(word) };
    Some(names.iter().map(choice).collect())
}

/// Returns an interval or a comparator in words.
pub(super) fn in_words(word: &str) -> String {
    let words = match word {
        "30s" => "30 seconds",
        "1m" => "minute",
        "5m" => "5 minutes",
        "10m" => "10 minutes",
        "30m" => "30 minutes",
        "1h" => "hour",
        "eq" => "is",
        "neq" => "is not",
        "gt" => "is greater than",
        "gte" => "is at least",
        "lt" => "is less than",
        "lte" => "is at most",
        "contains" => "contains",
        "not_contains" => "does not contain",
        "empty" => "is empty",
        "not_empty" => "is not empty",
        "matches" => "matches the expression",
        "not_matches" => "does not match the expression",
        other => other,
    };
    words.to_owned()
}

#[cfg(test)]
mod tests {
    use rules::{NumberComparator, Periodicity, RecordComparator, TextComparator};

    use super::*;

    #[test]
    fn every_argument_has_an_input() {
        for kind in MonitorKind::ALL {
            let values = Values::default();
            let form = form(*kind, &[], (&values, &Messages::default()));
            let inputs = form.start.iter().chain(form.sections.iter().flat_map(|it| &it.inputs));
            let regions = form.regions.as_ref().map(|_| REGIONS);
            let mut shown: Vec<&str> = inputs.map(Input::name).chain(regions).collect();
            let mut all: Vec<&str> = tables::monitor(*kind).writable().collect();
            shown.sort_unstable();
            all.sort_unstable();
            assert_eq!(shown, all, "{kind}");
        }
    }

    #[test]
    fn help_states_the_defaults_of_the_table() {
        let form = form(MonitorKind::Http, &[], (&Values::default(), &Messages::default()));
        let help = "A status code of 2xx within 45 seconds, with up to 3 retries.";
        assert_eq!(form.sections[0].help, help);
    }

    #[test]
    fn every_comparator_and_interval_has_words() {
        let all = [
            NumberComparator::WORDS,
            TextComparator::WORDS,
            RecordComparator::WORDS,
            Periodicity::WORDS,
        ];
        for word in all.concat() {
            assert!(word == "contains" || in_words(word) != word, "{word}");
        }
    }
}
