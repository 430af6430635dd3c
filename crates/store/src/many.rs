//! Rows of values for statements that take many at a time, SQLite only: one statement is a transaction
//! by itself, and one that is prepared already is had for a few numbers of rows alone. What the rows are
//! belongs to those who write them.

/// Rows of one statement.
pub(crate) const SIZES: [usize; 11] = [256, 128, 64, 32, 24, 16, 12, 8, 4, 2, 1];
/// Rows that cost less than another statement, and the transaction that two of them need.
const FILLING_MAX: usize = 24;

/// Rows of one statement, as many as stand at its place in [`SIZES`].
pub(crate) struct Chunk<I> {
    pub(crate) place: usize,
    pub(crate) rows: I,
}

/// Rows in chunks. One that is not full is filled with a row that it has already, so statements must
/// take the second of two for nothing.
pub(crate) fn chunks<R>(rows: &[R]) -> impl Iterator<Item = Chunk<impl Iterator<Item = &R>>> {
    let mut rest = rows;
    std::iter::from_fn(move || {
        let last = rest.last()?;
        let place = place(rest.len());
        let (chunk, later) = rest.split_at(SIZES[place].min(rest.len()));
        rest = later;
        let filling = std::iter::repeat_n(last, SIZES[place] - chunk.len());
        Some(Chunk { place, rows: chunk.iter().chain(filling) })
    })
}

/// The place of the least size that has room for `count` rows, unless filling it costs more than
/// writing the rest by itself; then, and where none has, of the largest that is full.
fn place(count: usize) -> usize {
    let roomy = SIZES.iter().rposition(|size| *size >= count);
    let is_worth_it = |place: &usize| SIZES[*place] - count <= FILLING_MAX.min(count);
    let full = || SIZES.iter().position(|size| *size <= count);
    roomy.filter(is_worth_it).or_else(full).unwrap_or(SIZES.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(count: usize) -> Vec<usize> {
        let rows: Vec<usize> = (0..count).collect();
        let mut sizes = Vec::new();
        let mut written = Vec::new();
        for chunk in chunks(&rows) {
            let values: Vec<usize> = chunk.rows.copied().collect();
            assert_eq!(values.len(), SIZES[chunk.place]);
            sizes.push(values.len());
            written.extend(values);
        }
        written.dedup();
        assert_eq!(written, rows, "each once, and the filling after its like");
        sizes
    }

    #[test]
    fn a_few_rows_are_one_statement_and_many_are_filled_where_that_is_little() {
        for (count, expected) in [
            (0, &[][..]),
            (1, &[1]),
            (3, &[4]),
            (9, &[12]),
            (10, &[12]),
            (17, &[24]),
            (40, &[64]),
            (33, &[32, 1]),
            (130, &[128, 2]),
            (250, &[256]),
            (1_000, &[256, 256, 256, 256]),
        ] {
            assert_eq!(sizes(count), expected, "{count} rows");
        }
    }
}
