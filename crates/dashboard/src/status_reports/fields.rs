//! Parts that the forms of reports, updates and templates share: fields from the tables, and the impact
//! on each component.

use rules::PageId;
use rules::field::Resource;
use rules::report::{Impact, ReportStatus};
use serde_json::{Value as Json, json};
use store::ComponentName;

use crate::error::ScreenError;
use crate::form::{Choice, FormField, Messages, Values, form_field};
use crate::session::Member;
use crate::state::Dashboard;

/// Prefix of the input for the impact on a component.
const IMPACT: &str = "impact.";
/// Value of a component that is not affected.
const NONE: &str = "none";

/// Components of a page with the impact on each.
pub(super) struct ImpactGroup {
    pub(super) title: String,
    pub(super) rows: Vec<ImpactRow>,
    /// Whether any component is affected.
    pub(super) is_affected: bool,
}

/// A component with the impact on it.
pub(super) struct ImpactRow {
    /// Name of its input.
    pub(super) input: String,
    pub(super) name: String,
    /// Chosen impact, or `none`.
    pub(super) impact: String,
}

/// Impacts to choose from, with their labels.
pub(super) const IMPACTS: [(&str, &str); 3] = [
    (NONE, "Not affected"),
    (Impact::Degraded.as_str(), "Degraded"),
    (Impact::Down.as_str(), "Down"),
];

/// Returns the words for a status of reports.
pub(crate) fn status_label(status: &str) -> &'static str {
    match ReportStatus::parse(status) {
        Ok(ReportStatus::Investigating) => "Investigating",
        Ok(ReportStatus::Identified) => "Identified",
        Ok(ReportStatus::Monitoring) => "Monitoring",
        Ok(ReportStatus::Resolved) => "Resolved",
        Err(_) => "Unknown",
    }
}

/// Returns fields of a table with these values.
pub(super) fn fields(
    table: &'static Resource,
    names: &[&str],
    values: &Values,
    messages: &Messages,
) -> Vec<FormField> {
    let choices = |name: &str| (name == "status").then(statuses);
    let field = |name: &&str| {
        form_field(table.field(name), (*name).to_owned(), (values, choices(name)), messages)
    };
    names.iter().map(field).collect()
}

fn statuses() -> Vec<Choice> {
    let words = ReportStatus::WORDS.iter();
    let choice =
        |word: &&str| Choice { value: (*word).to_owned(), label: status_label(word).to_owned() };
    words.map(choice).collect()
}

/// Reads the components of a page, or of all pages.
pub(super) async fn components(
    state: &Dashboard,
    member: &Member,
    page: Option<PageId>,
) -> Result<Vec<ComponentName>, ScreenError> {
    let (components, workspace) = (state.store.components(), member.workspace());
    Ok(match page {
        Some(page) => components.names_on_page(workspace, page).await?,
        None => components.names(workspace).await?,
    })
}

/// Returns the components, by page, with the impacts that were posted or that `stored` has in the JSON of
/// the contract.
pub(super) fn impact_groups(
    components: &[ComponentName],
    values: &Values,
    stored: &Json,
) -> Vec<ImpactGroup> {
    let mut groups: Vec<ImpactGroup> = Vec::new();
    let mut last = None;
    for component in components {
        if last != Some(component.page) {
            last = Some(component.page);
            let title = component.page_title.clone();
            groups.push(ImpactGroup { title, rows: Vec::new(), is_affected: false });
        }
        let input = impact_input(&component.id.to_string());
        let posted = values.first(&input).map(str::to_owned);
        let impact = posted
            .or_else(|| stored_impact(stored, &component.id.to_string()))
            .unwrap_or_else(|| NONE.to_owned());
        if let Some(group) = groups.last_mut() {
            group.is_affected |= impact != NONE;
            group.rows.push(ImpactRow { input, name: component.name.clone(), impact });
        }
    }
    groups
}

/// Returns the name of the input for the impact on a component.
pub(super) fn impact_input(component: &str) -> String {
    format!("{IMPACT}{component}")
}

/// Returns the posted impacts in the JSON of the contract.
pub(super) fn posted_impacts(components: &[ComponentName], values: &Values) -> Json {
    let impacts = components.iter().filter_map(|component| {
        let id = component.id.to_string();
        let impact = values.first(&impact_input(&id))?;
        (impact != NONE).then(|| json!({ "componentId": id, "impact": impact }))
    });
    impacts.collect()
}

fn stored_impact(stored: &Json, component: &str) -> Option<String> {
    let impacts = stored.as_array()?;
    let found = impacts.iter().find(|it| it["componentId"].as_str() == Some(component))?;
    found["impact"].as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use rules::ComponentId;
    use rules::tables::STATUS_REPORT;

    use super::*;

    fn component(bits: u64, page: u64) -> ComponentName {
        ComponentName {
            id: ComponentId::from_bits(bits),
            name: format!("Component {bits}"),
            page: PageId::from_bits(page),
            page_title: format!("Page {page}"),
            monitor: None,
        }
    }

    #[test]
    fn posted_impact_replaces_the_stored_one() {
        let components = [component(1, 1), component(2, 1), component(3, 2)];
        let [first, second, _] = [0, 1, 2].map(|index| components[index].id.to_string());
        let posted = vec![
            (format!("impact.{first}"), "none".to_owned()),
            (format!("impact.{second}"), "down".to_owned()),
        ];
        let values = Values::posted(posted, &STATUS_REPORT);
        let stored = json!([{ "componentId": first, "impact": "degraded" }]);
        let groups = impact_groups(&components, &values, &stored);
        let shown: Vec<_> = groups
            .iter()
            .flat_map(|group| &group.rows)
            .map(|row| (row.name.as_str(), row.impact.as_str()))
            .collect();
        let expected = [("Component 1", "none"), ("Component 2", "down"), ("Component 3", "none")];
        assert_eq!(shown, expected);
        assert_eq!(groups.iter().map(|it| it.is_affected).collect::<Vec<_>>(), [true, false]);
        let impacts = posted_impacts(&components, &values);
        assert_eq!(impacts, json!([{ "componentId": second, "impact": "down" }]));
    }
}
