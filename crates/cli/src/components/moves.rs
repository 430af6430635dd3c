//! `aloft components move` and `aloft groups move`: reads the order of the page and stores what changes.

use anyhow::{Context as _, Result, bail};
use clap::Args;
use serde_json::{Map, Value as Json, json};

use crate::arrangement::{
    ComponentPosition, Destination, PlacedComponent, move_component, move_group, positions,
};
use crate::named::{self, NamedId};
use crate::output_args::OutputArgs;
use crate::resources::{self, COMPONENTS, GROUPS, Kind};
use crate::session::Session;

/// Destination of a move.
#[derive(Debug, Args)]
#[group(required = true, multiple = false, args = ["first", "last", "before", "after"])]
pub(crate) struct MoveArgs {
    /// To the beginning of the page or of the group
    #[arg(long)]
    first: bool,
    /// To the end of the page or of the group
    #[arg(long)]
    last: bool,
    /// Before this component or group, by ID or name; a component joins the group of the other one
    #[arg(long, value_name = "OTHER")]
    before: Option<String>,
    /// After this component or group, by ID or name; a component joins the group of the other one
    #[arg(long, value_name = "OTHER")]
    after: Option<String>,
}

/// Group of a component after its move to the beginning or the end.
#[derive(Debug)]
pub(super) enum Joins {
    Same,
    None,
    Group(String),
}

/// A page before a move.
struct PageContent {
    components: Vec<Json>,
    groups: Vec<Json>,
    order: Vec<PlacedComponent>,
}

pub(super) async fn component(
    session: &Session<'_>,
    given: &str,
    filter: &Map<String, Json>,
    joins: &Joins,
    to: &MoveArgs,
    output_args: &OutputArgs,
) -> Result<()> {
    let found = read(session, &COMPONENTS, given, filter).await?;
    let page = content(session, &found).await?;
    let group = match joins {
        Joins::Same => found["groupId"].as_str().map(str::to_owned),
        Joins::None => None,
        Joins::Group(given) => Some(GROUPS.id_of(&page.groups[page.group(given)?]).to_owned()),
    };
    let id = COMPONENTS.id_of(&found);
    let order = move_component(&page.order, id, group.as_deref(), &page.destination(to)?)?;
    store(session, &page, &order, id, output_args).await
}

pub(super) async fn group(
    session: &Session<'_>,
    given: &str,
    filter: &Map<String, Json>,
    to: &MoveArgs,
    output_args: &OutputArgs,
) -> Result<()> {
    let found = read(session, &GROUPS, given, filter).await?;
    let page = content(session, &found).await?;
    let id = GROUPS.id_of(&found);
    let order = move_group(&page.order, id, &page.destination(to)?)?;
    store(session, &page, &order, id, output_args).await
}

async fn read(
    session: &Session<'_>,
    kind: &'static Kind,
    given: &str,
    filter: &Map<String, Json>,
) -> Result<Json> {
    let mut answer = resources::read(session, kind, given, filter).await?;
    Ok(answer[kind.json_field()].take())
}

/// Reads the components and groups of the page of a component or group.
async fn content(session: &Session<'_>, found: &Json) -> Result<PageContent> {
    let page = found["pageId"].as_str().context("the service named no page")?;
    let filter = Map::from_iter([("pageId".to_owned(), json!(page))]);
    let mut components = resources::all(session, &COMPONENTS, &filter).await?;
    resources::name_components(session, &mut components).await?;
    let groups = resources::all(session, &GROUPS, &filter).await?;
    let method = "/status_page.v1.StatusPageService/GetStatusPageOverview";
    let answer = session.call("reading the page", method, &json!({ "id": page })).await?;
    let shown = answer["overview"]["components"].as_array();
    let order = shown.into_iter().flatten().map(|it| PlacedComponent {
        id: it["id"].as_str().unwrap_or_default().to_owned(),
        group: it["groupId"].as_str().filter(|id| !id.is_empty()).map(str::to_owned),
    });
    Ok(PageContent { components, groups, order: order.collect() })
}

/// Stores the positions that differ, and prints the new order.
async fn store(
    session: &Session<'_>,
    page: &PageContent,
    order: &[PlacedComponent],
    moved: &str,
    output_args: &OutputArgs,
) -> Result<()> {
    let all = positions(order);
    let changed: Vec<&ComponentPosition> = all.iter().filter(|it| page.differs(it)).collect();
    for (done, it) in changed.iter().enumerate() {
        let mut component = json!({ "id": it.id, "order": it.order });
        if let (Some(group), Some(order)) = (&it.group, it.group_order) {
            component["groupId"] = json!(group);
            component["groupOrder"] = json!(order);
        }
        let request = json!({ "component": component, "updateMask": "order,groupId,groupOrder" });
        let stored = session.call("moving", &COMPONENTS.method("Update"), &request).await;
        stored.with_context(|| {
            let count = changed.len();
            format!("stored {done} of {count} positions; run the command again to store the rest")
        })?;
    }
    let ids: Vec<&str> = order.iter().map(|it| it.id.as_str()).collect();
    output_args.print(&json!({ "componentIds": ids }), &ids, || {
        let names = order.iter().map(|it| format!("{:<18}{}", it.id, page.name(it)));
        let names: Vec<String> = names.map(|line| crate::output::one_line(&line)).collect();
        format!("{moved} was moved; the order is now:\n{}", names.join("\n"))
    })
}

impl PageContent {
    fn destination(&self, to: &MoveArgs) -> Result<Destination> {
        Ok(match (&to.before, &to.after) {
            (Some(other), _) => Destination::Before(self.entry(other)?),
            (None, Some(other)) => Destination::After(self.entry(other)?),
            (None, None) if to.last => Destination::Last,
            (None, None) => Destination::First,
        })
    }

    /// Returns the ID of a component or group of the page.
    fn entry(&self, given: &str) -> Result<String> {
        let named = |it: &Json| NamedId {
            id: it["id"].as_str().unwrap_or_default().to_owned(),
            name: it["name"].as_str().unwrap_or_default().to_owned(),
        };
        named::require_name("component or group", given)?;
        let known: Vec<NamedId> = self.components.iter().chain(&self.groups).map(named).collect();
        if known.iter().any(|it| it.id == given) {
            return Ok(given.to_owned());
        }
        if (COMPONENTS.is_id)(given) || (GROUPS.is_id)(given) {
            bail!("{given} not found on the page");
        }
        Ok(known[named::position("component or group", given, &known)?].id.clone())
    }

    /// Returns the index of a group of the page.
    fn group(&self, given: &str) -> Result<usize> {
        if let Some(at) = self.groups.iter().position(|it| it["id"] == given) {
            return Ok(at);
        }
        let named =
            |it: &Json| NamedId { id: GROUPS.id_of(it).to_owned(), name: GROUPS.name_of(it) };
        let known: Vec<NamedId> = self.groups.iter().map(named).collect();
        named::position("group", given, &known)
    }

    /// Returns whether the service stores another position.
    fn differs(&self, position: &ComponentPosition) -> bool {
        let stored = self.components.iter().find(|it| it["id"] == position.id.as_str());
        let number = |json: &Json| json.as_i64().map(|number| number as i32);
        stored.is_none_or(|it| {
            number(&it["order"]) != Some(position.order)
                || it["groupId"].as_str() != position.group.as_deref()
                || number(&it["groupOrder"]) != position.group_order
        })
    }

    fn name(&self, placed: &PlacedComponent) -> String {
        let of = |all: &[Json], id: &str| {
            let found = all.iter().find(|it| it["id"] == id);
            found.and_then(|it| it["name"].as_str()).unwrap_or_default().to_owned()
        };
        let name = of(&self.components, &placed.id);
        match &placed.group {
            Some(group) => format!("{} / {name}", of(&self.groups, group)),
            None => name,
        }
    }
}
