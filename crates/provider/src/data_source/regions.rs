//! `service_regions`: the regions, and the probes that serve them. Our own addition.

use rules::field::{Field, Resource, Shape, json_name};
use rules::{Region, RegionGroup};
use serde_json::{Value as Json, json};
use terraform_plugin::data_source::DataSource;
use terraform_plugin::schema::Schema;
use terraform_plugin::{Context, Object, Outcome, Value};

use crate::connection::{Connection, to_diagnostics};
use crate::schema;
use crate::service::text;
use crate::validate::check_arguments;
use crate::wire::elements;

const LIST: &str = "/region.v1.RegionService/ListRegions";

/// Shape of names of cities, countries and probes.
const WORD: Shape = Shape::Line { min: 0, max: u32::MAX };

/// The regions of the service.
pub(super) static REGIONS_DATA: Resource = Resource {
    name: "service_regions",
    description: "Lists the regions that monitors can run in.",
    fields: &[
        Field::optional(
            "group",
            Shape::OneOf(RegionGroup::WORDS),
            "Only the regions of this group. Left out, all of them.",
        ),
        Field::output(
            "ids",
            Shape::SetOf(Region::WORDS),
            "Identifiers of the regions, for a monitor's regions.",
        ),
        Field::output(
            "regions",
            Shape::ListOf(&[
                Field::output("id", Shape::OneOf(Region::WORDS), "Identifier of the region."),
                Field::output("group", Shape::OneOf(RegionGroup::WORDS), "Group of the region."),
                Field::output("city", WORD, "Where it is: a city, or a part of the country."),
                Field::output(
                    "country",
                    WORD,
                    "Country, as two letters; empty for a private region.",
                ),
                Field::output(
                    "default",
                    Shape::Bool,
                    "Whether monitors run there that name no regions.",
                ),
                Field::output(
                    "served_by",
                    WORD,
                    "The probe that runs checks there; empty without one.",
                ),
            ]),
            "The regions, in the order of their groups and names.",
        ),
    ],
    beyond: &[],
    blocks: &[],
    rules: &[],
    import: None,
};

/// Lists regions.
#[derive(Debug)]
pub struct RegionsData;

impl DataSource for RegionsData {
    type Client = Connection;

    fn schema(&self) -> Schema {
        schema::schema(&REGIONS_DATA)
    }

    async fn validate(&self, _: &Context<Connection>, config: &Object) -> Outcome<()> {
        check_arguments(&REGIONS_DATA, config)
    }

    async fn read(&self, ctx: &Context<Connection>, config: Object) -> Outcome<Object> {
        let client = ctx.client()?.client()?;
        let answer = client.call(LIST, json!({})).await;
        let answer =
            answer.map_err(|failure| to_diagnostics("Cannot list the regions", failure))?;
        let group: Option<String> = config.get("group")?;
        let is_asked = |region: &&Json| {
            group.as_ref().is_none_or(|group| region["group"].as_str() == Some(group))
        };
        let regions = elements(&answer["regions"]).iter().filter(is_asked);
        let ids: Vec<_> = regions.clone().map(|region| text(&region["id"])).collect();
        let objects = regions.map(|region| {
            let object = ["id", "group", "city", "country", "served_by"];
            let object = object.into_iter().fold(Object::new(), |object, name| {
                object.with(name, text(&region[json_name(name)]))
            });
            object.with("default", region["default"].as_bool().unwrap_or_default())
        });
        Ok(config.with("regions", Value::list(objects)).with("ids", Value::set(ids)))
    }
}
