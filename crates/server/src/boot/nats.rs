//! Starts the lane through NATS, if the settings name servers of it.

use contract::rpc::Network;
use remote::nats::NatsSettings;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::variable;
use crate::app::App;
use crate::config::Settings;

/// Starts the task that keeps the connection.
pub(super) fn start(
    app: &App,
    settings: &Settings,
    stop: &CancellationToken,
) -> Option<JoinHandle<()>> {
    let (urls, status) = (settings.nats.clone()?, app.nats.clone()?);
    let network = Network::from_variables(variable);
    let credentials = settings.nats_credentials_file.clone();
    let nats = NatsSettings { urls, credentials, network };
    Some(tokio::spawn(app.nats_lane(nats, status, stop.clone()).run()))
}
