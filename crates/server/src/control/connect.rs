//! Connects commands to the operations: through the socket of a running server, or else directly to
//! the store. Callers do not see the difference.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_util::rt::TokioIo;
use rules::KeyId;
use rules::plan::Plans;
use store::{Settings, Store, StoreError};
use tokio::net::UnixStream;
use web::context::Context;

use super::operation::{Operation, OperationReply};
use super::probe_operation::{ProbeOperation, ProbeReply};
use super::{
    AuditQuery, AuditRow, ControlError, ControlService, CreateKey, CreateProbe, CreateWorkspace,
    CreatedKey, CreatedProbe, KeepResults, KeyRow, NewPassword, ProbeRow, RenameWorkspace,
    SOCKET_FILE, SocketPath, UnreadableRow, UserRow, WorkspaceDetails, WorkspaceRow,
};

/// Maximum length of a response: some ten thousand keys.
const RESPONSE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Number of retries if a server has locked the folder but does not answer yet.
const ATTEMPTS_MAX: u32 = 40;
/// Pause between retries.
const PAUSE: Duration = Duration::from_millis(50);

/// The operations on a data folder.
#[derive(Debug)]
pub struct Admin(Backend);

#[derive(Debug)]
enum Backend {
    Server(PathBuf),
    Store(Box<ControlService>),
}

/// Connects to the data folder: to its server, or else to its store. The store must exist and is locked
/// until [`Admin::close`].
pub async fn connect(ctx: &Context, settings: Settings) -> Result<Admin, ControlError> {
    let folder = settings.folder.as_path();
    let mut attempts = 0;
    loop {
        if is_running(folder).await {
            return Ok(Admin(Backend::Server(folder.to_owned())));
        }
        match Store::open_existing(settings.clone()).await {
            Ok(store) => {
                return Ok(Admin(Backend::Store(Box::new(ControlService::new(
                    ctx.clone(),
                    store,
                    None,
                )))));
            }
            // A starting server locks the folder before it answers.
            Err(StoreError::Locked { .. }) if attempts < ATTEMPTS_MAX => attempts += 1,
            Err(error) => return Err(error.into()),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

impl Admin {
    /// Returns whether a running server executes the operations.
    pub const fn is_remote(&self) -> bool {
        matches!(self.0, Backend::Server(_))
    }

    /// Creates a workspace.
    pub async fn create_workspace(
        &self,
        new: CreateWorkspace,
    ) -> Result<WorkspaceRow, ControlError> {
        let OperationReply::Workspace(workspace) =
            self.perform(Operation::CreateWorkspace(new)).await?
        else {
            return Err(self.unexpected_reply());
        };
        Ok(workspace)
    }

    /// Returns every workspace, newest first.
    pub async fn list_workspaces(&self) -> Result<Vec<WorkspaceDetails>, ControlError> {
        let OperationReply::Workspaces(workspaces) =
            self.perform(Operation::ListWorkspaces).await?
        else {
            return Err(self.unexpected_reply());
        };
        Ok(workspaces)
    }

    /// Returns the workspace with this slug.
    pub async fn show_workspace(
        &self,
        workspace: String,
    ) -> Result<WorkspaceDetails, ControlError> {
        let OperationReply::Details(details) =
            self.perform(Operation::ShowWorkspace { workspace }).await?
        else {
            return Err(self.unexpected_reply());
        };
        Ok(*details)
    }

    /// Renames a workspace.
    pub async fn rename_workspace(
        &self,
        renamed: RenameWorkspace,
    ) -> Result<WorkspaceRow, ControlError> {
        let renamed = Operation::RenameWorkspace(renamed);
        let OperationReply::Workspace(workspace) = self.perform(renamed).await? else {
            return Err(self.unexpected_reply());
        };
        Ok(workspace)
    }

    /// Changes the plan of the workspace with this slug.
    pub async fn set_plan(
        &self,
        workspace: String,
        plan: String,
    ) -> Result<WorkspaceRow, ControlError> {
        let planned = Operation::SetPlan { workspace, plan };
        let OperationReply::Workspace(workspace) = self.perform(planned).await? else {
            return Err(self.unexpected_reply());
        };
        Ok(workspace)
    }

    /// Makes the workspace with this slug one of the operator's, or ends that.
    pub async fn set_operator(
        &self,
        workspace: String,
        is_operator: bool,
    ) -> Result<WorkspaceDetails, ControlError> {
        let operation = Operation::SetOperator { workspace, is_operator };
        let OperationReply::Details(details) = self.perform(operation).await? else {
            return Err(self.unexpected_reply());
        };
        Ok(*details)
    }

    /// Deletes the workspace with this slug and all its resources.
    pub async fn delete_workspace(&self, workspace: String) -> Result<(), ControlError> {
        let OperationReply::Deleted =
            self.perform(Operation::DeleteWorkspace { workspace }).await?
        else {
            return Err(self.unexpected_reply());
        };
        Ok(())
    }

    /// Returns the latest changes that match, newest first.
    pub async fn audit(&self, query: AuditQuery) -> Result<Vec<AuditRow>, ControlError> {
        let OperationReply::Audited(rows) = self.perform(Operation::Audit(query)).await? else {
            return Err(self.unexpected_reply());
        };
        Ok(rows)
    }

    /// Applies these plans to the store. A running server keeps its own.
    pub fn apply_plans(&self, plans: Plans, default_days: u32) {
        match &self.0 {
            Backend::Server(_) => {}
            Backend::Store(service) => service.apply_plans(plans, default_days),
        }
    }

    /// Sets the retention of a workspace's results; `None` restores the server's setting.
    pub async fn set_retention(&self, keep: KeepResults) -> Result<(), ControlError> {
        let OperationReply::Keeps = self.perform(Operation::KeepResults(keep)).await? else {
            return Err(self.unexpected_reply());
        };
        Ok(())
    }

    /// Creates a key and returns its only copy.
    pub async fn create_key(&self, new: CreateKey) -> Result<CreatedKey, ControlError> {
        let OperationReply::Created(created) = self.perform(Operation::CreateKey(new)).await?
        else {
            return Err(self.unexpected_reply());
        };
        Ok(created)
    }

    /// Returns the keys of the workspace with this slug, or of all, including revoked ones.
    pub async fn list_keys(&self, workspace: Option<&str>) -> Result<Vec<KeyRow>, ControlError> {
        let workspace = workspace.map(ToOwned::to_owned);
        let OperationReply::Keys(keys) = self.perform(Operation::ListKeys { workspace }).await?
        else {
            return Err(self.unexpected_reply());
        };
        Ok(keys)
    }

    /// Revokes a key. Revoking a revoked key has no effect.
    pub async fn revoke_key(&self, id: KeyId) -> Result<(), ControlError> {
        let OperationReply::Revoked = self.perform(Operation::RevokeKey { id }).await? else {
            return Err(self.unexpected_reply());
        };
        Ok(())
    }

    /// Returns all users, newest first.
    pub async fn list_users(&self) -> Result<Vec<UserRow>, ControlError> {
        let OperationReply::Users(users) = self.perform(Operation::ListUsers).await? else {
            return Err(self.unexpected_reply());
        };
        Ok(users)
    }

    /// Gives the user with this address a new password and returns its only copy. Removes the passkeys
    /// of the user unless they are kept.
    pub async fn reset_user(
        &self,
        email: String,
        keeps_passkeys: bool,
    ) -> Result<NewPassword, ControlError> {
        let reset = Operation::ResetUser { email, keeps_passkeys };
        let OperationReply::Password(new) = self.perform(reset).await? else {
            return Err(self.unexpected_reply());
        };
        Ok(new)
    }

    /// Creates a probe and returns the only copy of its token.
    pub async fn create_probe(&self, new: CreateProbe) -> Result<CreatedProbe, ControlError> {
        let ProbeReply::Token(created) = self.on_probes(ProbeOperation::Create(new)).await? else {
            return Err(self.unexpected_reply());
        };
        Ok(created)
    }

    /// Returns all probes by name.
    pub async fn list_probes(&self) -> Result<Vec<ProbeRow>, ControlError> {
        let ProbeReply::Listed(rows) = self.on_probes(ProbeOperation::List).await? else {
            return Err(self.unexpected_reply());
        };
        Ok(rows)
    }

    /// Gives the probe with this name or ID a new token and returns its only copy.
    pub async fn rotate_probe(&self, probe: String) -> Result<CreatedProbe, ControlError> {
        let rotation = ProbeOperation::Rotate { probe };
        let ProbeReply::Token(created) = self.on_probes(rotation).await? else {
            return Err(self.unexpected_reply());
        };
        Ok(created)
    }

    /// Deletes the probe with this name or ID, and returns it.
    pub async fn delete_probe(&self, probe: String) -> Result<ProbeRow, ControlError> {
        let deletion = ProbeOperation::Delete { probe };
        let ProbeReply::Deleted(row) = self.on_probes(deletion).await? else {
            return Err(self.unexpected_reply());
        };
        Ok(row)
    }

    async fn on_probes(&self, operation: ProbeOperation) -> Result<ProbeReply, ControlError> {
        let OperationReply::Probe(reply) = self.perform(Operation::Probe(operation)).await? else {
            return Err(self.unexpected_reply());
        };
        Ok(reply)
    }

    /// Reads all rows and returns those that cannot be decoded.
    pub async fn examine(&self) -> Result<Vec<UnreadableRow>, ControlError> {
        let OperationReply::Unreadable(rows) = self.perform(Operation::Examine).await? else {
            return Err(self.unexpected_reply());
        };
        Ok(rows)
    }

    /// Restores quarantined rows that can be decoded again, and returns their number.
    pub async fn restore_quarantined(&self) -> Result<u64, ControlError> {
        let OperationReply::PutBack(count) = self.perform(Operation::PutBack).await? else {
            return Err(self.unexpected_reply());
        };
        Ok(count)
    }

    /// Removes a row that cannot be decoded.
    pub async fn remove_row(&self, table: String, key: String) -> Result<(), ControlError> {
        let OperationReply::Removed = self.perform(Operation::RemoveRow { table, key }).await?
        else {
            return Err(self.unexpected_reply());
        };
        Ok(())
    }

    /// Writes a copy of the embedded database to a new file and returns its size in bytes. The path
    /// must be absolute, because a running server writes the file.
    pub async fn back_up(&self, file: PathBuf) -> Result<u64, ControlError> {
        let OperationReply::BackedUp(bytes) = self.perform(Operation::BackUp { file }).await?
        else {
            return Err(self.unexpected_reply());
        };
        Ok(bytes)
    }

    /// Closes the store, unless a server executes the operations.
    pub async fn close(self) -> Result<(), ControlError> {
        match self.0 {
            Backend::Server(_) => Ok(()),
            Backend::Store(service) => Ok(service.into_store().close().await?),
        }
    }

    async fn perform(&self, operation: Operation) -> Result<OperationReply, ControlError> {
        let folder = match &self.0 {
            Backend::Store(service) => return service.perform(operation).await,
            Backend::Server(folder) => folder,
        };
        let unreachable =
            |why: String| ControlError::Unreachable { folder: folder.display().to_string(), why };
        let answer = send_request(folder, &operation).await;
        let answer = answer.map_err(|error| unreachable(error.to_string()))?;
        if let OperationReply::Refused(why) = answer {
            return Err(ControlError::Refused(why));
        }
        Ok(answer)
    }

    fn unexpected_reply(&self) -> ControlError {
        let folder = match &self.0 {
            Backend::Server(folder) => folder.display().to_string(),
            Backend::Store(_) => "this command".to_owned(),
        };
        let why = "it sent an unexpected response; it may run another version".to_owned();
        ControlError::Unreachable { folder, why }
    }
}

/// Returns whether a server listens on the folder's socket. A crashed server leaves the file behind.
async fn is_running(folder: &Path) -> bool {
    reach(folder).await.is_ok()
}

async fn reach(folder: &Path) -> io::Result<UnixStream> {
    UnixStream::connect(&SocketPath::new(folder, SOCKET_FILE)?.path).await
}

async fn send_request(
    folder: &Path,
    operation: &Operation,
) -> Result<OperationReply, Box<dyn Error + Send + Sync>> {
    let stream = reach(folder).await?;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let connection = tokio::spawn(connection);
    let body = serde_json::to_vec(operation)?;
    let request = Request::builder()
        .method(Method::POST)
        .uri("/control")
        .header("host", "control")
        .header("content-type", "application/json")
        .body(Full::new(Bytes::from(body)))?;
    let response = sender.send_request(request).await?;
    let status = response.status();
    let body = Limited::new(response.into_body(), RESPONSE_BYTES_MAX).collect().await;
    let body = body?.to_bytes();
    drop(sender);
    connection.abort();
    if status != StatusCode::OK {
        return Err(format!("it answered {status}").into());
    }
    Ok(serde_json::from_slice(&body)?)
}
