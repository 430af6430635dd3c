//! `aloft serve`: runs the server until the process is asked to end; with `--demo`, on a workspace
//! that a newcomer can look at.

use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use rules::Secret;
use server::boot::{self, Running};
use server::context::Context;
use server::observe::log;

use crate::flags::Flags;
use crate::output;

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
        output::say(&welcome(running.address(), &settings.data, key.as_ref()));
        running
    } else {
        boot::start(&settings, ctx).await?
    };
    Running::run(running).await?;
    Ok(ExitCode::SUCCESS)
}

/// What a newcomer needs: the address, the key, and what to try next.
fn welcome(address: SocketAddr, data: &Path, key: Option<&Secret<String>>) -> String {
    let program = std::env::args().next().unwrap_or_else(|| "aloft".to_owned());
    let data = data.display();
    let (shown, about) = match key {
        Some(key) => {
            let shown = key.expose().as_str();
            (shown, format!("Its key, shown this once:\n\n    {shown}"))
        }
        None => (
            "KEY",
            format!(
                "Its key was shown when the folder `{data}` was new. Another one:\n\n    \
                 {program} keys create --data '{data}' --workspace demo --name me --scope write"
            ),
        ),
    };
    let call = format!(
        "curl -s -H 'x-service-key: {shown}' -H 'content-type: application/json' \\\n      \
         http://{address}/rpc/monitor.v1.MonitorService"
    );
    format!(
        "
Aloft is up at http://{address} with six monitors of targets that it serves itself.
{about}

See how they are, and again after a minute: one of them flaps.

    {call}/ListMonitors -d '{{}}' \\
      | grep -oE '\"(name|status)\":\"[^\"]*\"' | paste - -

Add one of your own: it is checked at once.

    {call}/CreateHttpMonitor \\
      -d '{{\"monitor\":{{\"name\":\"Mine\",\"url\":\"http://{address}/healthz\",\"periodicity\":\"30s\",\"active\":true}}}}'

Check anything once, without a server:

    {program} check http http://{address}/healthz --allow-private-networks

Ctrl-C stops it; what was stored stays in `{data}`.
"
    )
}
