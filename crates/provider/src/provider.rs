//! The provider's arguments, and the resources, data sources, functions and actions that it offers.

use rules::tables::{NOTIFICATION_DATA, PROVIDER, STATUS_PAGE_DATA};
use rules::{Secret, Validator, Violations};
use terraform_plugin::schema::{Presence, Schema};
use terraform_plugin::{Catalog, Context, Diagnostic, Given, Object, Outcome, Provider};

use crate::action::Trigger;
use crate::client::Client;
use crate::connection::Connection;
use crate::data_source::{
    API_KEYS, MEMBERS, MonitorData, MonitorsData, RegionsData, SingleData, WhoamiData,
    WorkspaceData,
};
use crate::function::{PeriodicitySeconds, Regions};
use crate::list::Existing;
use crate::resource::resources;
use crate::service::{NOTIFICATIONS, PAGES};
use crate::settings::{Arguments, Environment, Settings, parse_base_url, token_of};
use crate::{schema, validate, wire};

/// The provider `service`.
#[derive(Debug, Default)]
pub struct ServiceProvider {
    pub environment: Environment,
}

impl Provider for ServiceProvider {
    type Client = Connection;

    fn schema(&self) -> Schema {
        PROVIDER.fields.iter().fold(Schema::new(PROVIDER.description), |schema, field| {
            let mut attribute = schema::attribute(field);
            // A provider has no plan. Arguments left out come from the environment or have a default.
            attribute.presence = Presence::Optional;
            attribute.default = None;
            schema.attribute(field.name, attribute)
        })
    }

    fn catalog(&self) -> Catalog<Connection> {
        let catalog = resources().into_iter().fold(Catalog::new(), |catalog, it| {
            let name = it.table.name;
            catalog.resource(name, it).list(name, Existing(it))
        });
        catalog
            .function("regions", Regions)
            .function("periodicity_seconds", PeriodicitySeconds)
            .action("service_monitor_trigger", Trigger)
            .data_source("service_monitor", MonitorData)
            .data_source("service_monitors", MonitorsData)
            .data_source(
                "service_notification",
                SingleData { table: &NOTIFICATION_DATA, service: &NOTIFICATIONS },
            )
            .data_source(
                "service_status_page",
                SingleData { table: &STATUS_PAGE_DATA, service: &PAGES },
            )
            .data_source("service_regions", RegionsData)
            .data_source("service_whoami", WhoamiData)
            .data_source("service_workspace", WorkspaceData)
            .data_source("service_members", MEMBERS)
            .data_source("service_api_keys", API_KEYS)
    }

    async fn validate(&self, _: &Context<Connection>, config: &Object) -> Outcome<()> {
        let mut reader = Validator::new(&PROVIDER);
        if let Given::Known(token) = config.get("api_token")? {
            let _ = token_of(&mut reader, &Secret::new(token));
        }
        if let Given::Known(url) = config.get("base_url")? {
            let _ = parse_base_url(&mut reader, url);
        }
        for name in ["request_timeout", "max_retries"] {
            match config.get::<Given<i32>>(name) {
                Ok(Given::Known(number)) => drop(reader.integer(name, Some(number))),
                Ok(Given::Null | Given::Unknown) => {}
                Err(_) => {
                    let _: Option<()> = reader.reject_without_value(name, "must be a whole number");
                }
            }
        }
        reader.finish(Some(())).map_err(violation_diagnostics)
    }

    async fn configure(&self, _: &Context<Connection>, config: Object) -> Outcome<Connection> {
        let names = PROVIDER.fields.iter().map(|field| field.name);
        let unknown: Vec<_> = names.filter(|name| config.value(name).is_unknown()).collect();
        if !unknown.is_empty() {
            return Ok(Connection::Unconfigured(unknown));
        }
        let arguments = Arguments {
            api_token: config.get::<Option<String>>("api_token")?.map(Secret::new),
            base_url: config.get("base_url")?,
            request_timeout: config.get("request_timeout")?,
            max_retries: config.get("max_retries")?,
        };
        let settings =
            Settings::new(arguments, &self.environment).map_err(violation_diagnostics)?;
        match Client::new(settings) {
            Ok(client) => Ok(Connection::Ready(Box::new(client))),
            Err(unusable) => {
                let detail = format!("{unusable}.");
                Err(Diagnostic::error("The provider cannot be configured", detail).into())
            }
        }
    }
}

fn violation_diagnostics(Violations(violations): Violations) -> terraform_plugin::Diagnostics {
    violations.iter().map(|it| validate::to_diagnostic(it, wire::parse_path(&it.field))).collect()
}
