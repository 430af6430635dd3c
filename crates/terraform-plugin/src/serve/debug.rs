//! Debug mode: a person starts the provider, for example in a debugger, and `terraform` attaches to
//! it through `TF_REATTACH_PROVIDERS`. This mode has no handshake and no certificate.

use serde_json::json;

use super::handshake::PROTOCOL;
use super::listen::Listener;

/// Returns instructions for people on how to set the variable.
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

/// Returns the value of the variable.
fn reattach(address: &str, listener: &Listener) -> String {
    json!({ address: {
        "Protocol": "grpc",
        "ProtocolVersion": PROTOCOL,
        "Pid": std::process::id(),
        // Makes the host leave a process running that it did not start.
        "Test": true,
        "Addr": { "Network": listener.network, "String": listener.address },
    }})
    .to_string()
}
