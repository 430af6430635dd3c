//! Chooses where the writer runs. The embedded database runs on the calling thread (`db::embedded`)
//! and waits for the disk there, so its writer has a dedicated thread.

use std::thread::Builder;

use tokio::runtime;

use crate::StoreError;

/// Runs the writer until it ends.
pub(super) fn start(
    writer: impl Future<Output = ()> + Send + 'static,
    is_embedded: bool,
) -> Result<(), StoreError> {
    if is_embedded {
        let own = runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .map_err(sqlx::Error::from)?;
        let thread = Builder::new().name("store".to_owned());
        thread.spawn(move || own.block_on(writer)).map_err(sqlx::Error::from)?;
    } else {
        tokio::spawn(writer);
    }
    Ok(())
}
