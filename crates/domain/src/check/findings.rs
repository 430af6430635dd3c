//! Findings of one check kind about a completed exchange: the results of the assertions, and the
//! reasons for a failure.

/// Findings of one check kind about a completed exchange.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// Human-readable reasons for a failure; empty if all assertions passed.
    pub(crate) reasons: Vec<String>,
    /// Results of the plan's assertions, in order.
    pub(crate) assertions: Vec<AssertionResult>,
    /// Whether all reasons are that the probe had not enough memory to decide.
    pub(crate) lacks_memory: bool,
}

/// Result of one assertion.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct AssertionResult {
    /// The assertion as text, such as `status eq 200`.
    pub assertion: String,
    #[serde(rename = "holds")]
    pub passed: bool,
    /// The actual value, shortened.
    #[serde(rename = "seen")]
    pub actual: String,
}
