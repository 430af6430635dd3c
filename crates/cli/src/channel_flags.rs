//! Flags of channels, one per kind, by the table of `rules`: the value is the first required setting of the
//! kind, such as the URL of a webhook. `--set` gives the others.

use std::fs;
use std::io::stdin;

use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Args, Command, FromArgMatches};
use rules::field::{Block, Field, Presence, json_name};
use rules::tables;
use serde_json::{Map, Value as Json, json};

/// ID of the group of the flags of kinds.
pub(crate) const KINDS: &str = "kinds";
/// ID of the flag with further settings.
const SET: &str = "set";
/// Longest word of a name that is an acronym.
const ACRONYM_CHARS: usize = 3;
/// Beginning of a value that is in a file.
const IN_FILE: char = '@';

/// A channel of the command line.
#[derive(Clone, Debug)]
pub(crate) struct NewChannel {
    /// Kind, such as `slack`.
    pub(crate) kind: &'static str,
    /// Settings in the contract's JSON.
    pub(crate) settings: Map<String, Json>,
}

/// The channels of the command line.
#[derive(Debug, Default)]
pub(crate) struct ChannelFlags {
    pub(crate) channels: Vec<NewChannel>,
}

impl Args for ChannelFlags {
    fn augment_args(command: Command) -> Command {
        let command = tables::NOTIFICATION.blocks.iter().fold(command, |command, block| {
            let Some(main) = main_field(block) else { return command };
            let text = main.description.trim_end_matches('.');
            let in_file = if main.sensitive { "; @FILE reads it from a file" } else { "" };
            let help = format!("{} {text}{in_file}; repeatable", block.description);
            let value = main.name.to_uppercase();
            let arg = Arg::new(block.name).long(block.name.replace('_', "-")).help(help);
            command.arg(arg.value_name(value).action(ArgAction::Append))
        });
        let kinds = tables::NOTIFICATION.blocks.iter().map(|block| block.name);
        let command = command.group(ArgGroup::new(KINDS).multiple(true).args(kinds));
        command.arg(
            Arg::new(SET)
                .long(SET)
                .value_name("KIND.SETTING=VALUE")
                .action(ArgAction::Append)
                .help(
                    "Further setting of a channel, such as opsgenie.region=eu or \
                     ntfy.token=@FILE; repeatable",
                ),
        )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ChannelFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = Self::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let invalid =
            |why: String| clap::Error::raw(clap::error::ErrorKind::ValueValidation, why + "\n");
        for block in tables::NOTIFICATION.blocks {
            let Some(main) = main_field(block) else { continue };
            for given in matches.get_many::<String>(block.name).into_iter().flatten() {
                let value = value(main, given).map_err(invalid)?;
                let settings = Map::from_iter([(json_name(main.name), json!(value))]);
                self.channels.push(NewChannel { kind: block.name, settings });
            }
        }
        for given in matches.get_many::<String>(SET).into_iter().flatten() {
            self.set(given).map_err(invalid)?;
        }
        Ok(())
    }
}

impl ChannelFlags {
    /// Adds a setting, `KIND.SETTING=VALUE`, to all channels of the kind.
    fn set(&mut self, given: &str) -> Result<(), String> {
        // The value may be a secret, so errors only have what precedes it.
        let (path, text) = given.split_once('=').unwrap_or((given, ""));
        let shape = || format!("`--set {path}` must have the form KIND.SETTING=VALUE");
        let (kind, name) = path.split_once('.').filter(|_| path != given).ok_or_else(shape)?;
        let (kind, name) = (kind.replace('-', "_"), name.replace('-', "_"));
        let block = tables::NOTIFICATION.blocks.iter().find(|block| block.name == kind);
        let block = block.ok_or_else(|| {
            let known: Vec<&str> = tables::NOTIFICATION.blocks.iter().map(|it| it.name).collect();
            format!("`--set {path}`: unknown kind `{kind}`; expected one of {}", known.join(", "))
        })?;
        let field = block.fields.iter().find(|field| field.name == name).ok_or_else(|| {
            let known: Vec<&str> = block.fields.iter().map(|it| it.name).collect();
            format!(
                "`--set {path}`: unknown setting `{name}`; expected one of {}",
                known.join(", ")
            )
        })?;
        let value = value(field, text)?;
        let mut of_kind = self.channels.iter_mut().filter(|it| it.kind == kind).peekable();
        if of_kind.peek().is_none() {
            return Err(format!("`--set {path}` needs `--{}`", kind.replace('_', "-")));
        }
        for channel in of_kind {
            channel.settings.insert(json_name(field.name), json!(value));
        }
        Ok(())
    }
}

/// Returns the name of a kind for people, such as `Google Chat` or `SMS`.
pub(crate) fn title(block: &Block) -> String {
    let word = |word: &str| {
        let mut word = word.to_owned();
        let big = if word.len() <= ACRONYM_CHARS { word.len() } else { 1 };
        if let Some(letters) = word.get_mut(..big) {
            letters.make_ascii_uppercase();
        }
        word
    };
    block.name.split('_').map(word).collect::<Vec<_>>().join(" ")
}

/// Returns the table of a kind.
pub(crate) fn block(kind: &str) -> Option<&'static Block> {
    tables::NOTIFICATION.blocks.iter().find(|block| block.name == kind)
}

fn main_field(block: &Block) -> Option<&'static Field>
where
    Block: 'static,
{
    let block = self::block(block.name)?;
    block.fields.iter().find(|field| field.presence == Presence::Required)
}

/// Returns a value, or the content of its file if it is a secret that begins with `@`.
fn value(field: &Field, given: &str) -> Result<String, String> {
    let Some(file) = given.strip_prefix(IN_FILE).filter(|_| field.sensitive) else {
        return Ok(given.to_owned());
    };
    let text =
        if file == "-" { std::io::read_to_string(stdin()) } else { fs::read_to_string(file) };
    let text = text.map_err(|why| format!("reading `{file}`: {why}"))?;
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<ChannelFlags, String> {
        let command = ChannelFlags::augment_args(Command::new("init").no_binary_name(true));
        let matches = command.try_get_matches_from(args).map_err(|why| why.to_string())?;
        ChannelFlags::from_arg_matches(&matches).map_err(|why| why.to_string())
    }

    #[test]
    fn each_kind_has_a_flag() {
        for block in tables::NOTIFICATION.blocks {
            let flag = format!("--{}", block.name.replace('_', "-"));
            let flags = parse(&[&flag, "x"]).unwrap();
            let [channel] = &*flags.channels else { panic!("{flag}") };
            assert_eq!((channel.kind, channel.settings.len()), (block.name, 1));
        }
    }

    #[test]
    fn kinds_have_names_for_people() {
        let titles = ["slack", "google_chat", "ms_teams", "sms"].map(|it| block(it).map(title));
        let titles = titles.map(Option::unwrap_or_default);
        assert_eq!(titles, ["Slack", "Google Chat", "MS Teams", "SMS"]);
    }

    #[test]
    fn further_settings_belong_to_their_kind() {
        let flags = parse(&["--opsgenie", "key", "--set", "opsgenie.region=eu"]).unwrap();
        assert_eq!(json!(flags.channels[0].settings), json!({ "apiKey": "key", "region": "eu" }));
        for (args, why) in [
            (&["--set", "ntfy.token=x"][..], "needs `--ntfy`"),
            (&["--ntfy", "a", "--set", "ntfy.tokn=x"], "unknown setting `tokn`; expected one of"),
            (&["--ntfy", "a", "--set", "pigeon.x=y"], "unknown kind `pigeon`"),
            (&["--ntfy", "a", "--set", "x"], "must have the form KIND.SETTING=VALUE"),
            (&["--slack", "@/nowhere/url"], "reading `/nowhere/url`"),
        ] {
            let refused = parse(args).unwrap_err();
            assert!(refused.contains(why), "{args:?}: {refused}");
        }
        assert!(!parse(&["--set", "ntfy.tokn=secret"]).unwrap_err().contains("secret"));
        // Channels of Telegram have names with this character.
        let flags = parse(&["--telegram", "@acme"]).unwrap();
        assert_eq!(flags.channels[0].settings["chatId"], "@acme");
    }
}
