//! Chunks of rows for bulk statements, SQLite only. One statement is a transaction by itself, and
//! prepared statements exist only for a few numbers of rows. The callers define the rows.

/// Numbers of rows for which statements are prepared.
pub(crate) const SIZES: [usize; 11] = [256, 128, 64, 32, 24, 16, 12, 8, 4, 2, 1];
/// Number of padding rows that cost less than another statement, plus the transaction that two
/// statements need.
const FILLING_MAX: usize = 24;

/// Rows of one statement, as many as [`SIZES`] has at this index.
pub(crate) struct Chunk<I> {
    pub(crate) size_index: usize,
    pub(crate) rows: I,
}

/// Splits rows into chunks. A chunk that is not full repeats its last row, so statements must
/// ignore duplicates.
pub(crate) fn chunks<R>(rows: &[R]) -> impl Iterator<Item = Chunk<impl Iterator<Item = &R>>> {
    let mut rest = rows;
    std::iter::from_fn(move || {
        let last = rest.last()?;
        let size_index = size_index(rest.len());
        let (chunk, later) = rest.split_at(SIZES[size_index].min(rest.len()));
        rest = later;
        let filling = std::iter::repeat_n(last, SIZES[size_index] - chunk.len());
        Some(Chunk { size_index, rows: chunk.iter().chain(filling) })
    })
}

/// Returns the index of the smallest size that fits `count` rows. Returns the index of the largest
/// size that the rows fill if no size fits, or if padding costs more than a second statement.
fn size_index(count: usize) -> usize {
    let roomy = SIZES.iter().rposition(|size| *size >= count);
    let is_worth_it = |size: &usize| SIZES[*size] - count <= FILLING_MAX.min(count);
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
            assert_eq!(values.len(), SIZES[chunk.size_index]);
            sizes.push(values.len());
            written.extend(values);
        }
        written.dedup();
        assert_eq!(written, rows, "rows are in order, and only padding repeats");
        sizes
    }

    #[test]
    fn rows_are_padded_only_when_that_is_cheap() {
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
