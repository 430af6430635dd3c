//! What must hold of whatever comes from a nameserver, and of every address: the entries of the
//! fuzz targets `answers` and `egress`, and of the tests that replay their corpora.

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
    fn the_corpus_of_answers_holds() {
        super::corpus::replay("answers", super::answers);
    }

    #[test]
    fn the_corpus_of_egress_holds() {
        super::corpus::replay("egress", super::egress);
    }
}
