//! Arguments of a channel from flags or from JSON.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use serde_json::{Map, Value as Json, json};

use crate::channel_flags::{self, ChannelFlags};
use crate::json_input;
use crate::resources::{self, CHANNELS, MONITORS};
use crate::session::Session;

/// Arguments of a new channel.
#[derive(Debug, Args)]
pub(crate) struct NewChannelArgs {
    /// File with the contract's JSON, such as {"providerType": "ntfy", "ntfy": {"topic": "acme"}}; - for
    /// standard input
    #[arg(long, value_name = "FILE", required_unless_present = channel_flags::KINDS, conflicts_with_all = [channel_flags::KINDS, "name", "monitors"])]
    from_json: Option<PathBuf>,
    /// Name of the channel [default: that of its kind]
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// Monitor whose incidents are sent to the channel, mon_… or its name; repeatable
    #[arg(long = "monitor", value_name = "MONITOR")]
    monitors: Vec<String>,
    #[command(flatten, next_help_heading = "Kinds")]
    flags: ChannelFlags,
}

/// Changes of a channel.
#[derive(Debug, Args)]
pub(crate) struct ChannelChangeArgs {
    /// File with all arguments in the contract's JSON, - for standard input
    #[arg(long, value_name = "FILE", required_unless_present_any = ["name", "monitors"], conflicts_with_all = ["name", "monitors"])]
    from_json: Option<PathBuf>,
    /// New name
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// Monitor whose incidents are sent to the channel, mon_… or its name; repeatable; replaces all
    #[arg(long = "monitor", value_name = "MONITOR")]
    monitors: Vec<String>,
}

impl NewChannelArgs {
    /// Returns the request that creates the channel.
    pub(super) async fn request(&self, session: &Session<'_>) -> Result<Json> {
        if let Some(file) = &self.from_json {
            return Ok(Json::Object(json_input::read_request(file, CHANNELS.field)?));
        }
        let [channel] = &*self.flags.channels else {
            bail!("a channel has one kind; create another channel for each other one");
        };
        let title = channel_flags::block(channel.kind).map(channel_flags::title);
        let name = self.name.clone().or(title).context("the kind has a name")?;
        let monitors = resources::ids(session, &MONITORS, &self.monitors).await?;
        let kind = rules::field::json_name(channel.kind);
        Ok(json!({ CHANNELS.field: {
            "name": name, "providerType": channel.kind, "monitorIds": monitors, kind: channel.settings,
        } }))
    }
}

impl ChannelChangeArgs {
    /// Returns the request that changes the channel with this ID.
    pub(super) async fn request(&self, session: &Session<'_>, id: &str) -> Result<Json> {
        let mut request = match &self.from_json {
            Some(file) => json_input::read_request(file, CHANNELS.field)?,
            None => self.masked(session).await?,
        };
        if let Some(channel) = request.get_mut(CHANNELS.field).and_then(Json::as_object_mut) {
            channel.insert("id".to_owned(), json!(id));
        }
        Ok(Json::Object(request))
    }

    async fn masked(&self, session: &Session<'_>) -> Result<Map<String, Json>> {
        let (mut channel, mut mask) = (Map::new(), Vec::new());
        if let Some(name) = &self.name {
            channel.insert("name".to_owned(), json!(name));
            mask.push("name");
        }
        if !self.monitors.is_empty() {
            let monitors = resources::ids(session, &MONITORS, &self.monitors).await?;
            channel.insert("monitorIds".to_owned(), json!(monitors));
            mask.push("monitorIds");
        }
        Ok(Map::from_iter([
            (CHANNELS.field.to_owned(), Json::Object(channel)),
            ("updateMask".to_owned(), json!(mask.join(","))),
        ]))
    }
}
