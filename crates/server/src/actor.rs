//! Names of the audit log's actors in the contract, for `rpc` and for the command line of
//! `control`.

use rules::{KeyId, UserId};
use store::Actor;

/// Actor of changes from the server's command line.
const COMMAND_LINE: &str = "command_line";
/// Actor of changes by the server itself.
const SERVER: &str = "server";

/// Rule that a name which does not parse breaks.
pub(crate) const ALLOWED: &str =
    "must be the identifier of a key or a user, `command_line` or `server`";

/// Parses the name of an actor.
pub(crate) fn parse(name: &str) -> Option<Actor> {
    match name {
        COMMAND_LINE => Some(Actor::CommandLine),
        SERVER => Some(Actor::Server),
        id => KeyId::parse(id).map(Actor::Key).or_else(|_| UserId::parse(id).map(Actor::User)).ok(),
    }
}

/// Returns the name of the actor that the store calls `stored`.
pub(crate) fn encode(stored: String) -> String {
    if stored == Actor::CommandLine.to_string() { COMMAND_LINE.to_owned() } else { stored }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_actor_parses_back_equal() {
        let key = KeyId::parse("key_0000000000001").unwrap();
        let user = UserId::parse("usr_0000000000001").unwrap();
        for actor in [Actor::CommandLine, Actor::Server, Actor::Key(key), Actor::User(user)] {
            assert_eq!(parse(&encode(actor.to_string())), Some(actor));
        }
        assert_eq!(parse("command line"), None);
    }
}
