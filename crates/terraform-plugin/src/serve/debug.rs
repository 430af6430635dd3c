//! Debug mode: a provider that a person starts, under a debugger for example, and that `terraform`
//! then connects to by `TF_REATTACH_PROVIDERS`. There is no handshake and no certificate.

use serde_json::json;

use super::handshake::PROTOCOL;
use super::listen::Listener;

/// What to hand to `terraform`, for people: how to set its variable.
pub(super) fn instructions(address: &str, listener: &Listener) -> String {
    let reattach = reattach(address, listener);
    let set = if cfg!(windows) {
        let powershell = reattach.replace('\'', "''");
        format!(
            "\tCommand Prompt:\tset \"TF_REATTACH_PROVIDERS={reattach}\"\n\
             \tPowerShell:\t$env:TF_REATTACH_PROVIDERS='{powershell}'\n"
        )
    } else {
        format!("\tTF_REATTACH_PROVIDERS='{}'\n", reattach.replace('\'', r#"'"'"'"#))
    };
    format!(
        "Provider started. To attach Terraform CLI, set the TF_REATTACH_PROVIDERS environment \
         variable with the following:\n\n{set}"
    )
}

/// The value of the variable.
fn reattach(address: &str, listener: &Listener) -> String {
    json!({ address: {
        "Protocol": "grpc",
        "ProtocolVersion": PROTOCOL,
        "Pid": std::process::id(),
        // The host leaves a process alone that it did not start.
        "Test": true,
        "Addr": { "Network": listener.network, "String": listener.address },
    }})
    .to_string()
}
