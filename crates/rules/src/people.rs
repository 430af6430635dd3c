//! Methods of the contract that only people may call, because they grant or take away access. A key
//! that could call them could let its holder in for good.

use crate::Role;

/// Each method with the lowest role that may call it.
const FOR_PEOPLE: [(&str, Role); 6] = [
    ("member.v1.MemberService/CreateInvitation", Role::Admin),
    // Everybody may leave. Removing others needs an admin.
    ("member.v1.MemberService/RemoveMember", Role::Viewer),
    ("member.v1.MemberService/RevokeInvitation", Role::Admin),
    ("member.v1.MemberService/UpdateMember", Role::Admin),
    ("workspace.v1.WorkspaceService/CancelDeletion", Role::Owner),
    ("workspace.v1.WorkspaceService/DeleteWorkspace", Role::Owner),
];

/// Returns the lowest role of a person who may call the method with this path. Returns `None` for
/// methods that keys may call too.
pub fn person_role(path: &str) -> Option<Role> {
    let path = path.strip_prefix('/').unwrap_or(path);
    FOR_PEOPLE.iter().find(|(method, _)| *method == path).map(|(_, role)| *role)
}
