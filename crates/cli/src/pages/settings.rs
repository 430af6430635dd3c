//! `aloft pages show`, `components`, `publish`, `theme` and similar commands: shows and changes how
//! a page appears. Leaves its other arguments to `resources`.

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
use crate::resources::{self, PAGES};
use crate::session::Session;

/// Whether search engines may list a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Indexing {
    /// Search engines may list a public page
    Allow,
    /// Search engines must not list the page
    Forbid,
}

pub(super) async fn show(page: &str, output_args: &OutputArgs) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    let id = resources::id(&session, &PAGES, page).await?;
    let request = GetStatusPageRequest { id };
    let answer = session.send("reading the status page", request).await?;
    if output_args
        .prints_data(&answer, answer.status_page.as_option().and_then(|it| it.id.as_deref()))?
    {
        return Ok(());
    }
    let page = answer.status_page.into_option().unwrap_or_default();
    let domain = answer.custom_domain_status.into_option();
    output::print_text(&output::table(&lines(&page, domain.as_ref())));
    Ok(())
}

pub(super) async fn publish(page: &str, output_args: &OutputArgs) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    let id = resources::id(&session, &PAGES, page).await?;
    let request = PublishStatusPageRequest { id };
    let answer = session.send("publishing the status page", request).await?;
    print_page(answer.status_page.into_option(), "is published", output_args)
}

pub(super) async fn unpublish(page: &str, output_args: &OutputArgs) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    let id = resources::id(&session, &PAGES, page).await?;
    let request = UnpublishStatusPageRequest { id };
    let answer = session.send("unpublishing the status page", request).await?;
    print_page(answer.status_page.into_option(), "is hidden", output_args)
}

pub(super) async fn theme(page: &str, theme: String, output_args: &OutputArgs) -> Result<()> {
    let message = format!("now has the theme {theme}");
    let session = Session::open(&output_args.service)?;
    let id = resources::id(&session, &PAGES, page).await?;
    let request = SetStatusPageThemeRequest { id, theme };
    let answer = session.send("changing the theme", request).await?;
    print_page(answer.status_page.into_option(), &message, output_args)
}

pub(super) async fn indexing(page: &str, wanted: Indexing, output_args: &OutputArgs) -> Result<()> {
    let (allow, message) = match wanted {
        Indexing::Allow => (true, "may be indexed by search engines if it is public"),
        Indexing::Forbid => (false, "may not be indexed by search engines"),
    };
    let session = Session::open(&output_args.service)?;
    let id = resources::id(&session, &PAGES, page).await?;
    let request = SetStatusPageIndexingRequest { id, allow_indexing: Some(allow) };
    let answer = session.send("changing the indexing", request).await?;
    print_page(answer.status_page.into_option(), message, output_args)
}

/// Prints the components of a page with their groups.
pub(super) async fn components(page: &str, output_args: &OutputArgs) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    let page = resources::id(&session, &PAGES, page).await?;
    let (mut groups, mut token, mut paging) = (Vec::new(), String::new(), Paging::of_all());
    while let Some(NextPage { limit, page_token }) = paging.next(groups.len(), &token) {
        let page_id = Some(page.clone());
        let request =
            ListComponentGroupsRequest { page_id, limit, page_token, ..Default::default() };
        let part = session.send("listing groups", request).await?;
        groups.extend(part.component_groups);
        token = part.next_page_token;
    }
    let mut all: Vec<Component> = Vec::new();
    let (mut token, mut paging) = (String::new(), Paging::of_all());
    while let Some(NextPage { limit, page_token }) = paging.next(all.len(), &token) {
        let page_id = Some(page.clone());
        let request = ListComponentsRequest { page_id, limit, page_token, ..Default::default() };
        let part = session.send("listing components", request).await?;
        all.extend(part.components);
        token = part.next_page_token;
    }
    let json = json!({ "components": all, "componentGroups": groups });
    if output_args.prints_data(&json, all.iter().filter_map(|it| it.id.as_deref()))? {
        return Ok(());
    }
    let head = ["COMPONENT", "MONITOR", "GROUP", "NAME"].map(str::to_owned);
    let rows = std::iter::once(head).chain(all.iter().map(|it| component(it, &groups)));
    output::print_text(&output::table(&rows.collect::<Vec<_>>()));
    Ok(())
}

fn print_page(page: Option<StatusPage>, what: &str, output_args: &OutputArgs) -> Result<()> {
    let page = page.unwrap_or_default();
    if !output_args.prints_data(&page, &page.id)? {
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
