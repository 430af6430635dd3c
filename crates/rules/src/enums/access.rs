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
    /// Returns whether a user with this role may do what `required` may do.
    pub fn includes(self, required: Self) -> bool {
        self <= required
    }

    /// Returns what a user with this role may do with resources.
    pub fn scope(self) -> Scope {
        if self.includes(Self::Editor) { Scope::Write } else { Scope::Read }
    }
}

impl Scope {
    /// Returns whether a key with this scope may make changes.
    pub const fn may_write(self) -> bool {
        matches!(self, Self::Write)
    }
}
