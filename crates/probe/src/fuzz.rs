//! Invariants for any data from nameservers and any address: used by the fuzz targets `answers` and
//! `egress`, and by the tests that replay their corpora.

mod answers;
mod egress;

pub use answers::answers;
pub use egress::egress;

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod corpus;

#[cfg(test)]
mod tests {
    #[test]
    fn answers_corpus_passes() {
        super::corpus::replay("answers", super::answers);
    }

    #[test]
    fn egress_corpus_passes() {
        super::corpus::replay("egress", super::egress);
    }
}
