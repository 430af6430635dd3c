//! Wire format of `workspace.v1`. `rules` defines plans; the store defines workspaces.

/// Messages and service generated from `proto/workspace/v1/workspace.proto`.
pub mod wire {
    pub use proto::workspace::v1::*;
}
