//! List resources for `terraform query`: all resources of a kind in the workspace, as an import reads them.

use rules::PageId;
use rules::field::{Field, Resource as Table, Shape};
use terraform_plugin::list::{Found, ListResource, Listing, Query};
use terraform_plugin::schema::Schema;
use terraform_plugin::{Context, Diagnostic, Object, Outcome};

use crate::connection::{Connection, to_diagnostics};
use crate::resource::Managed;
use crate::service::{ListRequest, next_token};
use crate::validate::check_arguments;
use crate::{schema, wire};

/// The arguments of a list of a kind that belongs to a status page.
static PAGE_FILTER: Table = Table {
    name: "search",
    description: "",
    fields: &[Field::optional(
        "page_id",
        Shape::Id(PageId::PREFIX),
        "Only those of this status page. Left out, those of all pages.",
    )],
    beyond: &[],
    blocks: &[],
    rules: &[],
    import: None,
};

/// The list of all resources of a kind.
#[derive(Debug)]
pub struct Existing(pub Managed);

impl ListResource for Existing {
    type Client = Connection;

    fn schema(&self) -> Schema {
        let schema = Schema::new(format!("Finds each {} of the workspace.", self.0.service.noun));
        if !self.0.belongs_to_a_page() {
            return schema;
        }
        PAGE_FILTER
            .fields
            .iter()
            .fold(schema, |schema, field| schema.attribute(field.name, schema::attribute(field)))
    }

    async fn validate(&self, _: &Context<Connection>, config: &Object) -> Outcome<()> {
        if self.0.belongs_to_a_page() { check_arguments(&PAGE_FILTER, config) } else { Ok(()) }
    }

    async fn list(&self, ctx: &Context<Connection>, query: Query, found: &Listing) -> Outcome<()> {
        let client = ctx.client()?.client()?;
        let page_id: Option<String> = query.config.get("page_id")?;
        let (mut token, mut left) = (String::new(), query.limit);
        loop {
            let asked = ListRequest { token: token.clone(), page_id: page_id.clone() };
            let page = self.0.service.list(client, asked).await;
            let doing = || format!("Cannot list each {}", self.0.service.noun);
            let page = page.map_err(|failure| to_diagnostics(&doing(), failure))?;
            for json in &page.resources {
                let values = wire::decode(self.0.table, json);
                if left == 0 || !found.send(self.list_item(values, query.include_resource)).await {
                    return Ok(());
                }
                left -= 1;
            }
            let next_token = next_token(&token, page.next_token);
            match next_token.map_err(|detail| Diagnostic::error(doing(), detail))? {
                Some(next) => token = next,
                None => return Ok(()),
            }
        }
    }
}

impl Existing {
    fn list_item(&self, values: Object, include_resource: bool) -> Found {
        let named = ["name", "title", "id"].into_iter();
        let mut named = named.filter_map(|name| values.value(name).as_str());
        let name = named.find(|name| !name.is_empty()).unwrap_or_default();
        let found = Found::new(name, self.0.identity_of(&values));
        if include_resource {
            return found.with_resource(self.0.imported_state(values));
        }
        found
    }
}
