//! `aloft monitors get` and `open`: a monitor as a table of its arguments, and its page in the
//! dashboard.

use anyhow::Result;
use rules::tables;
use serde_json::json;

use super::find::find;
use crate::output_args::OutputArgs;
use crate::resources::lines;
use crate::session::Session;
use crate::{dashboard, output};

pub(super) async fn get(given: &str, output_args: &OutputArgs) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    let found = find(&session, given).await?;
    let kind = found.kind.as_str();
    let answer = json!({ "monitor": { kind: found.json } });
    output_args.print(&answer, &[&found.named.id], || {
        let mut rows = lines(tables::monitor(found.kind), &found.json);
        rows.insert(1, ["kind".to_owned(), kind.to_owned()]);
        output::table(&rows)
    })
}

pub(super) async fn open(given: &str, print_only: bool, output_args: &OutputArgs) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    let found = find(&session, given).await?;
    let path = format!("/monitors/{}", found.named.id);
    dashboard::show(&session, &path, print_only, output_args).await
}
