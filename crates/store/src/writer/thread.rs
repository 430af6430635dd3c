//! Where the writer runs. The embedded database needs nobody's clock or sockets, so its writer has a thread
//! of its own: each errand to the connection and back wakes it for less than a worker of the runtime
//! is woken for, and it is woken as well where all of these are at work.

use std::thread::Builder;

use tokio::runtime;

use crate::StoreError;

/// Runs the writer until it ends.
pub(super) fn start(
    writer: impl Future<Output = ()> + Send + 'static,
    is_embedded: bool,
) -> Result<(), StoreError> {
    if is_embedded {
        let own = runtime::Builder::new_current_thread().build().map_err(sqlx::Error::from)?;
        let thread = Builder::new().name("store".to_owned());
        thread.spawn(move || own.block_on(writer)).map_err(sqlx::Error::from)?;
    } else {
        tokio::spawn(writer);
    }
    Ok(())
}
