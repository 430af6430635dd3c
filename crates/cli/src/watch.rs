//! `aloft watch`: a live view of the monitors and open incidents of a workspace in the terminal. `view` has
//! the state and decides, `draw` draws it, and `source` makes the calls.

mod details;
mod draw;
mod fleet;
mod recent;
mod source;
mod style;
mod terminal;
#[cfg(test)]
mod tests;
mod view;

use std::io::{IsTerminal as _, stdin, stdout};
use std::time::Duration;

use anyhow::{Result, bail};
use clap::Args;
use server::boot;
use tokio::sync::mpsc;
use web::context::Context;

use self::source::Source;
use self::style::Palette;
use self::terminal::{ScreenGuard, signals};
use self::view::{Action, View};
use crate::dashboard;
use crate::service::{KEY_HELP, Service};
use crate::session::Session;

/// Time between two drawings without input, because ages are shown.
const REDRAWN_EVERY: Duration = Duration::from_secs(1);
/// Maximum number of news that wait to be shown.
const NEWS_MAX: usize = 256;

const KEYS: &str = "Keys: ↑ ↓ PageUp PageDown Home End select a monitor; Enter shows its recent checks and Esc \
returns; / filters as you type; a acknowledges the incident of the monitor, after a question; r checks it \
now; q or Ctrl-C ends. Colours are off if NO_COLOR is set.";

/// Arguments of `aloft watch`.
#[derive(Debug, Args)]
#[command(after_help = format!("{KEYS} {KEY_HELP}"))]
pub(crate) struct WatchArgs {
    /// Filter to start with: words of names, targets, tags or statuses
    #[arg(value_name = "FILTER")]
    filter: Option<String>,
    #[command(flatten)]
    service: Service,
}

pub(crate) async fn run(args: WatchArgs) -> Result<()> {
    if !stdout().is_terminal() || !stdin().is_terminal() {
        bail!("`aloft watch` needs a terminal; scripts use `aloft monitors list --json`");
    }
    let session = Session::open(&args.service)?;
    // Errors of the address and the key belong on the usual screen.
    let workspace = session.whoami().await?.slug;
    let host = dashboard::origin(&session)?;
    let host = host.split_once("://").map_or(&*host, |(_, host)| host).to_owned();
    let is_coloured = boot::variable("NO_COLOR").is_none_or(|value| value.is_empty());
    let mut view = View::new(format!("{workspace} at {host}"), args.filter.unwrap_or_default());
    let (sender, news) = mpsc::channel(NEWS_MAX);
    let source = Source::start(session.client(), sender);
    let mut guard = ScreenGuard::enter()?;
    let ended =
        Box::pin(watch(&mut view, &source, news, &mut guard, Palette { is_coloured })).await;
    drop(guard);
    ended
}

/// Shows the view until the user or a signal ends it.
async fn watch(
    view: &mut View,
    source: &Source,
    mut news: mpsc::Receiver<source::News>,
    guard: &mut ScreenGuard,
    palette: Palette,
) -> Result<()> {
    let ctx = Context::system();
    let mut ended = signals()?;
    let mut ticker = tokio::time::interval(REDRAWN_EVERY);
    loop {
        guard.draw(|frame| draw::draw(frame, view, palette, ctx.now()))?;
        for wanted in view.take_wanted() {
            source.request(wanted);
        }
        let action = tokio::select! {
            key = guard.input() => match key {
                Some(Some(key)) => view.on_key(key),
                // The size changed, so the next frame differs.
                Some(None) => None,
                // The terminal is gone.
                None => return Ok(()),
            },
            Some(first) = news.recv() => {
                view.on_news(first);
                while let Ok(next) = news.try_recv() {
                    view.on_news(next);
                }
                None
            }
            _ = ticker.tick() => None,
            _ = ended.recv() => return Ok(()),
        };
        match action {
            Some(Action::Quit) => return Ok(()),
            Some(Action::Acknowledge { incident }) => source.acknowledge(incident),
            Some(Action::Check { monitor, name }) => source.check(monitor, name),
            None => {}
        }
    }
}
