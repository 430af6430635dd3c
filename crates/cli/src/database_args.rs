//! Arguments of commands that work on the server's own database: selects the database and prints
//! the result. Settings without a flag come from the environment and the configuration file, as for
//! the server.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use server::boot;
use server::config::Settings;
use server::control::{self, Admin};
use web::context::Context;

use crate::flags::Flags;
use crate::json_args::JsonArgs;
use crate::output;

/// Variable of the data folder.
const DATA_VARIABLE: &str = "ALOFT_DATA";

/// The database to work on, and the format of the output.
#[derive(Debug, Args)]
pub(crate) struct DatabaseArgs {
    #[arg(
        long,
        value_name = "DIR",
        global = true,
        help = "Data folder of the server [default: ./aloft-data] [env: ALOFT_DATA]"
    )]
    data: Option<String>,
    #[arg(
        long,
        value_name = "URL",
        global = true,
        help = "PostgreSQL of the server, if it is not embedded [env: ALOFT_DATABASE]"
    )]
    database: Option<String>,
    #[command(flatten)]
    config: ConfigArg,
    #[command(flatten)]
    json: JsonArgs,
}

/// The configuration file.
#[derive(Debug, Default, Args)]
pub(crate) struct ConfigArg {
    #[arg(
        long,
        value_name = "FILE",
        global = true,
        help = "File with settings in TOML; else `aloft.toml` if it exists [env: ALOFT_CONFIG]"
    )]
    config: Option<PathBuf>,
}

impl DatabaseArgs {
    /// Returns whether there is a database to work on: flags or the environment name one, or its folder
    /// exists.
    pub(crate) fn is_available(&self) -> Result<bool> {
        let is_named = self.data.is_some() || self.database.is_some() || self.config.is_given();
        if is_named || boot::variable(DATA_VARIABLE).is_some() {
            return Ok(true);
        }
        let settings = self.config.settings()?;
        let is_postgres = matches!(settings.database, server::config::Database::Postgres(_));
        Ok(is_postgres || settings.data.exists())
    }

    /// Returns the format of the result.
    pub(crate) fn into_json(self) -> JsonArgs {
        self.json
    }

    /// Opens the database through the server that runs on it, or directly. Creates nothing, because
    /// a mistyped folder would become a second, empty database.
    pub(crate) async fn open(&self) -> Result<Admin> {
        Ok(self.open_with_settings().await?.0)
    }

    /// Like [`Self::open`], and returns the settings too.
    pub(crate) async fn open_with_settings(&self) -> Result<(Admin, Settings)> {
        let settings = self.settings()?;
        let place = boot::store_settings(&settings);
        let admin = control::connect(&Context::system(), place).await?;
        admin.apply_plans(settings.plans.clone(), settings.retention_days());
        Ok((admin, settings))
    }

    /// Loads the settings and prints which database they name.
    pub(crate) fn settings(&self) -> Result<Settings> {
        let mut flags = Flags { file: self.config.config.clone(), ..Flags::default() };
        for (name, value) in [("data", &self.data), ("database", &self.database)] {
            if let Some(value) = value {
                flags.values.insert(name.to_owned(), value.clone());
            }
        }
        let (_, settings) = boot::load(flags.values, flags.file)?;
        output::print_stderr(&format!("data folder: {}", settings.data.display()));
        if let server::config::Database::Postgres(_) = settings.database {
            let place = settings.database.location(&settings.data);
            output::print_stderr(&format!("database: {place}"));
        }
        Ok(settings)
    }

    /// Prints the result as JSON or in words.
    pub(crate) fn print_result(
        &self,
        value: serde_json::Value,
        words: impl FnOnce() -> String,
    ) -> Result<()> {
        if self.json.is_wanted() {
            return self.json.print(value);
        }
        output::print_text(&words());
        Ok(())
    }
}

impl ConfigArg {
    /// Returns whether the flag names a file.
    pub(crate) const fn is_given(&self) -> bool {
        self.config.is_some()
    }

    /// Loads the settings with no flag except the file.
    pub(crate) fn settings(&self) -> Result<Settings> {
        let flags = Flags { file: self.config.clone(), ..Flags::default() };
        Ok(boot::load(flags.values, flags.file)?.1)
    }
}
