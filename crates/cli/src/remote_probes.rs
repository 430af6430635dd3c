//! `aloft probes` on a service: the probes that the workspace of the key manages. Leaves those of a database
//! to `probes`.

use anyhow::{Result, bail};
use rules::Region;
use serde_json::{Map, Value as Json, json};

use crate::output;
use crate::output_args::OutputArgs;
use crate::resources::{self, ListArgs, PROBES};
use crate::session::Session;

/// A probe to create on a service.
#[derive(Debug)]
pub(crate) struct RemoteProbe {
    pub(crate) regions: Vec<Region>,
    pub(crate) name: Option<String>,
}

pub(crate) async fn list(output_args: &OutputArgs) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    resources::list(&session, &PROBES, Map::new(), &ListArgs::ALL, output_args).await
}

pub(crate) async fn create(new: &RemoteProbe, output_args: &OutputArgs) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    let regions: Vec<&str> = new.regions.iter().map(|region| region.as_str()).collect();
    let mut request = json!({ "regions": regions });
    if let Some(name) = &new.name {
        request["name"] = json!(name);
    }
    let answer = session.call("creating the probe", &PROBES.method("Create"), &request).await?;
    print_token(&answer, output_args)
}

pub(crate) async fn rotate(given: &str, output_args: &OutputArgs) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    let id = resources::id(&session, &PROBES, given).await?;
    let method = format!("{}RotateProbeToken", PROBES.service);
    let answer = session.call("rotating the token", &method, &json!({ "id": id })).await?;
    print_token(&answer, output_args)
}

pub(crate) async fn delete(given: &str, yes: bool, output_args: &OutputArgs) -> Result<()> {
    if !yes {
        bail!(
            "this ends the token of probe `{given}`, and the server checks from its regions, except private \
             ones; add --yes to confirm"
        );
    }
    let session = Session::open(&output_args.service)?;
    let id = resources::id(&session, &PROBES, given).await?;
    let answer =
        session.call("deleting the probe", &PROBES.method("Delete"), &json!({ "id": id })).await?;
    output_args.print(&answer, &[&id], || format!("{id} was deleted"))
}

fn print_token(answer: &Json, output_args: &OutputArgs) -> Result<()> {
    let id = PROBES.id_of(&answer["probe"]);
    let command = answer["command"].as_str().unwrap_or_default();
    output_args.print(answer, &[id], || command.to_owned())?;
    if output_args.is_for_people() {
        output::print_stderr(&format!("Run this where {id} checks. Its token is shown only once."));
    }
    Ok(())
}
