//! Renders and compresses bodies on blocking threads, a few at a time over all pages.

use std::panic::resume_unwind;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use web::http_body::{EncodedBody, Encoding};

/// Maximum number of bodies that are rendered and compressed concurrently, over all pages. It
/// limits the CPU that a flood of requests can use.
const CONCURRENT_RENDERS_MAX: usize = 4;

/// Function that renders a body on a blocking thread.
pub(crate) type RenderJob = Box<dyn FnOnce() -> EncodedBody + Send>;

/// Limit of concurrent rendering.
#[derive(Debug)]
pub(super) struct Renderer {
    permits: Arc<Semaphore>,
}

impl Default for Renderer {
    fn default() -> Self {
        Self { permits: Arc::new(Semaphore::new(CONCURRENT_RENDERS_MAX)) }
    }
}

impl Renderer {
    /// Renders a body in an encoding. Returns `None` only if the server is shutting down.
    pub(super) async fn render(
        &self,
        job: RenderJob,
        encoding: Encoding,
    ) -> Option<Arc<EncodedBody>> {
        self.run(encoding, || Arc::new(job())).await
    }

    /// Adds an encoding to a body. Returns `None` only if the server is shutting down.
    pub(super) async fn compress(
        &self,
        body: Arc<EncodedBody>,
        encoding: Encoding,
    ) -> Option<Arc<EncodedBody>> {
        self.run(encoding, || body).await
    }

    /// Runs the work on a blocking thread. It uses a permit until it finishes, even if nobody waits
    /// for it any more.
    async fn run(
        &self,
        encoding: Encoding,
        work: impl FnOnce() -> Arc<EncodedBody> + Send + 'static,
    ) -> Option<Arc<EncodedBody>> {
        let permit = Arc::clone(&self.permits).acquire_owned().await.ok()?;
        let work = spawn_blocking(move || {
            let _permit = permit;
            let body = work();
            body.bytes(encoding);
            body
        });
        match work.await {
            Ok(body) => Some(body),
            Err(why) if why.is_panic() => resume_unwind(why.into_panic()),
            Err(_) => None,
        }
    }
}
