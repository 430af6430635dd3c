//! `aloft init`: everything for a first alert about a site: a monitor, channels, a test message, and a first
//! check. A second run finds what the first one made, so that it continues after a failure.

mod steps;

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Args;
use rules::Periodicity;
use serde_json::{Value as Json, json};

use self::steps::{Origin, ReadyObject};
use crate::channel_flags::ChannelFlags;
use crate::dashboard;
use crate::output::{self, one_line};
use crate::output_args::OutputArgs;
use crate::service::KEY_HELP;
use crate::session::Session;

const EXIT_CODES: &str = "Exit codes: 0, everything exists and each receiver accepted the test message; \
1, a step failed, or a receiver did not accept it; 2, invalid command line. The result of the first check \
does not change the exit code. A second run finds what exists, and continues.";

/// Arguments of `aloft init`.
#[derive(Debug, Args)]
#[command(after_help = format!("{EXIT_CODES} {KEY_HELP}"))]
pub(crate) struct InitArgs {
    /// URL of the site; without http:// or https://, it is https
    #[arg(value_name = "URL")]
    url: String,
    /// Name of the monitor [default: the host of the URL]
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// Time between two checks
    #[arg(long, value_name = "TIME", default_value = "1m", value_parser = clap::builder::PossibleValuesParser::new(Periodicity::WORDS))]
    periodicity: String,
    /// Existing channel to use, chn_… or its name; repeatable
    #[arg(long = "channel", value_name = "CHANNEL")]
    known: Vec<String>,
    #[command(flatten)]
    output_args: OutputArgs,
    #[command(flatten, next_help_heading = "Channels")]
    flags: ChannelFlags,
}

/// Everything that exists so far, for messages and for the result.
#[derive(Debug, Default)]
struct Progress {
    exists: Vec<String>,
    created: Vec<String>,
    ids: Vec<String>,
    json: serde_json::Map<String, Json>,
}

impl Progress {
    fn add(&mut self, noun: &str, found: &ReadyObject, output_args: &OutputArgs) {
        let (id, name) = (&found.id, one_line(&found.name));
        self.exists.push(format!("{noun} {id}"));
        self.ids.push(id.clone());
        let how = match found.origin {
            Origin::Created => {
                self.created.push(id.clone());
                "created"
            }
            Origin::Changed => "found and changed",
            Origin::Existing => "found",
        };
        if output_args.is_for_people() {
            output::print_text(&format!("{noun:<9}{id}  `{name}`, {how}"));
        }
    }

    /// Returns what exists after a failure, and how to continue.
    fn remedy(&self) -> String {
        if self.exists.is_empty() {
            return "nothing was created".to_owned();
        }
        format!("{} exists; run the same command again to continue", self.exists.join(" and "))
    }
}

pub(crate) async fn run(args: InitArgs) -> Result<ExitCode> {
    let mut progress = Progress::default();
    let session = Session::open(&args.output_args.service)?;
    let accepted = Box::pin(all(&session, &args, &mut progress)).await;
    let accepted = accepted.with_context(|| progress.remedy())?;
    let ids: Vec<&str> = progress.ids.iter().map(String::as_str).collect();
    progress.json.insert("created".to_owned(), json!(progress.created));
    args.output_args.prints_data(&Json::Object(progress.json), ids)?;
    Ok(if accepted { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Makes all steps. Returns whether each receiver accepted the test message.
async fn all(session: &Session<'_>, args: &InitArgs, progress: &mut Progress) -> Result<bool> {
    let output_args = &args.output_args;
    let wanted = steps::WantedMonitor {
        url: &args.url,
        name: args.name.as_deref(),
        periodicity: &args.periodicity,
    };
    let monitor = steps::monitor(session, &wanted).await?;
    progress.json.insert("monitor".to_owned(), monitor.json.clone());
    progress.add("monitor", &monitor, output_args);
    let mut channels = Vec::new();
    for given in &args.known {
        channels.push(steps::known_channel(session, given, &monitor.id).await?);
        progress.add("channel", channels.last().context("a channel was added")?, output_args);
    }
    for new in &args.flags.channels {
        channels.push(steps::channel(session, new, &monitor.id).await?);
        progress.add("channel", channels.last().context("a channel was added")?, output_args);
    }
    let shown = channels.iter().map(|it| json!({ "id": it.id, "name": it.name }));
    progress.json.insert("channels".to_owned(), shown.collect());
    let mut accepted = true;
    let mut tests = Vec::new();
    for channel in &channels {
        let test = steps::test(session, &channel.id).await?;
        accepted &= test["accepted"] == json!(true);
        if output_args.is_for_people() {
            output::print_text(&steps::test_words(channel, &test));
        }
        tests.push(test);
    }
    progress.json.insert("tests".to_owned(), json!(tests));
    let check = steps::check(session, &monitor.id).await?;
    if output_args.is_for_people() {
        output::print_text(&steps::check_words(&check));
        if channels.is_empty() {
            output::print_text(
                "nobody is alerted yet: add a channel, such as `--slack URL` or `--email ADDRESS`",
            );
        }
        let address = dashboard::address(session, &format!("/monitors/{}", monitor.id)).await?;
        output::print_text(&format!("see {address}, or run `aloft watch`"));
    }
    progress.json.insert("check".to_owned(), check);
    Ok(accepted)
}
