//! The file of facts, as types. The tables of `rules` and those of the specification are converted
//! to the same types for comparison.

use serde::Deserialize;

/// All facts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Facts {
    pub(crate) periodicities: Vec<String>,
    pub(crate) region_group: Vec<RegionGroup>,
    pub(crate) resource: Vec<Resource>,
    pub(crate) data_source: Vec<Resource>,
    pub(crate) limit: Vec<Limit>,
    pub(crate) ours: Vec<Ours>,
    /// Resources beyond the specification.
    pub(crate) own_resources: Vec<String>,
    /// Arguments beyond the specification, each with its resource: `service_http_monitor.name`.
    pub(crate) own_arguments: Vec<String>,
    /// Blocks beyond the specification, each with its resource.
    pub(crate) own_blocks: Vec<String>,
    /// Comparators of texts beyond the specification.
    pub(crate) own_comparators: Vec<String>,
    pub(crate) own_outputs: Vec<String>,
    /// Kinds of monitors beyond the specification.
    pub(crate) own_monitor_kinds: Vec<String>,
    /// Kinds of channels beyond the specification.
    pub(crate) own_channel_kinds: Vec<String>,
}

/// One group of §8.3.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RegionGroup {
    pub(crate) name: String,
    pub(crate) regions: Vec<String>,
}

/// One resource or data source of §2.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Resource {
    pub(crate) section: String,
    pub(crate) name: String,
    pub(crate) import: Option<String>,
    pub(crate) exactly_one_block_by: Option<String>,
    pub(crate) arguments: Vec<Row>,
    pub(crate) outputs: Vec<Row>,
    pub(crate) blocks: Vec<Block>,
}

/// One block.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Block {
    pub(crate) name: String,
    pub(crate) max: Option<i64>,
    pub(crate) fields: Vec<Row>,
    pub(crate) blocks: Vec<Block>,
}

/// One field: a row of a table.
#[expect(clippy::struct_excessive_bools, reason = "a row of the specification has that many")]
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Row {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) kind: Option<String>,
    pub(crate) required: bool,
    pub(crate) default: Option<toml::Value>,
    pub(crate) computed: bool,
    pub(crate) form: Option<String>,
    pub(crate) min_chars: Option<i64>,
    pub(crate) max_chars: Option<i64>,
    pub(crate) min: Option<i64>,
    pub(crate) max: Option<i64>,
    pub(crate) words: Vec<String>,
    /// The section that lists the names.
    pub(crate) words_of: Option<String>,
    pub(crate) sensitive: bool,
    pub(crate) replace: bool,
    /// Name and value of the field that makes this one required.
    pub(crate) required_when: Option<(String, String)>,
    /// Kinds of monitors that have it.
    pub(crate) only: Option<String>,
    /// Fields of the listed objects.
    pub(crate) objects: Vec<String>,
}

/// One row of §8.1.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Limit {
    pub(crate) item: String,
    pub(crate) min_chars: Option<i64>,
    pub(crate) max_chars: Option<i64>,
    pub(crate) min: Option<i64>,
    pub(crate) max: Option<i64>,
    pub(crate) default: Option<toml::Value>,
    pub(crate) fields: Vec<String>,
}

/// A rule of ours where the specification has none.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Ours {
    pub(crate) why: String,
    pub(crate) fields: Vec<String>,
    pub(crate) required: bool,
    pub(crate) form: Option<String>,
    pub(crate) min_chars: Option<i64>,
    pub(crate) max_chars: Option<i64>,
    pub(crate) min: Option<i64>,
    pub(crate) max: Option<i64>,
}

impl Facts {
    /// Reads the file next to this one.
    pub(crate) fn read() -> Self {
        let mut facts: Self =
            toml::from_str(include_str!("facts.toml")).expect("the file of facts is valid");
        let regions = facts.regions();
        for resource in &mut facts.resource {
            for row in &mut resource.arguments {
                if row.words_of.take().is_some_and(|section| section == "8.3") {
                    row.words.clone_from(&regions);
                }
            }
        }
        facts
    }

    /// Returns the regions of all groups, in order.
    pub(crate) fn regions(&self) -> Vec<String> {
        self.region_group.iter().flat_map(|group| group.regions.clone()).collect()
    }
}
