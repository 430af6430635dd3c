//! Wire format of `member.v1`. The store defines members and invitations.

/// Messages and service generated from `proto/member/v1/member.proto`.
pub mod wire {
    pub use proto::member::v1::*;
}
