//! `aloft login`, `aloft logout` and `aloft context`: stores contexts after a check of their key, and
//! lists, selects and removes them. Leaves the file to `contexts`, and `browser` gets a key through the
//! dashboard. Prints no key.

mod browser;

use std::io::{IsTerminal as _, stdin};

use anyhow::{Context as _, Result, anyhow, bail};
use clap::{Args, Subcommand};
use contract::rpc::{self, Client, Whoami};
use rules::Secret;
use serde_json::{Value, json};

use crate::check::without_credentials;
use crate::contexts::{self, Contexts, StoredContext};
use crate::database_args::ConfigArg;
use crate::json_args::JsonArgs;
use crate::service::{self, NETWORK_HELP, given_address, local_address};
use crate::{dashboard, key_input, output};

/// How a key gets to the program.
pub(crate) const LOGIN_HELP: &str = "On a terminal, a person approves the login in the dashboard, on this \
or on another machine; the key is created with that and belongs to the person. Otherwise the key is read \
from standard input. A key can be created in the dashboard, or on the server with `aloft keys create`.";

/// Service to log in to, and the name of the context.
#[derive(Debug, Args)]
#[command(after_help = LOGIN_HELP)]
pub(crate) struct LoginArgs {
    #[arg(long, value_name = "URL", help = NETWORK_HELP)]
    base_url: Option<String>,
    /// Name of the context, new or to be replaced [default: the slug of the key's workspace]
    #[arg(long, value_name = "NAME", value_parser = contexts::name)]
    context: Option<String>,
    /// Log in through the dashboard, also without a terminal
    #[arg(long, conflicts_with = "with_key")]
    web: bool,
    /// Enter a key on the terminal instead of logging in through the dashboard
    #[arg(long)]
    with_key: bool,
    #[command(flatten)]
    config: ConfigArg,
}

/// Context to remove.
#[derive(Debug, Args)]
pub(crate) struct LogoutArgs {
    /// Name of the context [default: the one in use]
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
}

/// Subcommands of `aloft context`.
#[derive(Debug, Subcommand)]
pub(crate) enum ContextCommand {
    /// List the contexts and mark the one in use
    List {
        #[command(flatten)]
        json: JsonArgs,
    },
    /// Use a context in the commands that follow
    Use {
        /// Name of the context
        name: String,
    },
    /// Remove a context with its key; the key stays valid
    Remove {
        /// Name of the context
        name: String,
    },
}

pub(crate) async fn login(args: LoginArgs) -> Result<()> {
    // A file that cannot be used should be reported before the key is entered.
    contexts::require_folder()?;
    let known = Contexts::read()?;
    let named = args.context.as_deref().and_then(|name| known.get(name).ok());
    // A person typed the name of the context, so it precedes the environment.
    let given = match (&args.base_url, named) {
        (None, Some(named)) => Some(named.base_url.clone()),
        (flag, _) => given_address(flag.as_deref()),
    };
    let base_url = match given {
        Some(given) => given,
        None => local_address(args.config.settings()?.listen),
    };
    let shown = without_credentials(&base_url);
    output::print_stderr(&format!("service: {shown}"));
    let key = get_key(&args, &base_url).await?;
    let who = identify(&base_url, &key).await.with_context(|| format!("logging in at {shown}"))?;
    let context = StoredContext {
        name: match &args.context {
            Some(name) => name.clone(),
            // The service chose it, whatever service that is.
            None => contexts::name(&who.slug)
                .context("the service named no usable workspace; give `--context NAME`")?,
        },
        base_url,
        workspace: who.slug,
        key_id: who.actor.key_id,
        key,
    };
    let (name, key_id) = (context.name.clone(), context.key_id.clone());
    Contexts::change(|contexts| {
        let is_same = |it: &StoredContext| {
            (&it.base_url, &it.workspace) == (&context.base_url, &context.workspace)
        };
        let taken = contexts.get(&name).ok().filter(|it| !is_same(it));
        if let (Some(taken), None) = (taken, &args.context) {
            let (other, workspace) = (without_credentials(&taken.base_url), &taken.workspace);
            bail!(
                "the context `{name}` is for the workspace `{workspace}` at {other}; choose another name \
                 with `--context NAME`"
            );
        }
        contexts.put(context);
        Ok(())
    })?;
    let (workspace, scopes) =
        (output::one_line(&who.name), output::one_line(&who.actor.scopes.join(", ")));
    let key_id = output::one_line(&key_id);
    output::print_text(&format!(
        "logged in to {workspace} with {key_id} ({scopes}); the context `{name}` is in use"
    ));
    Ok(())
}

/// Gets a key through the dashboard or from standard input.
async fn get_key(args: &LoginArgs, base_url: &str) -> Result<Secret<String>> {
    let is_terminal = stdin().is_terminal();
    if args.web || (is_terminal && !args.with_key) {
        if let Some(key) = browser::log_in(base_url).await? {
            return Ok(key);
        }
        if args.web {
            bail!(
                "this server has no login through the dashboard; pipe a key: `aloft login < FILE`"
            );
        }
    }
    if is_terminal {
        let host = dashboard::host_of(base_url);
        output::print_stderr(&format!(
            "Create a key in the dashboard, {host}, in the settings of the workspace; it is shown once."
        ));
    }
    key_input::read_key()
}

/// Returns the owner of a key.
async fn identify(base_url: &str, key: &Secret<String>) -> Result<Whoami> {
    let client = Client::with_network(&service::network(), base_url, key)?;
    let time = rpc::CALL_TIMEOUT;
    let answer = tokio::time::timeout(time, client.whoami()).await;
    let answer = answer.map_err(|_| anyhow!("no response within {} s", time.as_secs()))?;
    answer.map_err(|error| service::service_error(&error))
}

pub(crate) fn logout(args: LogoutArgs) -> Result<()> {
    let removed = Contexts::change(|contexts| {
        let name = args.context.or_else(|| contexts.current.clone());
        let name = name.context("no context is in use; `aloft context list` shows all of them")?;
        contexts.remove(&name)
    })?;
    print_removed(&removed);
    Ok(())
}

pub(crate) fn context(action: ContextCommand) -> Result<()> {
    match action {
        ContextCommand::List { json } => list(&json),
        ContextCommand::Use { name } => select(&name),
        ContextCommand::Remove { name } => {
            print_removed(&Contexts::change(|contexts| contexts.remove(&name))?);
            Ok(())
        }
    }
}

fn list(json: &JsonArgs) -> Result<()> {
    let contexts = Contexts::read()?;
    if json.is_wanted() {
        let all: Vec<Value> = contexts.all.iter().map(without_key).collect();
        return json.print(json!({ "current": contexts.current, "contexts": all }));
    }
    let row = |it: &StoredContext| {
        let mark = if contexts.current.as_ref() == Some(&it.name) { "*" } else { "" };
        let service = without_credentials(&it.base_url);
        [mark.to_owned(), it.name.clone(), it.workspace.clone(), it.key_id.clone(), service]
    };
    let head = ["USED", "CONTEXT", "WORKSPACE", "KEY", "SERVICE"].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(head).chain(contexts.all.iter().map(row)).collect();
    output::print_text(&output::table(&rows));
    Ok(())
}

fn without_key(context: &StoredContext) -> Value {
    json!({
        "name": context.name,
        "baseUrl": without_credentials(&context.base_url),
        "workspace": context.workspace,
        "keyId": context.key_id,
    })
}

fn select(name: &str) -> Result<()> {
    let service = Contexts::change(|contexts| {
        let service = without_credentials(&contexts.get(name)?.base_url);
        contexts.current = Some(name.to_owned());
        Ok(service)
    })?;
    output::print_text(&format!("the context `{name}` for {service} is in use"));
    Ok(())
}

fn print_removed(removed: &StoredContext) {
    let StoredContext { name, key_id, .. } = removed;
    output::print_text(&format!("removed the context `{name}`"));
    output::print_stderr(&format!(
        "Its key stays valid until you revoke {key_id}, in the dashboard or on the server with \
         `aloft keys revoke {key_id}`."
    ));
}
