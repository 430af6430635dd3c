//! The distribution of latencies as counts in fixed buckets, each 2 % wider than the previous one:
//! a quantile has an error of at most [`RELATIVE_ERROR`]. The buckets never change, so merging in
//! any order gives the same sketch.

use std::sync::LazyLock;

use super::{Unreadable, varint};

/// Lowest distinct latency, in microseconds.
pub const LATENCY_MIN_US: u32 = 10;
/// Highest latency, in microseconds: the longest run of a job that a result can hold, about 35 minutes. Attempts
/// of checks last 120 seconds at most (spec §8.1).
pub const LATENCY_MAX_US: u32 = i32::MAX.unsigned_abs();
/// Maximum error of an estimate, relative to the true value.
pub const RELATIVE_ERROR: f64 = (GROWTH - 1.0) / (GROWTH + 1.0);

const GROWTH: f64 = 1.02;

/// Upper bounds of the buckets in microseconds. Computed by multiplication only, which is the same
/// on every machine. They are stored in databases, so they must never change.
static BOUNDS: LazyLock<Vec<f64>> = LazyLock::new(|| {
    let mut bounds = vec![f64::from(LATENCY_MIN_US)];
    let mut bound = f64::from(LATENCY_MIN_US);
    while bound < f64::from(LATENCY_MAX_US) {
        bound *= GROWTH;
        bounds.push(bound);
    }
    bounds
});

/// Counts of latencies by bucket; small if there are few or similar latencies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sketch {
    /// Bucket and count, ordered by bucket; counts are not zero.
    buckets: Vec<(u16, u32)>,
}

impl Sketch {
    /// A sketch without latencies.
    pub const EMPTY: Self = Self { buckets: Vec::new() };

    /// Adds one latency, clamped to the range.
    pub fn add(&mut self, latency_us: u32) {
        let latency = f64::from(latency_us.clamp(LATENCY_MIN_US, LATENCY_MAX_US));
        let bucket = BOUNDS.partition_point(|bound| *bound < latency) as u16;
        match self.buckets.binary_search_by_key(&bucket, |(bucket, _)| *bucket) {
            Ok(place) => {
                let count = &mut self.buckets[place].1;
                *count = count.saturating_add(1);
            }
            Err(place) => self.buckets.insert(place, (bucket, 1)),
        }
    }

    /// Adds all latencies of `other`.
    pub fn merge(&mut self, other: &Self) {
        let ours = std::mem::take(&mut self.buckets);
        let mut merged = Vec::with_capacity(ours.len() + other.buckets.len());
        let (mut ours, mut theirs) = (ours.into_iter().peekable(), other.buckets.iter().peekable());
        while let (Some((our, our_count)), Some((their, their_count))) =
            (ours.peek(), theirs.peek())
        {
            match our.cmp(their) {
                std::cmp::Ordering::Less => merged.extend(ours.next()),
                std::cmp::Ordering::Greater => merged.extend(theirs.next().copied()),
                std::cmp::Ordering::Equal => {
                    merged.push((*our, our_count.saturating_add(*their_count)));
                    ours.next();
                    theirs.next();
                }
            }
        }
        merged.extend(ours);
        merged.extend(theirs.copied());
        self.buckets = merged;
    }

    /// Returns the number of latencies.
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|(_, count)| u64::from(*count)).sum()
    }

    /// Returns the memory use in bytes.
    pub fn byte_size(&self) -> usize {
        size_of::<Self>() + size_of_val(&self.buckets[..])
    }

    /// Returns the latency in microseconds that `percent` of the counted ones do not exceed, or
    /// `None` for an empty sketch.
    pub fn percentile(&self, percent: u8) -> Option<u32> {
        let rank = (self.count() * u64::from(percent.min(100))).div_ceil(100).max(1);
        let mut reached = 0;
        self.buckets.iter().find_map(|(bucket, count)| {
            reached += u64::from(*count);
            (reached >= rank).then(|| estimate(*bucket))
        })
    }

    /// Appends the sketch: the number of buckets, then for each its distance from the previous one
    /// and its count.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        varint::push(bytes, self.buckets.len() as u64);
        let mut before = 0;
        for (bucket, count) in &self.buckets {
            varint::push(bytes, u64::from(bucket - before));
            varint::push(bytes, u64::from(*count));
            before = *bucket;
        }
    }

    /// Decodes a sketch and advances `bytes` past it.
    pub fn decode(bytes: &mut &[u8]) -> Result<Self, Unreadable> {
        let length: usize = varint::pull_narrow(bytes)?;
        if length > BOUNDS.len() {
            return Err(Unreadable("a sketch has too many buckets"));
        }
        let mut buckets: Vec<(u16, u32)> = Vec::with_capacity(length);
        for _ in 0..length {
            let step: u16 = varint::pull_narrow(bytes)?;
            let count = varint::pull_narrow(bytes)?;
            let before = buckets.last().map(|(bucket, _)| *bucket);
            let bucket = before.unwrap_or(0).saturating_add(step);
            let follows = before.is_none() || step > 0;
            if !follows || count == 0 || usize::from(bucket) >= BOUNDS.len() {
                return Err(Unreadable("the buckets of a sketch are invalid"));
            }
            buckets.push((bucket, count));
        }
        Ok(Self { buckets })
    }
}

/// Returns the value that minimises the relative error within its bucket.
fn estimate(bucket: u16) -> u32 {
    let upper = BOUNDS[usize::from(bucket)];
    let middle = if bucket == 0 { upper } else { 2.0 * upper / (GROWTH + 1.0) };
    (middle.round() as u32).min(LATENCY_MAX_US)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sketch_of(latencies: &[u32]) -> Sketch {
        let mut sketch = Sketch::default();
        for latency in latencies {
            sketch.add(*latency);
        }
        sketch
    }

    fn merged(a: &Sketch, b: &Sketch) -> Sketch {
        let mut sum = a.clone();
        sum.merge(b);
        sum
    }

    fn latencies() -> impl Strategy<Value = Vec<u32>> {
        let one = prop_oneof![10_u32..2_000, 2_000_u32..2_000_000, 2_000_000_u32..LATENCY_MAX_US];
        proptest::collection::vec(one, 0..200)
    }

    proptest! {
        #[test]
        fn merged_sketches_equal_one_sketch(a in latencies(), b in latencies(), c in latencies()) {
            let (of_a, of_b, of_c) = (sketch_of(&a), sketch_of(&b), sketch_of(&c));
            prop_assert_eq!(merged(&of_a, &of_b), merged(&of_b, &of_a));
            let left = merged(&merged(&of_a, &of_b), &of_c);
            prop_assert_eq!(&left, &merged(&of_a, &merged(&of_b, &of_c)));
            prop_assert_eq!(left, sketch_of(&[a, b, c].concat()));
        }

        #[test]
        fn percentile_is_within_one_percent(mut all in latencies(), percent in 0_u8..=100) {
            let estimate = sketch_of(&all).percentile(percent);
            all.sort_unstable();
            let rank = (all.len() * usize::from(percent)).div_ceil(100).max(1);
            let truth = all.get(rank - 1);
            prop_assert_eq!(estimate.is_some(), truth.is_some());
            if let (Some(estimate), Some(truth)) = (estimate, truth) {
                let away = f64::from(estimate.abs_diff(*truth));
                // Rounding to whole microseconds loses up to half of one.
                prop_assert!(away <= f64::from(*truth) * RELATIVE_ERROR + 0.51, "{estimate} for {truth}");
            }
        }

        #[test]
        fn sketch_round_trips(all in latencies()) {
            let sketch = sketch_of(&all);
            let mut bytes = Vec::new();
            sketch.encode(&mut bytes);
            prop_assert!(bytes.len() <= 3 + 4 * all.len());
            let mut rest = &bytes[..];
            prop_assert_eq!(Sketch::decode(&mut rest), Ok(sketch));
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn decoding_any_bytes_never_panics(bytes: Vec<u8>) {
            let _ = Sketch::decode(&mut &bytes[..]);
        }
    }

    #[test]
    fn stored_buckets_never_change() {
        let places = [10, 11, 1_000, 170_000, 1_000_000, 45_000_000, 120_000_000, 1_800_000_000]
            .map(|latency| sketch_of(&[latency]).buckets[0].0);
        assert_eq!(places, [0, 5, 233, 492, 582, 774, 824, 960]);
        assert_eq!(BOUNDS.len(), 970);
    }

    #[test]
    fn latency_out_of_range_is_clamped() {
        assert_eq!(sketch_of(&[0]), sketch_of(&[10]));
        assert_eq!(sketch_of(&[u32::MAX]), sketch_of(&[LATENCY_MAX_US]));
        assert_eq!(Sketch::default().percentile(50), None);
    }
}
