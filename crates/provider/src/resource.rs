//! All resources, as one type: a table and the calls of its service. The conversion of a response to a
//! state belongs to `resource::state`.

mod state;

use rules::field::{Presence, Resource as Table, Rule, Shape};
use rules::tables::{
    DNS_MONITOR, HEARTBEAT_MONITOR, HTTP_MONITOR, NOTIFICATION, STATUS_PAGE, STATUS_PAGE_COMPONENT,
    STATUS_PAGE_COMPONENT_GROUP, TCP_MONITOR,
};
use terraform_plugin::resource::{Create, Identity, Import, Resource, State, Update, Upgrade};
use terraform_plugin::schema::Schema;
use terraform_plugin::{Context, Diagnostic, Diagnostics, Object, Outcome, Type, Value};

use crate::client::Failure;
use crate::connection::{Connection, at, to_diagnostics};
use crate::service::{
    COMPONENTS, DNS_MONITORS, GROUPS, HEARTBEAT_MONITORS, HTTP_MONITORS, Id, NOTIFICATIONS, PAGES,
    ResourceReply, Service, TCP_MONITORS,
};
use crate::{schema, validate, wire, write_only};

/// A resource of the specification (§2).
#[derive(Clone, Copy, Debug)]
pub struct Managed {
    pub table: &'static Table,
    pub service: &'static Service,
}

/// Returns the resources, in the order of the specification, with heartbeat monitors after its kinds.
pub fn resources() -> [Managed; 8] {
    [
        Managed { table: &HTTP_MONITOR, service: &HTTP_MONITORS },
        Managed { table: &TCP_MONITOR, service: &TCP_MONITORS },
        Managed { table: &DNS_MONITOR, service: &DNS_MONITORS },
        Managed { table: &HEARTBEAT_MONITOR, service: &HEARTBEAT_MONITORS },
        Managed { table: &NOTIFICATION, service: &NOTIFICATIONS },
        Managed { table: &STATUS_PAGE, service: &PAGES },
        Managed { table: &STATUS_PAGE_COMPONENT, service: &COMPONENTS },
        Managed { table: &STATUS_PAGE_COMPONENT_GROUP, service: &GROUPS },
    ]
}

type Ctx = Context<Connection>;

impl Resource for Managed {
    type Client = Connection;

    fn schema(&self) -> Schema {
        schema::schema(self.table)
    }

    fn identity(&self) -> Option<Identity> {
        let noun = self.service.noun;
        let identity = Identity::new();
        let identity = if self.belongs_to_a_page() {
            identity.required("page_id", Type::String, "Identifier of its status page.")
        } else {
            identity
        };
        Some(identity.required("id", Type::String, &format!("Identifier of the {noun}.")))
    }

    fn upgrades(&self) -> Vec<Upgrade> {
        schema::upgrades(self.table)
    }

    async fn validate(&self, ctx: &Ctx, config: &Object) -> Outcome<()> {
        let problems = validate::problems(self.table, self.service, config);
        if problems.has_errors() {
            return Err(problems);
        }
        problems.into_iter().for_each(|warning| ctx.report(warning));
        Ok(())
    }

    async fn create(&self, ctx: &Ctx, create: Create) -> Outcome<State> {
        let client = &ctx.client()?.client()?.with_cancellation(ctx.cancelled());
        let sent = self.values_to_send(&create.planned, &create.config);
        let answer = self.service.create(client, wire::encode(self.table, &sent)).await;
        let answer = answer.map_err(|failure| self.to_diagnostics("create", failure))?;
        self.report_warnings(ctx, &answer);
        Ok(self.state_after(&answer, &create.planned))
    }

    async fn read(&self, ctx: &Ctx, prior: State) -> Outcome<Option<State>> {
        let client = ctx.client()?.client()?;
        let id = id_of(&prior.values)?;
        let answer = match self.service.get(client, id).await {
            Ok(answer) => answer,
            // Deleted outside Terraform, which then plans to create it.
            Err(Failure::NotFound(_)) => return Ok(None),
            Err(failure) => return Err(self.to_diagnostics("read", failure)),
        };
        self.report_warnings(ctx, &answer);
        let mut read = self.state_after(&answer, &prior.values);
        if state::lacks_secrets(self.table, &read.values, &prior.values) {
            let reads_only = client.is_read_only().await;
            state::restore_secrets(self.table, &mut read.values, &prior.values, reads_only);
        }
        Ok(Some(read))
    }

    async fn update(&self, ctx: &Ctx, update: Update) -> Outcome<State> {
        let client = &ctx.client()?.client()?.with_cancellation(ctx.cancelled());
        let sent = self.values_to_send(&update.planned, &update.config);
        let mask = self.update_mask(&update.planned, &update.prior.values);
        let call = self.service.update(client, wire::encode(self.table, &sent), &mask);
        let answer = call
            .await
            .map_err(|failure| self.to_diagnostics("change", failure.with_swap_hint()))?;
        self.report_warnings(ctx, &answer);
        Ok(self.state_after(&answer, &update.planned))
    }

    async fn delete(&self, ctx: &Ctx, prior: State) -> Outcome<()> {
        let client = &ctx.client()?.client()?.with_cancellation(ctx.cancelled());
        let Id { id, .. } = id_of(&prior.values)?;
        match self.service.delete(client, id).await {
            Ok(()) | Err(Failure::NotFound(_)) => Ok(()),
            Err(failure) => Err(self.to_diagnostics("delete", failure)),
        }
    }

    async fn import(&self, ctx: &Ctx, import: Import) -> Outcome<State> {
        let client = ctx.client()?.client()?;
        let named = match import {
            Import::Id(text) => self.parse_import_id(&text)?,
            Import::Identity(identity) => identity,
        };
        self.check_kind(&named)?;
        // Terraform reads it next, but would not name the fault of the id.
        let answer = self.service.get(client, id_of(&named)?).await;
        let answer = answer.map_err(|failure| self.to_diagnostics("import", failure))?;
        Ok(self.state_after(&answer, &Object::new()))
    }
}

impl Managed {
    /// Returns what to send: the plan, which `ignore_changes` lets differ from the configuration. A value
    /// that follows from the others and that nobody wrote is left out, so that the service computes it
    /// again when they change. Secrets that the plan must not hold come from the configuration.
    fn values_to_send(&self, planned: &Object, config: &Object) -> Object {
        let mut sent = planned.clone();
        for field in self.table.fields {
            let value = planned.value(field.name);
            if field.presence == Presence::Computed
                && value != config.value(field.name)
                && *value == schema::degraded_at(planned)
            {
                sent.set(field.name, Value::Null);
            }
        }
        for twin in write_only::for_resource(self.table) {
            twin.copy_secret(&mut sent, config);
            twin.merge(&mut sent);
        }
        sent
    }

    /// Returns the fields to update: all except those that cannot change in place, and write-only secrets
    /// whose version is the same. A secret in a block is sent with its block.
    fn update_mask(&self, planned: &Object, prior: &Object) -> Vec<&'static str> {
        let unchanged = |name: &str| {
            let mut twins =
                write_only::for_resource(self.table).filter(|twin| twin.is_used(planned));
            // The service may have dropped a secret that was not required until now, or that of another value.
            let has_changed = |field: &str| planned.value(field) != prior.value(field);
            let asked_anew = self.table.rules.iter().any(|rule| match *rule {
                Rule::RequiredWhen { field, when, .. } => field == name && has_changed(when),
                Rule::Together { first, second } => second == name && has_changed(first),
                Rule::ExactlyOneBlock { .. } => false,
            });
            twins.any(|twin| match twin.block {
                None => twin.field == name && !asked_anew && twin.has_same_version(planned, prior),
                Some(block) => block == name && planned.value(block) == prior.value(block),
            })
        };
        let fixed = |name: &str| self.table.fields.iter().any(|it| it.name == name && it.replace);
        self.table.writable().filter(|name| !fixed(name) && !unchanged(name)).collect()
    }

    /// Returns the state after a response. `before` is the plan, or the prior state.
    fn state_after(&self, answer: &ResourceReply, before: &Object) -> State {
        let values =
            state::from_response(self.table, wire::decode(self.table, &answer.resource), before);
        let identity = self.identity_of(&values);
        State::new(values).with_identity(identity)
    }

    /// Returns the state of an import.
    pub(crate) fn imported_state(&self, read: Object) -> Object {
        state::from_response(self.table, read, &Object::new())
    }

    /// Returns the identity of a resource.
    pub(crate) fn identity_of(&self, values: &Object) -> Object {
        let identity = Object::new().with("id", values.value("id"));
        if self.belongs_to_a_page() {
            return identity.with("page_id", values.value("page_id"));
        }
        identity
    }

    /// Returns whether it is part of a status page.
    pub(crate) fn belongs_to_a_page(&self) -> bool {
        self.table.fields.iter().any(|field| field.name == "page_id")
    }

    /// Parses the ID of an import, such as `<page_id>/<component_id>` (spec §2).
    fn parse_import_id(&self, text: &str) -> Outcome<Object> {
        let form = self.table.import.unwrap_or("<id>");
        let parts: Vec<_> = text.split('/').collect();
        let values = match (parts.as_slice(), self.belongs_to_a_page()) {
            ([id], false) => Object::new().with("id", *id),
            ([page, id], true) => Object::new().with("id", *id).with("page_id", *page),
            _ => return Err(self.invalid_id(text, form).into()),
        };
        if parts.iter().any(|part| part.is_empty()) {
            return Err(self.invalid_id(text, form).into());
        }
        Ok(values)
    }

    /// Rejects the ID of another kind, by its prefix, and names the resource type that fits.
    fn check_kind(&self, identity: &Object) -> Outcome<()> {
        let id = identity.value("id").as_str().unwrap_or_default();
        if id.starts_with(self.prefix()) {
            return Ok(());
        }
        let all = resources();
        let right: Vec<_> = all.iter().filter(|other| id.starts_with(other.prefix())).collect();
        let this = self.table.name;
        let detail = match right.as_slice() {
            // The service decides.
            [] => return Ok(()),
            [right] => {
                let right = right.table.name;
                format!("`{id}` is a `{right}`, not a `{this}`. Import it as a `{right}`.")
            }
            several => {
                let names: Vec<_> =
                    several.iter().map(|right| format!("`{}`", right.table.name)).collect();
                let names = names.join(" or ");
                format!("`{id}` is a monitor, not a `{this}`. Import it as {names}, by its kind.")
            }
        };
        Err(Diagnostic::error(format!("Cannot import the {}", self.service.noun), detail).into())
    }

    /// Returns the prefix of its IDs.
    fn prefix(&self) -> &'static str {
        let Shape::Id(prefix) = self.table.field("id").shape else {
            unreachable!("the shape of `id` is an ID in all seven tables")
        };
        prefix
    }

    fn invalid_id(&self, text: &str, form: &str) -> Diagnostic {
        let detail = format!(
            "`{text}` is not an ID of this resource. Import a `{}` by {form}.",
            self.table.name
        );
        Diagnostic::error("Invalid import id", detail)
    }

    fn to_diagnostics(self, doing: &str, failure: Failure) -> Diagnostics {
        to_diagnostics(&format!("Cannot {doing} the {}", self.service.noun), failure)
    }

    fn report_warnings(&self, ctx: &Ctx, answer: &ResourceReply) {
        for warning in &answer.warnings {
            let (_, within) = warning.field.split_once('.').unwrap_or_default();
            let summary = format!("The {} was stored, but", self.service.noun);
            let diagnostic = Diagnostic::warning(summary, format!("{}.", warning.message));
            ctx.report(at(diagnostic, wire::parse_path(within)));
        }
    }
}

/// Returns the reference of a state.
fn id_of(values: &Object) -> Result<Id, Diagnostic> {
    let page_id = values.value("page_id").as_str().map(str::to_owned);
    Ok(Id { id: values.get("id")?, page_id })
}

#[cfg(test)]
mod tests;
