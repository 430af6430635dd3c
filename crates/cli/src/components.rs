//! `aloft components` and `aloft groups`: what a status page shows. Calls a running service with a key.
//! Leaves moves to `moves`.

mod moves;

use anyhow::Result;
use clap::{Args, Subcommand};
use serde_json::{Map, Value as Json, json};

use self::moves::MoveArgs;
use crate::field_flags::{FlagSource, KindTable};
use crate::output_args::OutputArgs;
use crate::resources::{self, COMPONENTS, DeletionArgs, GROUPS, InputArgs, Kind, ListArgs, PAGES};
use crate::session::Session;

/// Declares tables as sources of flags.
macro_rules! sources {
    ($($name:ident = $table:ident, $changes:literal;)+) => {$(
        #[doc = concat!("Arguments of the table `", stringify!($table), "`.")]
        #[derive(Debug)]
        pub(crate) struct $name;

        impl FlagSource for $name {
            const CHANGES: bool = $changes;

            fn tables() -> Vec<KindTable> {
                vec![KindTable { kind: stringify!($table), table: &rules::tables::$table }]
            }
        }
    )+};
}

sources! {
    NewComponent = STATUS_PAGE_COMPONENT, false;
    ChangedComponent = STATUS_PAGE_COMPONENT, true;
    NewGroup = STATUS_PAGE_COMPONENT_GROUP, false;
    ChangedGroup = STATUS_PAGE_COMPONENT_GROUP, true;
    NewPage = STATUS_PAGE, false;
    ChangedPage = STATUS_PAGE, true;
    ChangedMaintenance = MAINTENANCE, true;
}

/// Subcommands of `aloft components`.
#[derive(Debug, Subcommand)]
pub(crate) enum ComponentCommand {
    /// List components, newest first
    List {
        #[command(flatten)]
        on: OnPageArgs,
        #[command(flatten)]
        list: ListArgs,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Show a component
    Get {
        #[command(flatten)]
        component: ComponentArg,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Create a component on a page
    Create {
        #[command(flatten)]
        input: Box<InputArgs<NewComponent>>,
    },
    /// Change the given arguments of a component; its page and its type are fixed
    Update {
        #[command(flatten)]
        component: ComponentArg,
        #[command(flatten)]
        input: Box<InputArgs<ChangedComponent>>,
    },
    /// Delete a component, but not its monitor; asks on a terminal, and needs --yes elsewhere
    Delete {
        #[command(flatten)]
        component: ComponentArg,
        /// Delete without a question
        #[arg(long, short)]
        yes: bool,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Move a component on its page, and into or out of a group
    Move {
        #[command(flatten)]
        component: ComponentArg,
        #[command(flatten)]
        to: MoveArgs,
        /// Group that the component joins, grp_… or its name [default: the one it has]
        #[arg(long, value_name = "GROUP", conflicts_with_all = ["before", "after"])]
        group: Option<String>,
        /// Take the component out of its group
        #[arg(long, conflicts_with_all = ["group", "before", "after"])]
        no_group: bool,
        #[command(flatten)]
        output_args: OutputArgs,
    },
}

/// Subcommands of `aloft groups`.
#[derive(Debug, Subcommand)]
pub(crate) enum GroupCommand {
    /// List groups of components, newest first
    List {
        #[command(flatten)]
        on: OnPageArgs,
        #[command(flatten)]
        list: ListArgs,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Show a group
    Get {
        #[command(flatten)]
        group: GroupArg,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Create a group on a page
    Create {
        #[command(flatten)]
        input: Box<InputArgs<NewGroup>>,
    },
    /// Change the given arguments of a group; its page is fixed
    Update {
        #[command(flatten)]
        group: GroupArg,
        #[command(flatten)]
        input: Box<InputArgs<ChangedGroup>>,
    },
    /// Delete a group; its components stay. Asks on a terminal, and needs --yes elsewhere
    Delete {
        #[command(flatten)]
        group: GroupArg,
        /// Delete without a question
        #[arg(long, short)]
        yes: bool,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Move a group with its components on its page
    Move {
        #[command(flatten)]
        group: GroupArg,
        #[command(flatten)]
        to: MoveArgs,
        #[command(flatten)]
        output_args: OutputArgs,
    },
}

/// The page to look at.
#[derive(Debug, Args)]
pub(crate) struct OnPageArgs {
    /// Only on this page, page_…, its slug or its title
    #[arg(long = "page", value_name = "PAGE")]
    page: Option<String>,
}

/// The component to work on.
#[derive(Debug, Args)]
pub(crate) struct ComponentArg {
    /// ID (cmp_…) or name of the component
    #[arg(value_name = "COMPONENT")]
    component: String,
    #[command(flatten)]
    on: OnPageArgs,
}

/// The group to work on.
#[derive(Debug, Args)]
pub(crate) struct GroupArg {
    /// ID (grp_…) or name of the group
    #[arg(value_name = "GROUP")]
    group: String,
    #[command(flatten)]
    on: OnPageArgs,
}

impl OnPageArgs {
    /// Returns the filter of lists.
    async fn filter(&self, session: &Session<'_>) -> Result<Map<String, Json>> {
        let page = resources::optional_id(session, &PAGES, self.page.as_deref()).await?;
        Ok(page.map(|page| ("pageId".to_owned(), json!(page))).into_iter().collect())
    }
}

pub(crate) async fn components(action: ComponentCommand) -> Result<()> {
    match action {
        ComponentCommand::List { on, list, output_args } => {
            run_list(&COMPONENTS, &on, &list, &output_args).await
        }
        ComponentCommand::Get { component: ComponentArg { component, on }, output_args } => {
            run_get(&COMPONENTS, &component, &on, &output_args).await
        }
        ComponentCommand::Create { input } => run_create(&COMPONENTS, &input).await,
        ComponentCommand::Update { component: ComponentArg { component, on }, input } => {
            run_update(&COMPONENTS, &component, &on, &input).await
        }
        ComponentCommand::Delete {
            component: ComponentArg { component, on },
            yes,
            output_args,
        } => {
            let deletion = DeletionArgs { yes, output_args: &output_args };
            run_delete(&COMPONENTS, &component, &on, deletion).await
        }
        ComponentCommand::Move { component, to, group, no_group, output_args } => {
            let session = Session::open(&output_args.service)?;
            let ComponentArg { component, on } = component;
            let filter = on.filter(&session).await?;
            let joins = match (group, no_group) {
                (Some(group), _) => moves::Joins::Group(group),
                (None, true) => moves::Joins::None,
                (None, false) => moves::Joins::Same,
            };
            moves::component(&session, &component, &filter, &joins, &to, &output_args).await
        }
    }
}

pub(crate) async fn groups(action: GroupCommand) -> Result<()> {
    match action {
        GroupCommand::List { on, list, output_args } => {
            run_list(&GROUPS, &on, &list, &output_args).await
        }
        GroupCommand::Get { group: GroupArg { group, on }, output_args } => {
            run_get(&GROUPS, &group, &on, &output_args).await
        }
        GroupCommand::Create { input } => run_create(&GROUPS, &input).await,
        GroupCommand::Update { group: GroupArg { group, on }, input } => {
            run_update(&GROUPS, &group, &on, &input).await
        }
        GroupCommand::Delete { group: GroupArg { group, on }, yes, output_args } => {
            let deletion = DeletionArgs { yes, output_args: &output_args };
            run_delete(&GROUPS, &group, &on, deletion).await
        }
        GroupCommand::Move { group: GroupArg { group, on }, to, output_args } => {
            let session = Session::open(&output_args.service)?;
            let filter = on.filter(&session).await?;
            moves::group(&session, &group, &filter, &to, &output_args).await
        }
    }
}

async fn run_list(
    kind: &'static Kind,
    on: &OnPageArgs,
    list: &ListArgs,
    output_args: &OutputArgs,
) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    let filter = on.filter(&session).await?;
    resources::list(&session, kind, filter, list, output_args).await
}

async fn run_get(
    kind: &'static Kind,
    given: &str,
    on: &OnPageArgs,
    output_args: &OutputArgs,
) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    let filter = on.filter(&session).await?;
    resources::get(&session, kind, given, &filter, output_args).await
}

async fn run_create<S: FlagSource>(kind: &'static Kind, input: &InputArgs<S>) -> Result<()> {
    let session = Session::open(&input.output_args.service)?;
    resources::create(&session, kind, input).await
}

async fn run_update<S: FlagSource>(
    kind: &'static Kind,
    given: &str,
    on: &OnPageArgs,
    input: &InputArgs<S>,
) -> Result<()> {
    let session = Session::open(&input.output_args.service)?;
    let filter = on.filter(&session).await?;
    resources::update(&session, kind, given, &filter, input).await
}

async fn run_delete(
    kind: &'static Kind,
    given: &str,
    on: &OnPageArgs,
    deletion: DeletionArgs<'_>,
) -> Result<()> {
    let session = Session::open(&deletion.output_args.service)?;
    let filter = on.filter(&session).await?;
    resources::delete(&session, kind, given, &filter, deletion).await
}
