//! Pieces of work as the writer has them: their types forgotten, done once, answered once, with the
//! outcome or with why nothing of it was kept.

use std::future::Future;
use std::pin::Pin;

use tokio::sync::oneshot;

use super::Session;
use super::disk::Durable;
use crate::StoreError;

/// The future of a piece of work.
pub(crate) type Work<'s, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 's>>;

/// Who begins the transaction of a piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begin {
    /// The writer.
    First,
    /// The work, by [`Session::begin`], or nobody where it is one statement: that is a transaction by
    /// itself, and spares two more. Where it is not alone, or on another machine, the writer.
    ByWork(Durable),
}

impl Begin {
    /// When what the work wrote is to be on the disk.
    pub(super) fn durable(self) -> Durable {
        match self {
            Self::First => Durable::AtOnce,
            Self::ByWork(durable) => durable,
        }
    }
}

/// A piece of work whose types are forgotten.
pub(super) trait Task: Send {
    /// Who begins its transaction.
    fn begin(&self) -> Begin;

    /// Does the work and says whether it is to be kept.
    fn run<'s>(
        &'s mut self,
        session: &'s mut Session,
    ) -> Pin<Box<dyn Future<Output = Kept> + Send + 's>>;

    /// Answers the caller: with the outcome of the work, or with why it was not committed.
    fn answer(self: Box<Self>, committed: Result<(), &Undone>);
}

/// Why a group was not committed.
pub(super) struct Undone {
    pub(super) why: String,
    /// Whether it may be stored all the same.
    pub(super) is_unsure: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    Yes,
    No,
}

pub(super) struct Pending<T, F> {
    begin: Begin,
    work: Option<F>,
    outcome: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

/// Where the answer of a piece of work comes.
pub(super) type Answer<T> = oneshot::Receiver<Result<T, StoreError>>;

impl<T, F> Pending<T, F> {
    /// The work, and where its answer will come.
    pub(super) fn new(begin: Begin, work: F) -> (Self, Answer<T>) {
        let (reply, answer) = oneshot::channel();
        (Self { begin, work: Some(work), outcome: None, reply }, answer)
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
    ) -> Pin<Box<dyn Future<Output = Kept> + Send + 's>> {
        Box::pin(async move {
            let Some(work) = self.work.take() else { return Kept::No };
            let outcome = work(session).await;
            let kept = if outcome.is_ok() { Kept::Yes } else { Kept::No };
            self.outcome = Some(outcome);
            kept
        })
    }

    fn answer(self: Box<Self>, committed: Result<(), &Undone>) {
        let answer = match (self.outcome, committed) {
            // Its own failure tells the caller more than the group's.
            (Some(Err(failure)), _) => Err(failure),
            (_, Err(undone)) => Err(undone.to_error()),
            (Some(outcome), Ok(())) => outcome,
            (None, Ok(())) => Err(StoreError::Closed),
        };
        // Whoever asked may have gone away; the work is done all the same.
        let _ = self.reply.send(answer);
    }
}

impl Undone {
    fn to_error(&self) -> StoreError {
        let why = self.why.clone();
        if self.is_unsure {
            StoreError::Unconfirmed { why }
        } else {
            StoreError::NotCommitted { why }
        }
    }
}

impl From<sqlx::Error> for Undone {
    fn from(error: sqlx::Error) -> Self {
        Self { why: error.to_string(), is_unsure: false }
    }
}
