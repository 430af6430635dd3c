//! `aloft serve`: runs the server until a signal stops the process. `--demo` adds a workspace for
//! newcomers.

use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use rules::Secret;
use server::boot::{self, Signals};
use server::observe::log;
use web::context::Context;

use crate::flags::Flags;
use crate::{memory, output};

/// Time after which all background tasks of a new server have started.
const START_TAKES: Duration = Duration::from_secs(1);
/// Interval at which unused code is released from memory: code of the start and of rare operations.
/// Code in use is read from the file again at once, some hundred pages.
const CODE_USED_WITHIN: Duration = Duration::from_mins(1);

/// Options of a start.
#[derive(Debug, Args)]
pub(crate) struct StartArgs {
    /// Create a demo workspace with a key, and monitors of targets that the server itself provides
    #[arg(long)]
    demo: bool,
    /// Start with an empty database even if the folder had workspaces before
    #[arg(long, conflicts_with = "demo")]
    fresh: bool,
}

pub(crate) async fn run(mut flags: Flags, start: &StartArgs) -> Result<ExitCode> {
    if start.demo {
        // The demo's targets are on loopback.
        flags.values.insert("allow_private_networks".to_owned(), "true".to_owned());
    }
    let (_, settings) = boot::load(flags.values, flags.file)?;
    log::start(&settings);
    if (start.demo || start.fresh) && settings.replica_address.is_some() {
        bail!("`--demo` and `--fresh` start a single server; leave `replica_address` out");
    }
    let mut signals = Signals::listen().context("failed to listen for signals")?;
    let ctx = Context::system();
    let running = if start.demo {
        let (running, key) = boot::start_demo(&settings, ctx).await?;
        let link = running.setup_link().await?;
        let secrets = (key.as_ref(), link.as_ref());
        output::print_text(&welcome(running.address(), &settings.data, secrets));
        running
    } else {
        let running = if start.fresh {
            boot::start_fresh(&settings, ctx).await?
        } else if settings.replica_address.is_some() {
            let started = boot::start_shared(&settings, ctx, &mut signals).await?;
            // A standby ends at once.
            let Some(running) = started else { return Ok(ExitCode::SUCCESS) };
            running
        } else {
            boot::start(&settings, ctx).await?
        };
        if let Some(link) = running.setup_link().await? {
            output::print_text(&first_steps(&link, &settings.data));
        }
        running
    };
    tokio::spawn(async {
        tokio::time::sleep(START_TAKES).await;
        loop {
            memory::release_code();
            memory::request_return();
            tokio::time::sleep(CODE_USED_WITHIN).await;
        }
    });
    running.run(signals).await?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the message of a server without an account.
fn first_steps(link: &Secret<String>, data: &Path) -> String {
    let link = link.expose();
    let program = program();
    let data = quoted(&data.display().to_string());
    format!(
        "Nobody has an account yet. Open this link to create the first one. It is valid until then:

{link}

Or work without the dashboard: create a workspace with a key while this runs:

    {program} workspaces create --data {data} --slug acme --name Acme
    {program} keys create --data {data} --workspace acme --name ci --scope write
"
    )
}

/// Returns the program as it was called, quoted for a shell, so that printed commands work in any
/// folder. A path becomes absolute, and a name stays unchanged.
fn program() -> String {
    let called = std::env::args().next().unwrap_or_else(|| "aloft".to_owned());
    if !called.contains('/') {
        return quoted(&called);
    }
    let path = std::path::absolute(&called).map_or(called, |path| path.display().to_string());
    quoted(&path)
}

/// Quotes a word for a shell if it has characters that a shell may interpret.
fn quoted(word: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "_-./:=@%+,".contains(it);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Returns the message of a demo: the address, the set-up link and the key, and commands to try.
fn welcome(
    address: SocketAddr,
    data: &Path,
    (key, link): (Option<&Secret<String>>, Option<&Secret<String>>),
) -> String {
    let program = program();
    let dashboard = match link {
        Some(link) => format!(
            "Their dashboard, with a link to create the first account:\n\n{}\n",
            link.expose()
        ),
        None => format!("Their dashboard: http://{address}/login"),
    };
    let folder = data.display();
    let data = quoted(&folder.to_string());
    let (shown, about) = match key {
        Some(key) => {
            let shown = key.expose().as_str();
            (shown, format!("The key, shown only once:\n\n    {shown}"))
        }
        None => (
            "$KEY",
            format!(
                "The key was shown when the folder `{folder}` was new. Create another one for the \
                 commands below:\n\n    \
                 KEY=$({program} keys create --data {data} --workspace demo --name me \
                 --scope write | head -n 1)"
            ),
        ),
    };
    let call = format!(
        "curl -s -H \"x-service-key: {shown}\" -H 'content-type: application/json' \\\n      \
         http://{address}/rpc/monitor.v1.MonitorService"
    );
    format!(
        "
Aloft runs at http://{address} with six monitors of targets that it serves itself.
Their status page: http://{address}/status/demo
{dashboard}
{about}

List their states, and again after a minute, because one of them flaps:

    {call}/ListMonitors -d '{{}}' \\
      | grep -oE '\"(name|status)\":\"[^\"]*\"' | paste - -

Create a monitor, which is checked at once:

    {call}/CreateHttpMonitor \\
      -d '{{\"monitor\":{{\"name\":\"Mine\",\"url\":\"http://{address}/healthz\",\"periodicity\":\"30s\",\"active\":true}}}}'

Check a target once, without a server:

    {program} check http http://{address}/healthz --allow-private-networks

Ctrl-C stops the server. Its data stays in `{folder}`.
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_special_words_are_quoted() {
        for (word, expected) in [
            ("/opt/aloft", "/opt/aloft"),
            ("/a folder/aloft", "'/a folder/aloft'"),
            ("/it's/$HOME", r"'/it'\''s/$HOME'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(word), expected, "{word}");
        }
    }
}
