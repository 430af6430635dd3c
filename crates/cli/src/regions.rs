//! `aloft regions`: lists the regions that monitors can use. Calls a running service with a key.

use anyhow::Result;
use clap::Subcommand;
use contract::region::wire::{ListRegionsResponse, Region};
use serde_json::json;

use crate::output;
use crate::output_args::OutputArgs;
use crate::session::Session;

const LIST: &str = "/region.v1.RegionService/ListRegions";

/// Subcommands of `aloft regions`.
#[derive(Debug, Subcommand)]
pub(crate) enum RegionCommand {
    /// List the regions with their probes and health
    List {
        #[command(flatten)]
        output_args: OutputArgs,
    },
}

pub(crate) async fn run(RegionCommand::List { output_args }: RegionCommand) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    let answer = session.call("listing regions", LIST, &json!({})).await?;
    let response: ListRegionsResponse = serde_json::from_value(answer.clone())?;
    let ids: Vec<&str> = response.regions.iter().map(|region| region.id.as_str()).collect();
    output_args.print(&answer, &ids, || {
        let head = ["REGION", "HEALTH", "DEFAULT", "SERVED BY", "COUNTRY", "CITY"];
        let rows = std::iter::once(head.map(str::to_owned)).chain(response.regions.iter().map(row));
        output::table(&rows.collect::<Vec<_>>())
    })?;
    Ok(())
}

fn row(it: &Region) -> [String; 6] {
    let default = if it.default { "yes" } else { "" }.to_owned();
    let [region, health, served_by] = [&it.id, &it.health, &it.served_by].map(Clone::clone);
    [region, health, default, served_by, it.country.clone(), it.city.clone()]
}
