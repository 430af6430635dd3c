//! Settings of the `OpenID` provider: the addresses that may sign in, and the roles of its groups.

use rules::{Role, Secret};
use store::MappedRole;

/// Provider of single sign-on, as the operator configures it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SingleSignOnSettings {
    /// URL of the provider, as its tokens name it.
    pub issuer: String,
    pub client_id: String,
    pub client_secret: Secret<String>,
    /// Name of the provider on the login page.
    pub name: String,
    /// Domains of addresses that may sign in, in lower case.
    pub email_domains: Vec<String>,
    /// Claim that lists a person's groups.
    pub groups_claim: String,
    pub roles: Vec<GroupRole>,
}

/// Role that members of a group have in a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupRole {
    /// Slug of the workspace.
    pub workspace: String,
    /// Group, as the provider names it.
    pub group: String,
    pub role: Role,
}

impl SingleSignOnSettings {
    /// Returns whether an address may sign in.
    pub(crate) fn allows(&self, email: &str) -> bool {
        let domain = email.rsplit_once('@').map(|(_, domain)| domain.to_ascii_lowercase());
        domain.is_some_and(|domain| self.email_domains.contains(&domain))
    }

    /// Returns the role in each workspace for which the provider decides: the highest of all groups.
    pub(crate) fn roles_of(&self, groups: &[String]) -> Vec<MappedRole> {
        let mut mapped: Vec<MappedRole> = Vec::new();
        for it in &self.roles {
            let role = groups.contains(&it.group).then_some(it.role);
            match mapped.iter_mut().find(|known| known.workspace == it.workspace) {
                Some(known)
                    if role.is_some_and(|role| known.role.is_none_or(|old| role.includes(old))) =>
                {
                    known.role = role;
                }
                Some(_) => {}
                None => mapped.push(MappedRole { workspace: it.workspace.clone(), role }),
            }
        }
        mapped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> SingleSignOnSettings {
        let role = |workspace: &str, group: &str, role| GroupRole {
            workspace: workspace.to_owned(),
            group: group.to_owned(),
            role,
        };
        SingleSignOnSettings {
            issuer: "https://id.example.com".to_owned(),
            client_id: "aloft".to_owned(),
            client_secret: Secret::new("secret".to_owned()),
            name: "Example".to_owned(),
            email_domains: vec!["example.com".to_owned()],
            groups_claim: "groups".to_owned(),
            roles: vec![
                role("acme", "staff", Role::Viewer),
                role("acme", "platform", Role::Admin),
                role("acme", "on-call", Role::Editor),
                role("other", "platform", Role::Owner),
            ],
        }
    }

    #[test]
    fn highest_role_of_all_groups_counts() {
        let roles = |groups: &[&str]| {
            let groups: Vec<String> = groups.iter().map(|it| (*it).to_owned()).collect();
            settings().roles_of(&groups).into_iter().map(|it| it.role).collect::<Vec<_>>()
        };
        assert_eq!(roles(&["staff"]), [Some(Role::Viewer), None]);
        assert_eq!(roles(&["on-call", "staff"]), [Some(Role::Editor), None]);
        assert_eq!(
            roles(&["staff", "platform", "on-call"]),
            [Some(Role::Admin), Some(Role::Owner)]
        );
        assert_eq!(roles(&["Staff", "stranger"]), [None, None]);
    }

    #[test]
    fn only_configured_domains_may_sign_in() {
        for (email, expected) in [
            ("ada@example.com", true),
            ("ada@EXAMPLE.com", true),
            ("ada@sub.example.com", false),
            ("ada@example.com.evil.example", false),
            ("\"a@example.com\"@evil.example", false),
            ("example.com", false),
        ] {
            assert_eq!(settings().allows(email), expected, "{email}");
        }
    }
}
