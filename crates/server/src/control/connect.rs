//! The way to the operations: the running server's socket, or the store itself where no server
//! runs. Whoever calls need not know which.

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

use super::operation::{Answer, Operation};
use super::{
    AuditRow, ControlError, CreateKey, CreateWorkspace, CreatedKey, Desk, KeepResults, KeyRow,
    RenameWorkspace, SOCKET_FILE, SocketPath, UnreadableRow, WorkspaceRow,
};
use crate::context::Context;

/// Longest answer of the server that is read: some ten thousand keys.
const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;
/// How often a server is looked for that holds the folder and does not answer yet.
const TRIES: u32 = 40;
/// Time between two of them.
const PAUSE: Duration = Duration::from_millis(50);

/// What an operator may do, wherever it is done.
#[derive(Debug)]
pub struct Admin(Way);

#[derive(Debug)]
enum Way {
    Server(PathBuf),
    Store(Box<Desk>),
}

/// Opens the way to the operations of the data folder: by its server, or else by its store, which
/// must exist and is held until [`Admin::close`].
pub async fn connect(ctx: &Context, settings: Settings) -> Result<Admin, ControlError> {
    let folder = settings.folder.as_path();
    let mut tries = 0;
    loop {
        if answers(folder).await {
            return Ok(Admin(Way::Server(folder.to_owned())));
        }
        match Store::open_existing(settings.clone()).await {
            Ok(store) => {
                return Ok(Admin(Way::Store(Box::new(Desk::new(ctx.clone(), store, None)))));
            }
            // A server that is starting holds the folder before it answers.
            Err(StoreError::Locked { .. }) if tries < TRIES => tries += 1,
            Err(error) => return Err(error.into()),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

impl Admin {
    /// Whether a running server does the operations.
    pub const fn is_remote(&self) -> bool {
        matches!(self.0, Way::Server(_))
    }

    /// Creates a workspace.
    pub async fn create_workspace(
        &self,
        new: CreateWorkspace,
    ) -> Result<WorkspaceRow, ControlError> {
        let Answer::Workspace(workspace) = self.perform(Operation::CreateWorkspace(new)).await?
        else {
            return Err(self.misunderstood());
        };
        Ok(workspace)
    }

    /// Returns every workspace, newest first.
    pub async fn list_workspaces(&self) -> Result<Vec<WorkspaceRow>, ControlError> {
        let Answer::Workspaces(workspaces) = self.perform(Operation::ListWorkspaces).await? else {
            return Err(self.misunderstood());
        };
        Ok(workspaces)
    }

    /// Gives a workspace other names.
    pub async fn rename_workspace(
        &self,
        renamed: RenameWorkspace,
    ) -> Result<WorkspaceRow, ControlError> {
        let renamed = Operation::RenameWorkspace(renamed);
        let Answer::Workspace(workspace) = self.perform(renamed).await? else {
            return Err(self.misunderstood());
        };
        Ok(workspace)
    }

    /// Gives the workspace with this slug another plan.
    pub async fn set_plan(
        &self,
        workspace: String,
        plan: String,
    ) -> Result<WorkspaceRow, ControlError> {
        let planned = Operation::SetPlan { workspace, plan };
        let Answer::Workspace(workspace) = self.perform(planned).await? else {
            return Err(self.misunderstood());
        };
        Ok(workspace)
    }

    /// Deletes the workspace with this slug and all that it has.
    pub async fn delete_workspace(&self, workspace: String) -> Result<(), ControlError> {
        let Answer::Deleted = self.perform(Operation::DeleteWorkspace { workspace }).await? else {
            return Err(self.misunderstood());
        };
        Ok(())
    }

    /// The newest changes of the workspace with this slug, newest first.
    pub async fn audit(
        &self,
        workspace: String,
        limit: u32,
    ) -> Result<Vec<AuditRow>, ControlError> {
        let Answer::Audited(rows) = self.perform(Operation::Audit { workspace, limit }).await?
        else {
            return Err(self.misunderstood());
        };
        Ok(rows)
    }

    /// Holds the store to these plans. A running server holds it to its own settings.
    pub fn hold_to(&self, plans: Plans, default_days: u32) {
        match &self.0 {
            Way::Server(_) => {}
            Way::Store(desk) => desk.hold_to(plans, default_days),
        }
    }

    /// Keeps the results of a workspace for so many days, or as the server's setting says.
    pub async fn keep_results(&self, keep: KeepResults) -> Result<(), ControlError> {
        let Answer::Keeps = self.perform(Operation::KeepResults(keep)).await? else {
            return Err(self.misunderstood());
        };
        Ok(())
    }

    /// Creates a key and shows it, once.
    pub async fn create_key(&self, new: CreateKey) -> Result<CreatedKey, ControlError> {
        let Answer::Created(created) = self.perform(Operation::CreateKey(new)).await? else {
            return Err(self.misunderstood());
        };
        Ok(created)
    }

    /// The keys of the workspace with this slug, or of all; revoked ones too.
    pub async fn list_keys(&self, workspace: Option<&str>) -> Result<Vec<KeyRow>, ControlError> {
        let workspace = workspace.map(ToOwned::to_owned);
        let Answer::Keys(keys) = self.perform(Operation::ListKeys { workspace }).await? else {
            return Err(self.misunderstood());
        };
        Ok(keys)
    }

    /// Revokes a key; once more is no error.
    pub async fn revoke_key(&self, id: KeyId) -> Result<(), ControlError> {
        let Answer::Revoked = self.perform(Operation::RevokeKey { id }).await? else {
            return Err(self.misunderstood());
        };
        Ok(())
    }

    /// Reads everything, and returns the rows that cannot be read.
    pub async fn examine(&self) -> Result<Vec<UnreadableRow>, ControlError> {
        let Answer::Unreadable(rows) = self.perform(Operation::Examine).await? else {
            return Err(self.misunderstood());
        };
        Ok(rows)
    }

    /// Puts rows back that can be read again, and returns how many.
    pub async fn put_back(&self) -> Result<u64, ControlError> {
        let Answer::PutBack(count) = self.perform(Operation::PutBack).await? else {
            return Err(self.misunderstood());
        };
        Ok(count)
    }

    /// Removes a row that cannot be read.
    pub async fn remove_row(&self, table: String, key: String) -> Result<(), ControlError> {
        let Answer::Removed = self.perform(Operation::RemoveRow { table, key }).await? else {
            return Err(self.misunderstood());
        };
        Ok(())
    }

    /// Writes a copy of the embedded database to a file that is not there yet, and says how many
    /// bytes it has. The path is absolute: a running server writes it.
    pub async fn back_up(&self, file: PathBuf) -> Result<u64, ControlError> {
        let Answer::BackedUp(bytes) = self.perform(Operation::BackUp { file }).await? else {
            return Err(self.misunderstood());
        };
        Ok(bytes)
    }

    /// Lets go of the store, where there was no server.
    pub async fn close(self) -> Result<(), ControlError> {
        match self.0 {
            Way::Server(_) => Ok(()),
            Way::Store(desk) => Ok(desk.into_store().close().await?),
        }
    }

    async fn perform(&self, operation: Operation) -> Result<Answer, ControlError> {
        let folder = match &self.0 {
            Way::Store(desk) => return desk.perform(operation).await,
            Way::Server(folder) => folder,
        };
        let unreachable =
            |why: String| ControlError::Unreachable { folder: folder.display().to_string(), why };
        let answer = ask(folder, &operation).await;
        let answer = answer.map_err(|error| unreachable(error.to_string()))?;
        if let Answer::Refused(why) = answer {
            return Err(ControlError::Refused(why));
        }
        Ok(answer)
    }

    fn misunderstood(&self) -> ControlError {
        let folder = match &self.0 {
            Way::Server(folder) => folder.display().to_string(),
            Way::Store(_) => "this command".to_owned(),
        };
        let why = "it sent an unexpected response; it may run another version".to_owned();
        ControlError::Unreachable { folder, why }
    }
}

/// Whether a server listens at the folder's socket; a dead one left a file that nobody listens at.
async fn answers(folder: &Path) -> bool {
    reach(folder).await.is_ok()
}

async fn reach(folder: &Path) -> io::Result<UnixStream> {
    UnixStream::connect(&SocketPath::of(folder, SOCKET_FILE)?.path).await
}

async fn ask(folder: &Path, operation: &Operation) -> Result<Answer, Box<dyn Error + Send + Sync>> {
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
    let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await;
    let body = body?.to_bytes();
    drop(sender);
    connection.abort();
    if status != StatusCode::OK {
        return Err(format!("it answered {status}").into());
    }
    Ok(serde_json::from_slice(&body)?)
}
