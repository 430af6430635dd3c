//! Form of a status page.

use rules::AccessType;
use rules::tables::STATUS_PAGE;
use serde_json::{Map, Value as Json, json};

use crate::form::{Choice, Form, FormSpec, Messages, Values, resource};

/// Fields of the mask of an update. The custom domain has a screen of its own.
pub(super) const MASK: &str = "title,slug,description,homepageUrl,contactUrl,icon,accessType,\
                               password,authEmailDomains";

/// Returns the form of a new page: a title is enough.
pub(super) fn new_form(values: &Values, messages: &Messages) -> Form {
    let main = ["title", "slug"];
    let more = [
        "description",
        "access_type",
        "password",
        "auth_email_domains",
        "homepage_url",
        "contact_url",
        "icon",
    ];
    form((&main, &more), values, messages)
}

/// Returns the form of a stored page.
pub(super) fn edit_form(values: &Values, messages: &Messages) -> Form {
    let main = ["title", "slug", "description", "access_type", "password", "auth_email_domains"];
    form((&main, &["homepage_url", "contact_url", "icon"]), values, messages)
}

/// Returns the page in the JSON of the contract. Leaves out what its access does not use: the form
/// hides it.
pub(super) fn page(values: &Values) -> Map<String, Json> {
    let mut json = resource(&STATUS_PAGE, values);
    let access = values.first("access_type").unwrap_or_default();
    if access != AccessType::Password.as_str() {
        json.remove("password");
    }
    if access != AccessType::EmailDomain.as_str() {
        json.insert("authEmailDomains".to_owned(), json!([]));
    }
    json
}

fn form((main, more): (&[&str], &[&str]), values: &Values, messages: &Messages) -> Form {
    Form::new(FormSpec { resource: &STATUS_PAGE, main, more, choices: &choices }, values, messages)
}

fn choices(field: &str) -> Option<Vec<Choice>> {
    let label = |access: &AccessType| match access {
        AccessType::Public => "Everybody",
        AccessType::Password => "People who know the password",
        AccessType::EmailDomain => "People with an email address at certain domains",
    };
    let choice = |access: &AccessType| Choice {
        value: access.as_str().to_owned(),
        label: label(access).to_owned(),
    };
    (field == "access_type").then(|| AccessType::ALL.iter().map(choice).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_another_access_are_left_out() {
        let mut values = Values::default();
        for (name, value) in
            [("title", "Acme"), ("password", "old"), ("auth_email_domains", "acme.example")]
        {
            values.set(name, value);
        }
        assert_eq!(json!(page(&values)), json!({ "title": "Acme", "authEmailDomains": [] }));
        values.set("access_type", "password");
        assert_eq!(page(&values)["password"], "old");
        values.set("access_type", "email-domain");
        assert_eq!(page(&values)["authEmailDomains"], json!(["acme.example"]));
    }
}
