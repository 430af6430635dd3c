//! The server: boots, runs the pipeline, and answers RPC, `/v1` and the machine's own questions.

pub mod context;
pub mod observe;
pub mod pipeline;
