//! `aloft serve`: runs the server until the process is asked to end; with `--demo`, on a workspace
//! that a newcomer can look at.

use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::Args;
use rules::Secret;
use server::boot::{self, Signals};
use server::context::Context;
use server::observe::log;

use crate::flags::Flags;
use crate::{memory, output};

/// After so long a server has begun all that it does beside its work.
const START_TAKES: Duration = Duration::from_secs(1);
/// Code that was not used for so long is not kept in memory: that of the start, and of what somebody did
/// once. What is in use comes back from the file at once, some hundred pages.
const CODE_USED_WITHIN: Duration = Duration::from_mins(1);

/// What a server starts with.
#[derive(Debug, Args)]
pub(crate) struct StartArgs {
    /// Create a demo workspace with a key and monitors of targets that the server itself provides
    #[arg(long)]
    demo: bool,
    /// Start with an empty database even if the folder has held workspaces
    #[arg(long, conflicts_with = "demo")]
    fresh: bool,
}

pub(crate) async fn run(mut flags: Flags, start: &StartArgs) -> Result<ExitCode> {
    if start.demo {
        // The demo's targets are on loopback.
        flags.values.insert("allow_private_networks".to_owned(), "true".to_owned());
    }
    let (_, settings) = boot::load(flags.values, flags.file)?;
    log::start(&settings)?;
    let signals = Signals::listen().context("signals cannot be heard")?;
    let ctx = Context::system();
    let running = if start.demo {
        let (running, key) = boot::start_demo(&settings, ctx).await?;
        output::say(&welcome(running.address(), &settings.data, key.as_ref()));
        running
    } else {
        let running = if start.fresh {
            boot::start_fresh(&settings, ctx).await?
        } else {
            boot::start(&settings, ctx).await?
        };
        if running.desk().list_workspaces().await?.is_empty() {
            output::say(&first_steps(&settings.data));
        }
        running
    };
    tokio::spawn(async {
        tokio::time::sleep(START_TAKES).await;
        loop {
            memory::let_go_of_code();
            tokio::time::sleep(CODE_USED_WITHIN).await;
        }
    });
    running.run(signals).await?;
    Ok(ExitCode::SUCCESS)
}

/// What a server without a workspace is waiting for.
fn first_steps(data: &Path) -> String {
    let program = program();
    let data = data.display();
    format!(
        "There is no workspace yet. Make one, and a key for it, while this runs:

    {program} workspaces create --data '{data}' --slug acme --name Acme
    {program} keys create --data '{data}' --workspace acme --name ci --scope write
"
    )
}

/// The program as it was called, so that a line can be pasted in any folder: a path is absolute, a
/// name stays one.
fn program() -> String {
    let called = std::env::args().next().unwrap_or_else(|| "aloft".to_owned());
    if !called.contains('/') {
        return called;
    }
    std::path::absolute(&called).map_or(called, |path| path.display().to_string())
}

/// What a newcomer needs: the address, the key, and what to try next.
fn welcome(address: SocketAddr, data: &Path, key: Option<&Secret<String>>) -> String {
    let program = program();
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
What visitors see of them: http://{address}/status/demo
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
