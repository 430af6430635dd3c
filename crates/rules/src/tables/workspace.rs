//! Objects of the service beyond the resources of §2: workspaces (§1, §4.1), keys (§5), invitations
//! (issue 18), and webhook signing secrets (issue 6, point 6). They are not Terraform resources and not in the lists of
//! resources.

use super::notification::EMAIL_CHARS_MAX;
use crate::field::{Field, Resource, Shape, Value};
use crate::{InvitationId, KeyId, Role, Scope, SigningSecretId, UserId, WorkspaceId};

/// A workspace: a name, a slug and a plan (§1).
pub static WORKSPACE: Resource = Resource {
    name: "workspace",
    description: "Owns monitors, channels, pages and keys.",
    fields: &[
        Field::required(
            "name",
            Shape::Line { min: 1, max: 256 },
            "Name of the workspace, 1 to 256 characters.",
        ),
        Field::required(
            "slug",
            Shape::Slug { min: 1, max: 64 },
            "Name of the workspace in URLs and commands, 1 to 64 characters: lower-case words \
             joined by hyphens.",
        ),
        Field::output("plan", Shape::Line { min: 1, max: 64 }, "Plan of the workspace."),
        Field::output("id", Shape::Id(WorkspaceId::PREFIX), "Identifier of the workspace."),
    ],
    beyond: &[],
    blocks: &[],
    rules: &[],
    import: None,
};

/// An API key (§5).
pub static KEY: Resource = Resource {
    name: "key",
    description: "Lets a program act for its workspace.",
    fields: &[
        Field::required(
            "name",
            Shape::Line { min: 1, max: 256 },
            "Name of the key, 1 to 256 characters.",
        ),
        Field::required(
            "scope",
            Shape::OneOf(Scope::WORDS),
            "Permissions of the key: read or write. Cannot be changed later.",
        )
        .replaces(),
        Field::output("id", Shape::Id(KeyId::PREFIX), "Identifier of the key; not the key itself."),
    ],
    beyond: &[],
    blocks: &[],
    rules: &[],
    import: None,
};

/// A person who signs in to the dashboard.
pub static USER: Resource = Resource {
    name: "user",
    description: "Signs in to the dashboard.",
    fields: &[
        Field::required(
            "name",
            Shape::Line { min: 1, max: 256 },
            "Name of the person, 1 to 256 characters.",
        ),
        Field::required(
            "email",
            Shape::EmailAddress { max: 254 },
            "Email address, at most 254 characters.",
        ),
        Field::output("id", Shape::Id(UserId::PREFIX), "Identifier of the user."),
    ],
    beyond: &[],
    blocks: &[],
    rules: &[],
    import: None,
};

/// An invitation to a workspace (issue 18, point 1).
pub static INVITATION: Resource = Resource {
    name: "invitation",
    description: "Offers a person to become a member of the workspace.",
    fields: &[
        Field::optional(
            "email",
            Shape::EmailAddress { max: EMAIL_CHARS_MAX },
            "Address of the only person who may accept; default: anybody with the link.",
        ),
        Field::required("role", Shape::OneOf(Role::WORDS), "Role of the new member."),
        Field::output("id", Shape::Id(InvitationId::PREFIX), "Identifier of the invitation."),
        Field::output("created_at", Shape::Instant, "When the person was invited."),
        Field::output("expires_at", Shape::Instant, "Until when the person may accept."),
    ],
    beyond: &[],
    blocks: &[],
    rules: &[],
    import: None,
};

/// A secret that signs a workspace's webhooks (issue 6, point 6).
pub static SIGNING_SECRET: Resource = Resource {
    name: "signing_secret",
    description: "Signs the webhooks of its workspace.",
    fields: &[
        Field::default(
            "overlap_hours",
            Shape::Integer { min: 0, max: 7 * 24 },
            Value::Integer(24),
            "Hours for which earlier secrets keep signing beside a new one, 0 to 168.",
        ),
        Field::output("id", Shape::Id(SigningSecretId::PREFIX), "Identifier of the secret."),
        Field::output("created_at", Shape::Instant, "When the secret was created."),
        Field::output(
            "expires_at",
            Shape::Instant,
            "Until when it signs beside the newest secret.",
        ),
    ],
    beyond: &[],
    blocks: &[],
    rules: &[],
    import: None,
};
