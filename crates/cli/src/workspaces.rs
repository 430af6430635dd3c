//! Workspaces for people: a table of all, and one with its limits and its usage. The commands are in `admin`.

use rules::Periodicity;
use server::control::WorkspaceDetails;

use crate::output;

/// Returns a table of workspaces, a line each. `3 of 50` is the usage and the limit.
pub(crate) fn table(all: &[WorkspaceDetails]) -> String {
    let heads = [
        "SLUG",
        "NAME",
        "PLAN",
        "MONITORS",
        "PERIOD",
        "PAGES",
        "CHANNELS",
        "RETENTION",
        "ID",
        "CREATED",
    ];
    let row = |details: &WorkspaceDetails| {
        let workspace = &details.workspace;
        let [monitors, period, pages, channels, retention] =
            quantities(details).map(Quantity::short);
        let (slug, name) = (workspace.slug.clone(), workspace.name.clone());
        let (id, made) = (workspace.id.to_string(), output::moment(workspace.created_at));
        let plan = workspace.plan.clone();
        [slug, name, plan, monitors, period, pages, channels, retention, id, made]
    };
    let heads = heads.map(str::to_owned);
    output::table(&[heads].into_iter().chain(all.iter().map(row)).collect::<Vec<_>>())
}

/// Returns a workspace with its limits and its usage.
pub(crate) fn details(details: &WorkspaceDetails) -> String {
    let workspace = &details.workspace;
    let about = [
        ["Slug", &workspace.slug],
        ["Name", &workspace.name],
        ["Plan", &workspace.plan],
        ["Weight", &details.limits.weight.to_string()],
        ["ID", &workspace.id.to_string()],
        ["Created", &output::moment(workspace.created_at)],
        ["Manages probes", if details.is_operator { "yes" } else { "no" }],
    ];
    let about = about.map(|line| line.map(str::to_owned));
    let heads = ["", "USED", "LIMIT"].map(str::to_owned);
    let rows = quantities(details).map(|quantity| {
        let limit = quantity.limit.unwrap_or_else(|| "none".to_owned());
        [quantity.name.to_owned(), quantity.used, limit]
    });
    let quantities = [heads].into_iter().chain(rows).collect::<Vec<_>>();
    format!("{}\n{}", output::table(&about), output::table(&quantities))
}

/// A quantity that plans limit.
struct Quantity {
    name: &'static str,
    used: String,
    limit: Option<String>,
}

impl Quantity {
    fn short(self) -> String {
        match self.limit {
            Some(limit) => format!("{} of {limit}", self.used),
            None => self.used,
        }
    }
}

fn quantities(details: &WorkspaceDetails) -> [Quantity; 5] {
    let (usage, limits) = (&details.usage, &details.limits);
    let count = |name, used: u32, limit: Option<u32>| Quantity {
        name,
        used: used.to_string(),
        limit: limit.map(|most| most.to_string()),
    };
    let period = |period: Option<Periodicity>| period.map(|period| period.to_string());
    let days = |days: u32| format!("{days}d");
    [
        count("Monitors", usage.monitors, limits.monitors),
        Quantity {
            name: "Shortest period",
            used: period(usage.shortest_period).unwrap_or_else(|| "-".to_owned()),
            limit: period(limits.shortest_period),
        },
        count("Status pages", usage.pages, limits.pages),
        count("Channels", usage.channels, limits.channels),
        Quantity {
            name: "Retention",
            used: days(usage.retention_days),
            limit: limits.retention_days.map(days),
        },
    ]
}
