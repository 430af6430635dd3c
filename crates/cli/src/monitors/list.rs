//! `aloft monitors list`: monitors, all or by tag.

use anyhow::Result;
use clap::Args;
use contract::monitor::wire::{ListMonitorsRequest, ListMonitorsResponse};
use rules::{MonitorKind, MonitorStatus};

use crate::output;
use crate::output_args::OutputArgs;
use crate::paging::{self, NextPage, Paging, SHOWN};

/// State of a monitor that does not run.
const PAUSED: &str = "paused";

/// Filter of a list.
#[derive(Debug, Args)]
pub(crate) struct MonitorFilterArgs {
    /// Only monitors with this tag, in any case; if repeated, only monitors with all of them
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Maximum number of entries
    #[arg(long, value_name = "NUMBER", default_value_t = SHOWN, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
}

pub(super) async fn list(which: MonitorFilterArgs, output_args: &OutputArgs) -> Result<()> {
    let client = output_args.service.client()?;
    let mut paging = Paging::up_to(which.limit);
    let mut page = ListMonitorsResponse::default();
    while let Some(next) = paging.next(count(&page), &page.next_page_token) {
        let NextPage { limit, page_token } = next;
        let tags = which.tags.clone();
        let request = ListMonitorsRequest { limit, page_token, tags, ..Default::default() };
        let answer = client.send(request).await;
        let part = output_args.service.map_error("listing monitors", answer)?;
        page.http_monitors.extend(part.http_monitors);
        page.tcp_monitors.extend(part.tcp_monitors);
        page.dns_monitors.extend(part.dns_monitors);
        page.heartbeat_monitors.extend(part.heartbeat_monitors);
        page.next_page_token = part.next_page_token;
        page.total_size = part.total_size;
    }
    if output_args.prints_data(&page, rows(&page).into_iter().map(|[id, ..]| id))? {
        return Ok(());
    }
    let head = ["MONITOR", "KIND", "STATUS", "TAGS", "NAME"].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(head).chain(rows(&page)).collect();
    output::print_text(&output::table(&rows));
    paging::hint(count(&page), page.total_size);
    Ok(())
}

const fn count(page: &ListMonitorsResponse) -> usize {
    page.http_monitors.len()
        + page.tcp_monitors.len()
        + page.dns_monitors.len()
        + page.heartbeat_monitors.len()
}

/// Returns the monitors as rows, newest first, which is by descending ID.
fn rows(page: &ListMonitorsResponse) -> Vec<[String; 5]> {
    macro_rules! rows {
        ($monitors:expr, $kind:ident) => {
            $monitors.iter().map(|it| {
                [
                    it.id.clone().unwrap_or_default(),
                    MonitorKind::$kind.to_string(),
                    status(it.active, it.status.as_deref()),
                    it.tags.join(", "),
                    it.name.clone().unwrap_or_default(),
                ]
            })
        };
    }
    let (http, tcp) = (rows!(page.http_monitors, Http), rows!(page.tcp_monitors, Tcp));
    let dns = rows!(page.dns_monitors, Dns);
    let heartbeat = rows!(page.heartbeat_monitors, Heartbeat);
    let mut rows: Vec<_> = http.chain(tcp).chain(dns).chain(heartbeat).collect();
    rows.sort_unstable_by(|one, other| other[0].cmp(&one[0]));
    rows
}

fn status(active: Option<bool>, status: Option<&str>) -> String {
    let unknown = MonitorStatus::Unknown.as_str();
    if active == Some(true) { status.unwrap_or(unknown) } else { PAUSED }.to_owned()
}
