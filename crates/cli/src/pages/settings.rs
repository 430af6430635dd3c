//! `aloft pages show`, `components`, `publish`, `theme` and similar commands: shows and changes how
//! a page appears. Its content (title, components, access) is managed with Terraform or RPC.

use anyhow::Result;
use clap::ValueEnum;
use contract::status_page::wire::{
    Component, ComponentGroup, CustomDomainStatus, GetStatusPageRequest,
    ListComponentGroupsRequest, ListComponentsRequest, PublishStatusPageRequest,
    SetStatusPageIndexingRequest, SetStatusPageThemeRequest, StatusPage,
    UnpublishStatusPageRequest,
};
use serde_json::json;

use super::{OutputArgs, moment};
use crate::output;
use crate::paging::{NextPage, Paging};

/// Whether search engines may list a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Indexing {
    /// Search engines may list a public page
    Allow,
    /// Search engines must not list the page
    Forbid,
}

pub(super) async fn show(id: String, output_args: &OutputArgs) -> Result<()> {
    let request = GetStatusPageRequest { id };
    let answer = output_args.service.client()?.send(request).await;
    let answer = output_args.service.map_error("reading the status page", answer)?;
    if output_args.json {
        output::print_json(serde_json::to_value(&answer)?);
        return Ok(());
    }
    let page = answer.status_page.into_option().unwrap_or_default();
    let domain = answer.custom_domain_status.into_option();
    output::print_text(&output::table(&lines(&page, domain.as_ref())));
    Ok(())
}

pub(super) async fn publish(id: String, output_args: &OutputArgs) -> Result<()> {
    let request = PublishStatusPageRequest { id };
    let answer = output_args.service.client()?.send(request).await;
    let answer = output_args.service.map_error("publishing the status page", answer)?;
    print_page(answer.status_page.into_option(), "is published", output_args)
}

pub(super) async fn unpublish(id: String, output_args: &OutputArgs) -> Result<()> {
    let request = UnpublishStatusPageRequest { id };
    let answer = output_args.service.client()?.send(request).await;
    let answer = output_args.service.map_error("unpublishing the status page", answer)?;
    print_page(answer.status_page.into_option(), "is hidden", output_args)
}

pub(super) async fn theme(id: String, theme: String, output_args: &OutputArgs) -> Result<()> {
    let message = format!("now has the theme {theme}");
    let request = SetStatusPageThemeRequest { id, theme };
    let answer = output_args.service.client()?.send(request).await;
    let answer = output_args.service.map_error("changing the theme", answer)?;
    print_page(answer.status_page.into_option(), &message, output_args)
}

pub(super) async fn indexing(id: String, wanted: Indexing, output_args: &OutputArgs) -> Result<()> {
    let (allow, message) = match wanted {
        Indexing::Allow => (true, "may be indexed by search engines if it is public"),
        Indexing::Forbid => (false, "may not be indexed by search engines"),
    };
    let request = SetStatusPageIndexingRequest { id, allow_indexing: Some(allow) };
    let answer = output_args.service.client()?.send(request).await;
    let answer = output_args.service.map_error("changing the indexing", answer)?;
    print_page(answer.status_page.into_option(), message, output_args)
}

/// Prints the components of a page with their groups.
pub(super) async fn components(page: String, output_args: &OutputArgs) -> Result<()> {
    let client = output_args.service.client()?;
    let (mut groups, mut token, mut paging) = (Vec::new(), String::new(), Paging::of_all());
    while let Some(NextPage { limit, page_token }) = paging.next(groups.len(), &token) {
        let page_id = Some(page.clone());
        let request =
            ListComponentGroupsRequest { page_id, limit, page_token, ..Default::default() };
        let answer = client.send(request).await;
        let part = output_args.service.map_error("listing groups", answer)?;
        groups.extend(part.component_groups);
        token = part.next_page_token;
    }
    let mut all: Vec<Component> = Vec::new();
    let (mut token, mut paging) = (String::new(), Paging::of_all());
    while let Some(NextPage { limit, page_token }) = paging.next(all.len(), &token) {
        let page_id = Some(page.clone());
        let request = ListComponentsRequest { page_id, limit, page_token, ..Default::default() };
        let answer = client.send(request).await;
        let part = output_args.service.map_error("listing components", answer)?;
        all.extend(part.components);
        token = part.next_page_token;
    }
    if output_args.json {
        output::print_json(json!({ "components": all, "componentGroups": groups }));
        return Ok(());
    }
    let head = ["COMPONENT", "MONITOR", "GROUP", "NAME"].map(str::to_owned);
    let rows = std::iter::once(head).chain(all.iter().map(|it| component(it, &groups)));
    output::print_text(&output::table(&rows.collect::<Vec<_>>()));
    Ok(())
}

fn print_page(page: Option<StatusPage>, what: &str, output_args: &OutputArgs) -> Result<()> {
    let page = page.unwrap_or_default();
    if output_args.json {
        output::print_json(serde_json::to_value(&page)?);
    } else {
        output::print_text(&format!("{} {what}", text(page.id)));
    }
    Ok(())
}

/// Returns a component as a row of a table. A component without a name has the name of its monitor.
fn component(it: &Component, groups: &[ComponentGroup]) -> [String; 4] {
    let group = groups.iter().find(|group| group.id.is_some() && group.id == it.group_id);
    let group = group.and_then(|group| group.name.clone());
    let name = it.name.clone().unwrap_or_else(|| "(its monitor's)".to_owned());
    [text(it.id.clone()), text(it.monitor_id.clone()), text(group), name]
}

/// Returns the properties of a page, one per row.
fn lines(page: &StatusPage, domain: Option<&CustomDomainStatus>) -> Vec<[String; 2]> {
    let choice = |is: Option<bool>, yes: &str, no: &str| {
        if is == Some(true) { yes.to_owned() } else { no.to_owned() }
    };
    let access = page.access_type.clone().unwrap_or_else(|| "public".to_owned());
    let domain_is = domain.map(|it| match &it.reason {
        Some(why) => format!("{} ({}: {why})", it.domain, it.state),
        None => format!("{} ({})", it.domain, it.state),
    });
    let known = [
        ("page", page.id.clone()),
        ("title", page.title.clone()),
        ("slug", page.slug.clone()),
        ("domain", domain_is.or_else(|| page.custom_domain.clone())),
        ("access", Some(access)),
        ("shown", Some(choice(page.published, "published", "hidden"))),
        ("theme", page.theme.clone()),
        ("search engines", Some(choice(page.allow_indexing, "may list it", "may not list it"))),
        ("created", page.created_at.as_option().map(moment)),
        ("changed", page.updated_at.as_option().map(moment)),
    ];
    let line = |(name, value): (&str, Option<String>)| Some([name.to_owned(), value?]);
    known.into_iter().filter_map(line).collect()
}

fn text(field: Option<String>) -> String {
    field.unwrap_or_default()
}
