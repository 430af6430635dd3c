//! The example provider, driven by the real `terraform`.

mod host;
mod kinds;
mod life;
mod notebook;
#[cfg(unix)]
mod process;
mod wire;
