//! `service_members` and `service_api_keys`: the people and keys with access to the workspace. Our own
//! additions. Neither returns a secret: the service does not store keys.

use rules::field::{Field, Resource, Shape, json_name};
use rules::tables::{KEY, USER};
use rules::{Role, Scope, limits};
use serde_json::{Value as Json, json};
use terraform_plugin::data_source::DataSource;
use terraform_plugin::schema::Schema;
use terraform_plugin::{Context, Diagnostic, Object, Outcome};

use crate::connection::{Connection, to_diagnostics};
use crate::service::{next_token, text};
use crate::validate::check_arguments;
use crate::wire::elements;
use crate::{schema, wire};

/// Shape of names, addresses and authors in outputs.
const WORD: Shape = Shape::Line { min: 0, max: u32::MAX };

/// The members of the workspace.
static MEMBERS_DATA: Resource = Resource {
    name: "service_members",
    description: "Lists the members of the workspace.",
    fields: &[
        Field::optional(
            "role",
            Shape::OneOf(Role::WORDS),
            "Only members with this role. Left out, all of them.",
        ),
        Field::output(
            "members",
            Shape::ListOf(&[
                Field::output("user_id", USER.shape_of("id"), "Identifier of the user."),
                Field::output("name", WORD, "Name of the member."),
                Field::output(
                    "email",
                    WORD,
                    "Email address. A read key gets its first character and its domain.",
                ),
                Field::output("role", Shape::OneOf(Role::WORDS), "Role of the member."),
                Field::output("since", Shape::Instant, "Start of the membership."),
                Field::output(
                    "last_sign_in_at",
                    Shape::Instant,
                    "Last sign-in to the server; null if the user never signed in.",
                ),
            ]),
            "The members, the newest accounts first.",
        ),
    ],
    beyond: &[],
    blocks: &[],
    rules: &[],
    import: None,
};

/// The keys of the workspace.
static API_KEYS_DATA: Resource = Resource {
    name: "service_api_keys",
    description: "Lists the API keys of the workspace, without the keys themselves.",
    fields: &[
        Field::optional(
            "scope",
            Shape::OneOf(Scope::WORDS),
            "Only keys with this scope. Left out, all of them.",
        ),
        Field::output(
            "api_keys",
            Shape::ListOf(&[
                Field::output("id", KEY.shape_of("id"), "Identifier of the key."),
                Field::output("name", WORD, "Purpose of the key."),
                Field::output("prefix", WORD, "First characters of the key."),
                Field::output(
                    "scope",
                    Shape::OneOf(Scope::WORDS),
                    "Scope of the key; null for a key from before scopes existed, which may write.",
                ),
                Field::output("created_at", Shape::Instant, "When the key was created."),
                Field::output(
                    "created_by",
                    WORD,
                    "Author of the key: the identifier of a user, or `command_line`.",
                ),
                Field::output("created_by_name", WORD, "Name of the user who created the key."),
                Field::output(
                    "expires_at",
                    Shape::Instant,
                    "When the key expires; null for a key without an end.",
                ),
                Field::output("revoked_at", Shape::Instant, "When the key was revoked."),
            ]),
            "The keys, newest first, including expired and revoked ones.",
        ),
    ],
    beyond: &[],
    blocks: &[],
    rules: &[],
    import: None,
};

/// Lists those who have access, all pages of the list.
#[derive(Debug)]
pub struct AccessData {
    table: &'static Resource,
    method: &'static str,
    /// Argument that filters the list, by the field of the same name.
    filter: &'static str,
    /// Attribute of the list.
    list: &'static str,
    /// Action that a failure prevents.
    doing: &'static str,
}

/// `service_members`.
pub const MEMBERS: AccessData = AccessData {
    table: &MEMBERS_DATA,
    method: "/member.v1.MemberService/ListMembers",
    filter: "role",
    list: "members",
    doing: "Cannot list the members",
};

/// `service_api_keys`.
pub const API_KEYS: AccessData = AccessData {
    table: &API_KEYS_DATA,
    method: "/api_key.v1.ApiKeyService/ListApiKeys",
    filter: "scope",
    list: "api_keys",
    doing: "Cannot list the API keys",
};

impl DataSource for AccessData {
    type Client = Connection;

    fn schema(&self) -> Schema {
        schema::schema(self.table)
    }

    async fn validate(&self, _: &Context<Connection>, config: &Object) -> Outcome<()> {
        check_arguments(self.table, config)
    }

    async fn read(&self, ctx: &Context<Connection>, config: Object) -> Outcome<Object> {
        let client = ctx.client()?.client()?;
        let wanted: Option<String> = config.get(self.filter)?;
        let (mut rows, mut token) = (Vec::new(), String::new());
        loop {
            let page = json!({ "limit": limits::LIST_LIMIT_MAX, "pageToken": token });
            let reply = client.call(self.method, page).await;
            let reply = reply.map_err(|failure| to_diagnostics(self.doing, failure))?;
            rows.extend(elements(&reply[json_name(self.list)]).iter().cloned());
            let next = next_token(&token, text(&reply["nextPageToken"]));
            match next.map_err(|detail| Diagnostic::error(self.doing, detail))? {
                Some(next) => token = next,
                None => break,
            }
        }
        rows.retain(|row: &Json| {
            wanted.is_none() || row[self.filter].as_str() == wanted.as_deref()
        });
        let list = wire::decode(self.table, &json!({ json_name(self.list): rows }));
        Ok(config.with(self.list, list.value(self.list).clone()))
    }
}
