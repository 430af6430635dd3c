//! Bodies of the subscription forms. Values that the form does not offer are ignored.

use domain::page::{PageView, Section};
use rules::ComponentId;
use rules::status_page::{ComponentScope, Topic};
use store::SubscriptionChoice;

/// A submitted form.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SubmittedForm {
    pub(super) email: String,
    pub(super) topics: Vec<String>,
    pub(super) components: Vec<String>,
}

impl SubmittedForm {
    /// Parses the subscription form of a page.
    pub(super) fn parse(body: &[u8], view: &PageView) -> Self {
        let offered: Vec<ComponentId> = components_of(view).map(|(id, _)| id).collect();
        let mut sent = fields(body);
        sent.components =
            select_offered(&sent.components, &offered).iter().map(ToString::to_string).collect();
        sent
    }
}

/// Parses a subscriber's choice of components.
pub(super) fn parse_choice(body: &[u8], view: &PageView) -> SubscriptionChoice {
    let offered: Vec<ComponentId> = components_of(view).map(|(id, _)| id).collect();
    parse_offered(body, &offered)
}

fn parse_offered(body: &[u8], offered: &[ComponentId]) -> SubscriptionChoice {
    let sent = fields(body);
    let ids = select_offered(&sent.components, offered);
    let scope = if ids.is_empty() { ComponentScope::All } else { ComponentScope::Some(ids) };
    let topics = sent.topics.iter().filter_map(|word| Topic::parse(word).ok()).collect();
    SubscriptionChoice { scope, topics }
}

/// Returns the components of a page with their names, in its order.
pub(super) fn components_of(view: &PageView) -> impl Iterator<Item = (ComponentId, &str)> {
    view.sections.iter().flat_map(|section| {
        let components = match section {
            Section::Single(component) => std::slice::from_ref(component),
            Section::Group(group) => group.components.as_slice(),
        };
        components.iter().map(|component| (component.id, component.name.as_str()))
    })
}

fn fields(body: &[u8]) -> SubmittedForm {
    let mut sent = SubmittedForm::default();
    for (name, value) in url::form_urlencoded::parse(body) {
        match &*name {
            "email" => value.trim().clone_into(&mut sent.email),
            "topic" if Topic::parse(&value).is_ok() => sent.topics.push(value.into_owned()),
            "component" => sent.components.push(value.into_owned()),
            _ => {}
        }
    }
    sent
}

/// Returns the elements of `given` that were offered, sorted by ID and without duplicates.
fn select_offered(given: &[String], offered: &[ComponentId]) -> Vec<ComponentId> {
    let mut ids: Vec<ComponentId> = given
        .iter()
        .filter_map(|text| ComponentId::parse(text).ok())
        .filter(|id| offered.contains(id))
        .collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unoffered_values_are_ignored() {
        let (a, b) = (ComponentId::from_bits(1), ComponentId::from_bits(2));
        let body =
            format!("topic=incidents&topic=everything&component={b}&component={a}&component={b}");
        let choice = parse_offered(body.as_bytes(), &[b]);
        assert_eq!(choice.topics, [Topic::Incidents]);
        assert_eq!(choice.scope, ComponentScope::Some(vec![b]));
        assert_eq!(parse_offered(b"component=cmp_x", &[b]).scope, ComponentScope::All);
    }

    #[test]
    fn spaces_around_an_address_are_removed() {
        assert_eq!(fields(b"email=+a%40example.com+").email, "a@example.com");
    }
}
