//! `aloft monitors get` and `open`: a monitor as a table of its arguments, and its page in the
//! dashboard.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use anyhow::Result;
use contract::{SecretVisibility, encode_endpoint, encode_text, encode_url};
use rules::field::{Field, Redaction, Resource, Shape, json_name};
use rules::tables;
use serde_json::{Value as Json, json};

use super::find::{FoundMonitor, find};
use crate::output;
use crate::rows;
use crate::service::OutputArgs;
use crate::session::{IdOutputArgs, Session};
use crate::time;

/// Program that opens an address in the browser of the user.
const OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
/// Last part of a base URL, which the dashboard's addresses lack.
const PREFIX: &str = "/rpc";

pub(super) async fn get(given: &str, output_args: &IdOutputArgs) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    let found = find(&session, given).await?;
    let kind = found.kind.as_str();
    let answer = json!({ "monitor": { kind: found.json } });
    output_args.print(&answer, &[&found.named.id], || output::table(&lines(&found)));
    Ok(())
}

pub(super) async fn open(given: &str, output_args: &OutputArgs) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    let found = find(&session, given).await?;
    let workspace = session.whoami().await?.slug;
    let base_url = output_args.service.address()?;
    let host = base_url.trim_end_matches('/');
    let host = host.strip_suffix(PREFIX).unwrap_or(host);
    let host = crate::check::without_credentials(host);
    let address = format!("{host}/w/{workspace}/monitors/{}", found.named.id);
    if output_args.json {
        output::print_json(json!({ "url": address }));
    } else {
        output::print_text(&address);
    }
    let mut opener = Command::new(OPENER);
    opener.arg(&address).process_group(0);
    opener.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Err(why) = opener.spawn() {
        output::print_stderr(&format!("no browser was opened: failed to run `{OPENER}`: {why}"));
    }
    Ok(())
}

/// Returns the properties of a monitor, one per row. Secrets are hidden as from read keys.
fn lines(found: &FoundMonitor) -> Vec<[String; 2]> {
    let table: &'static Resource = tables::monitor(found.kind);
    let label = |name: &str| name.replace('_', " ");
    let mut lines = vec![
        ["id".to_owned(), found.named.id.clone()],
        ["kind".to_owned(), found.kind.to_string()],
    ];
    for field in table.fields.iter().chain(table.beyond).filter(|field| field.name != "id") {
        let value = &found.json[json_name(field.name)];
        if !is_empty(value) {
            lines.push([label(field.name), shown(field, value)]);
        }
    }
    for block in table.blocks {
        for row in found.json[json_name(block.name)].as_array().into_iter().flatten() {
            lines.push([label(block.name), rows::text(block, row)]);
        }
    }
    lines
}

fn is_empty(value: &Json) -> bool {
    value.is_null()
        || value.as_array().is_some_and(Vec::is_empty)
        || value.as_str().is_some_and(str::is_empty)
}

fn shown(field: &Field, value: &Json) -> String {
    if let Some(text) = value.as_str() {
        return shown_text(field, text);
    }
    if let Some(is_on) = value.as_bool() {
        return if is_on { "yes" } else { "no" }.to_owned();
    }
    match value.as_array() {
        Some(all) => all.iter().filter_map(Json::as_str).collect::<Vec<_>>().join(", "),
        None => value.to_string(),
    }
}

fn shown_text(field: &Field, text: &str) -> String {
    let secrets = SecretVisibility::Redacted;
    if field.shape == Shape::Instant {
        return time::shown(text);
    }
    match field.redaction {
        Redaction::Absent => "…".to_owned(),
        Redaction::Text => encode_text(text, secrets),
        Redaction::Path => encode_endpoint(text, secrets),
        Redaction::None if matches!(field.shape, Shape::HttpUrl { .. }) => {
            encode_url(text, secrets)
        }
        Redaction::None => text.to_owned(),
    }
}
