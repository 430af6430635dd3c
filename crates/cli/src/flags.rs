//! The settings of the server as flags, one per row of the server's own table. Each setting is
//! described only there.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use server::config::{SETTINGS, Setting};

/// Name of the flag for the configuration file.
const FILE: &str = "config";

/// Settings of the command line by name, and the configuration file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flags {
    /// Values by the names of their settings.
    pub(crate) values: BTreeMap<String, String>,
    /// Configuration file, if given.
    pub(crate) file: Option<PathBuf>,
}

impl Args for Flags {
    fn augment_args(command: Command) -> Command {
        let file = Arg::new(FILE)
            .long(FILE)
            .value_name("FILE")
            .value_parser(clap::value_parser!(PathBuf))
            .help("File with settings in TOML; else `aloft.toml` if it exists [env: ALOFT_CONFIG]");
        SETTINGS.iter().filter_map(flag).fold(command.arg(file), Command::arg)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Flags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = Self::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.file = matches.get_one::<PathBuf>(FILE).cloned();
        for setting in SETTINGS.iter().filter(|setting| !setting.secret) {
            let given = match setting.shape {
                Some(_) => matches.get_one::<String>(setting.name).cloned(),
                None => matches.get_flag(setting.name).then(|| "true".to_owned()),
            };
            if let Some(given) = given {
                self.values.insert(setting.name.to_owned(), given);
            }
        }
        Ok(())
    }
}

fn flag(setting: &'static Setting) -> Option<Arg> {
    let long = setting.flag()?.trim_start_matches('-').to_owned();
    let default = if setting.default.is_empty() || setting.shape.is_none() {
        String::new()
    } else {
        format!(" [default: {}]", setting.default)
    };
    let help = format!(
        "{}{default} [env: {}]",
        setting.description.trim_end_matches('.'),
        setting.variable()
    );
    let arg = Arg::new(setting.name).long(long).help(help);
    Some(match setting.shape {
        Some(shape) => arg.value_name(shape),
        None => arg.action(ArgAction::SetTrue),
    })
}
