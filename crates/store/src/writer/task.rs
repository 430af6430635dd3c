//! Type-erased work of the writer: done once, and replied to once with its outcome or the reason
//! why it was not stored.

use std::future::Future;
use std::pin::Pin;

use tokio::sync::oneshot;

use super::Session;
use super::durability::Durability;
use super::fault::Fault;
use crate::StoreError;

/// Future of a piece of work.
pub(crate) type Work<'s, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 's>>;

/// Responsibility for beginning the transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begin {
    /// The writer begins it.
    First,
    /// The work begins it with [`Session::begin`]. A single statement is a transaction by itself
    /// and saves two statements. In a group or on another machine, the writer begins it.
    ByWork(Durability),
}

impl Begin {
    /// Returns the time at which the changes must be on disk.
    pub(super) fn durability(self) -> Durability {
        match self {
            Self::First => Durability::AtOnce,
            Self::ByWork(durable) => durable,
        }
    }
}

/// Type-erased piece of work.
pub(super) trait Task: Send {
    /// Returns who begins the transaction.
    fn begin(&self) -> Begin;

    /// Does the work and returns whether to commit it.
    fn run<'s>(
        &'s mut self,
        session: &'s mut Session,
    ) -> Pin<Box<dyn Future<Output = TxOutcome> + Send + 's>>;

    /// Sends the reply: the outcome of the work, or the reason why it was not committed.
    fn reply(self: Box<Self>, committed: Result<(), &RolledBack>);
}

/// Reason why a group was not committed.
pub(super) struct RolledBack {
    pub(super) why: String,
    /// Whether the changes may be stored nevertheless.
    pub(super) is_unsure: bool,
    /// Fault of the disk, if that is the reason.
    pub(super) fault: Option<Fault>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TxOutcome {
    Yes,
    No,
}

pub(super) struct Pending<T, F> {
    begin: Begin,
    work: Option<F>,
    outcome: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

/// Receiver of the reply.
pub(super) type ReplyReceiver<T> = oneshot::Receiver<Result<T, StoreError>>;

impl<T, F> Pending<T, F> {
    /// Creates a piece of work and the receiver of its reply.
    pub(super) fn new(begin: Begin, work: F) -> (Self, ReplyReceiver<T>) {
        let (sender, receiver) = oneshot::channel();
        (Self { begin, work: Some(work), outcome: None, reply: sender }, receiver)
    }
}

impl<T, F> Task for Pending<T, F>
where
    T: Send + 'static,
    F: for<'s> FnOnce(&'s mut Session) -> Work<'s, T> + Send + 'static,
{
    fn begin(&self) -> Begin {
        self.begin
    }

    fn run<'s>(
        &'s mut self,
        session: &'s mut Session,
    ) -> Pin<Box<dyn Future<Output = TxOutcome> + Send + 's>> {
        Box::pin(async move {
            let Some(work) = self.work.take() else { return TxOutcome::No };
            let result = work(session).await.map_err(|error| session.record_fault(error));
            let outcome = if result.is_ok() { TxOutcome::Yes } else { TxOutcome::No };
            self.outcome = Some(result);
            outcome
        })
    }

    fn reply(self: Box<Self>, committed: Result<(), &RolledBack>) {
        let reply = match (self.outcome, committed) {
            // The work's own failure is more specific than the group's.
            (Some(Err(failure)), _) => Err(failure),
            (_, Err(undone)) => Err(undone.to_error()),
            (Some(outcome), Ok(())) => outcome,
            (None, Ok(())) => Err(StoreError::Closed),
        };
        // The caller may be gone. The work is done nevertheless.
        let _ = self.reply.send(reply);
    }
}

impl RolledBack {
    fn to_error(&self) -> StoreError {
        let why = self.why.clone();
        if self.is_unsure {
            StoreError::Unconfirmed { why }
        } else if let Some(fault) = self.fault {
            fault.error(&why)
        } else {
            StoreError::NotCommitted { why }
        }
    }
}

impl From<sqlx::Error> for RolledBack {
    fn from(error: sqlx::Error) -> Self {
        Self { why: error.to_string(), is_unsure: false, fault: Fault::from_error(&error) }
    }
}
