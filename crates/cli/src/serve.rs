//! `aloft serve`: runs the server until the process is asked to end; with `--demo`, on a workspace
//! that a newcomer can look at.

use std::net::SocketAddr;
use std::process::ExitCode;

use anyhow::Result;
use rules::Secret;
use server::boot::{self, Running};
use server::context::Context;
use server::observe::log;

use crate::flags::Flags;

pub(crate) async fn run(mut flags: Flags, demo: bool) -> Result<ExitCode> {
    if demo {
        // The demo's targets are on loopback.
        flags.values.insert("allow_private_networks".to_owned(), "true".to_owned());
    }
    let (_, settings) = boot::load(flags.values, flags.file)?;
    log::start(&settings)?;
    let ctx = Context::system();
    let running = if demo {
        let (running, key) = boot::start_demo(&settings, ctx).await?;
        crate::say(&welcome(running.address(), key.as_ref()));
        running
    } else {
        boot::start(&settings, ctx).await?
    };
    Running::run(running).await?;
    Ok(ExitCode::SUCCESS)
}

/// What a newcomer needs: the address, the key, and what to try next.
fn welcome(address: SocketAddr, key: Option<&Secret<String>>) -> String {
    let shown = key.map_or("$KEY", |key| key.expose().as_str());
    let about = match key {
        Some(_) => "This is its key, shown this once:",
        None => {
            "Its key was shown when it was made; another one: aloft keys create --workspace demo --name me --scope write"
        }
    };
    let key_line = key.map(|key| format!("\n    {}\n", key.expose())).unwrap_or_default();
    format!(
        "
Aloft is up at http://{address} with six monitors of targets it serves itself.
{about}
{key_line}
Try, and again after half a minute:

    curl -s -H 'x-service-key: {shown}' http://{address}/v1/whoami

    curl -s -H 'x-service-key: {shown}' -H 'content-type: application/json' \\
      -d '{{}}' http://{address}/rpc/monitor.v1.MonitorService/ListMonitors

    curl -s -H 'x-service-key: {shown}' -H 'content-type: application/json' \\
      -d '{{\"monitor\":{{\"name\":\"Mine\",\"url\":\"https://example.com/\",\"periodicity\":\"30s\",\"active\":true}}}}' \\
      http://{address}/rpc/monitor.v1.MonitorService/CreateHttpMonitor
"
    )
}
