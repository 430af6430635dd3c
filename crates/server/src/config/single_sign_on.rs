//! Settings of single sign-on: the `OpenID` provider, who may sign in, and the roles of its groups.

use dashboard::{GroupRole, SingleSignOnSettings};
use rules::{Role, Secret};
use url::Url;

use super::parse::{items, missing_setting, optional, read};
use super::{ConfigError, Values};

const ISSUER: &str = "oidc_issuer";

/// Parses the provider; `None` if it is not set.
pub(super) fn single_sign_on(values: &Values) -> Result<Option<SingleSignOnSettings>, ConfigError> {
    let allowed =
        "must be a URL with https, or with http to this machine, such as https://id.example.com";
    let issuer = optional(values.get(ISSUER), allowed, issuer)?;
    let text = |name| values.get(name).text.trim().to_owned();
    let needed = ["oidc_client_id", "oidc_client_secret", "oidc_email_domains"];
    let Some(issuer) = issuer else {
        let given = needed.into_iter().chain(["oidc_roles"]).find(|name| !text(name).is_empty());
        return given.map_or(Ok(None), |given| Err(missing_setting(values, ISSUER, given)));
    };
    if let Some(missing) = needed.into_iter().find(|name| text(name).is_empty()) {
        return Err(missing_setting(values, missing, ISSUER));
    }
    Ok(Some(SingleSignOnSettings {
        issuer,
        client_id: text("oidc_client_id"),
        client_secret: Secret::new(text("oidc_client_secret")),
        name: text("oidc_name"),
        email_domains: read(
            values.get("oidc_email_domains"),
            "must be domains such as example.com, joined by commas",
            |text| items(text).map(domain).collect(),
        )?,
        groups_claim: text("oidc_groups_claim"),
        roles: read(
            values.get("oidc_roles"),
            "must be roles such as acme:platform=admin, joined by commas; roles are owner, admin, \
             editor and viewer",
            |text| items(text).map(group_role).collect(),
        )?,
    }))
}

/// Parses the URL of the provider. It is compared with tokens, so nothing of it is changed.
fn issuer(text: &str) -> Option<String> {
    let url = Url::parse(text).ok()?;
    let host = url.host_str()?;
    let is_local = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
    let is_allowed = url.scheme() == "https" || (url.scheme() == "http" && is_local);
    let is_plain = url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
    (is_allowed && is_plain).then(|| text.to_owned())
}

fn domain(text: &str) -> Option<String> {
    let is_domain = !text.is_empty() && !text.contains(['@', '*', '/', ' ']);
    is_domain.then(|| text.to_ascii_lowercase())
}

/// Parses `workspace:group=role`. A group may contain colons and equals signs.
fn group_role(text: &str) -> Option<GroupRole> {
    let (workspace, rest) = text.split_once(':')?;
    let (group, role) = rest.rsplit_once('=')?;
    let role = Role::parse(role.trim()).ok()?;
    let (workspace, group) = (workspace.trim(), group.trim());
    let is_whole = !workspace.is_empty() && !group.is_empty();
    is_whole.then(|| GroupRole { workspace: workspace.to_owned(), group: group.to_owned(), role })
}

#[cfg(test)]
mod tests {
    use super::super::Layers;
    use super::*;

    fn parse(changed: &[(&str, &str)]) -> Result<Option<SingleSignOnSettings>, String> {
        let mut layers = Layers::default();
        for (name, text) in changed {
            layers.environment.insert((*name).to_owned(), (*text).to_owned());
        }
        let values = layers.resolve().map_err(|error| error.to_string())?;
        single_sign_on(&values).map_err(|error| error.to_string())
    }

    const WHOLE: [(&str, &str); 5] = [
        ("oidc_issuer", "https://id.example.com/realm"),
        ("oidc_client_id", "aloft"),
        ("oidc_client_secret", "hunter2"),
        ("oidc_email_domains", "Example.com, example.org"),
        ("oidc_roles", "acme:team:sre=admin, acme:cn=staff,dc=example=viewer"),
    ];

    #[test]
    fn whole_provider_is_parsed() {
        let mut whole = WHOLE;
        whole[4].1 = "acme:team:sre=admin, acme:cn=staff=viewer";
        let parsed = parse(&whole).unwrap().unwrap();
        assert_eq!(parsed.email_domains, ["example.com", "example.org"]);
        let roles: Vec<_> = parsed.roles.iter().map(|it| (it.group.as_str(), it.role)).collect();
        assert_eq!(roles, [("team:sre", Role::Admin), ("cn=staff", Role::Viewer)]);
        assert_eq!(
            (parsed.name.as_str(), parsed.groups_claim.as_str()),
            ("single sign-on", "groups")
        );
        assert_eq!(parse(&[]).unwrap(), None);
    }

    #[test]
    fn incomplete_or_invalid_provider_is_rejected() {
        for (changed, expected) in [
            (vec![WHOLE[0]], "`oidc_client_id` must also be set if `oidc_issuer` is"),
            (vec![WHOLE[1]], "`oidc_issuer` must also be set if `oidc_client_id` is"),
            (WHOLE[..3].to_vec(), "`oidc_email_domains` must also be set if `oidc_issuer` is"),
            (
                vec![("oidc_issuer", "http://id.example.com")],
                "`oidc_issuer` must be a URL with https",
            ),
            (vec![("oidc_issuer", "https://id.example.com?a=b")], "`oidc_issuer` must be a URL"),
            (
                [&WHOLE[..3], &[("oidc_email_domains", "*")]].concat(),
                "`oidc_email_domains` must be domains",
            ),
            (WHOLE.to_vec(), "`oidc_roles` must be roles"),
            ([&WHOLE[..4], &[("oidc_roles", "acme:staff=root")]].concat(), "`oidc_roles` must be"),
        ] {
            let refusal = parse(&changed).unwrap_err();
            assert!(refusal.starts_with(expected) && !refusal.contains("hunter2"), "{refusal}");
        }
    }
}
