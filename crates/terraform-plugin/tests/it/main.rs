//! The example provider, driven by the real `terraform`.

mod host;
mod life;
mod notebook;
#[cfg(unix)]
mod process;
mod wire;
