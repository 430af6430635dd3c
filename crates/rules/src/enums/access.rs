//! The permissions of keys and the roles of users.

words! {
    /// Permissions of a key (§3, §5.5).
    Scope ("scope") {
        /// Read-only.
        Read = "read",
        /// Everything in the workspace.
        Write = "write",
    }

    /// Role of a user in a workspace. Each role may do what the roles after it may do.
    Role ("role") {
        /// Everything, including the owners and the deletion of the workspace.
        Owner = "owner",
        /// Keys, members and everything below.
        Admin = "admin",
        /// Monitors, channels, pages and everything else that is checked or published.
        Editor = "editor",
        /// Read-only, without secrets.
        Viewer = "viewer",
    }
}

impl Role {
    /// Returns whether this role may do what `needed` may do.
    pub const fn includes(self, needed: Self) -> bool {
        self as u8 <= needed as u8
    }

    /// Returns the role that may give somebody this role, or take it away.
    #[must_use]
    pub const fn needed_to_grant(self) -> Self {
        match self {
            Self::Owner => Self::Owner,
            Self::Admin | Self::Editor | Self::Viewer => Self::Admin,
        }
    }
}

impl Scope {
    /// Returns whether a key with this scope may make changes.
    pub const fn may_write(self) -> bool {
        matches!(self, Self::Write)
    }
}
