//! The distribution of latencies as counts in fixed buckets, each 2 % wider than the one before: a
//! quantile is at most [`RELATIVE_ERROR`] away from the true one. Sketches of the same latencies are
//! the same however they were merged, since the buckets never change.

use std::sync::LazyLock;

use super::{Unreadable, varint};

/// The shortest latency that is told from others, in microseconds.
pub const LATENCY_MIN_US: u32 = 10;
/// The longest one: the longest an attempt may take (spec §8.1).
pub const LATENCY_MAX_US: u32 = 120_000_000;
/// How far an estimate is from the truth at most, as a share of it.
pub const RELATIVE_ERROR: f64 = (GROWTH - 1.0) / (GROWTH + 1.0);

const GROWTH: f64 = 1.02;

/// Upper bounds of the buckets in microseconds, by multiplication only, which is the same on every
/// machine. They are in databases: they never change.
static BOUNDS: LazyLock<Vec<f64>> = LazyLock::new(|| {
    let mut bounds = vec![f64::from(LATENCY_MIN_US)];
    let mut bound = f64::from(LATENCY_MIN_US);
    while bound < f64::from(LATENCY_MAX_US) {
        bound *= GROWTH;
        bounds.push(bound);
    }
    bounds
});

/// Counts of latencies by bucket; small where there are few or they are alike.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sketch {
    /// Bucket and count, in the order of buckets; none is empty.
    buckets: Vec<(u16, u32)>,
}

impl Sketch {
    /// Counts one latency. Those out of range count as the nearest in it.
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

    /// Counts all that `other` counted.
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

    /// How many latencies were counted.
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|(_, count)| u64::from(*count)).sum()
    }

    /// The latency in microseconds that `percent` of those counted do not exceed; `None` where
    /// nothing was counted.
    pub fn percentile(&self, percent: u8) -> Option<u32> {
        let rank = (self.count() * u64::from(percent.min(100))).div_ceil(100).max(1);
        let mut reached = 0;
        self.buckets.iter().find_map(|(bucket, count)| {
            reached += u64::from(*count);
            (reached >= rank).then(|| estimate(*bucket))
        })
    }

    /// Appends the sketch: how many buckets, then of each the steps from the one before and its
    /// count.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        varint::push(bytes, self.buckets.len() as u64);
        let mut before = 0;
        for (bucket, count) in &self.buckets {
            varint::push(bytes, u64::from(bucket - before));
            varint::push(bytes, u64::from(*count));
            before = *bucket;
        }
    }

    /// Takes a sketch off the beginning.
    pub fn decode(bytes: &mut &[u8]) -> Result<Self, Unreadable> {
        let length: usize = varint::pull_narrow(bytes)?;
        if length > BOUNDS.len() {
            return Err(Unreadable("a sketch has more buckets than there are"));
        }
        let mut buckets: Vec<(u16, u32)> = Vec::with_capacity(length);
        for _ in 0..length {
            let step: u16 = varint::pull_narrow(bytes)?;
            let count = varint::pull_narrow(bytes)?;
            let before = buckets.last().map(|(bucket, _)| *bucket);
            let bucket = before.unwrap_or(0).saturating_add(step);
            let follows = before.is_none() || step > 0;
            if !follows || count == 0 || usize::from(bucket) >= BOUNDS.len() {
                return Err(Unreadable("a sketch has buckets in no order"));
            }
            buckets.push((bucket, count));
        }
        Ok(Self { buckets })
    }
}

/// The value that is nearest to all of its bucket, as a share of each.
fn estimate(bucket: u16) -> u32 {
    let upper = BOUNDS[usize::from(bucket)];
    let middle = if bucket == 0 { upper } else { 2.0 * upper / (GROWTH + 1.0) };
    (middle.round() as u32).min(LATENCY_MAX_US)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(latencies: &[u32]) -> Sketch {
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
        let one = prop_oneof![10_u32..2_000, 2_000_u32..2_000_000, 2_000_000_u32..120_000_000];
        proptest::collection::vec(one, 0..200)
    }

    proptest! {
        #[test]
        fn merging_is_counting_all_of_them(a in latencies(), b in latencies(), c in latencies()) {
            let (of_a, of_b, of_c) = (of(&a), of(&b), of(&c));
            prop_assert_eq!(merged(&of_a, &of_b), merged(&of_b, &of_a));
            let left = merged(&merged(&of_a, &of_b), &of_c);
            prop_assert_eq!(&left, &merged(&of_a, &merged(&of_b, &of_c)));
            prop_assert_eq!(left, of(&[a, b, c].concat()));
        }

        #[test]
        fn a_percentile_is_within_one_percent_of_the_truth(mut all in latencies(), percent in 0_u8..=100) {
            let estimate = of(&all).percentile(percent);
            all.sort_unstable();
            let rank = (all.len() * usize::from(percent)).div_ceil(100).max(1);
            let truth = all.get(rank - 1);
            prop_assert_eq!(estimate.is_some(), truth.is_some());
            if let (Some(estimate), Some(truth)) = (estimate, truth) {
                let away = f64::from(estimate.abs_diff(*truth));
                // Whole microseconds: half of one is lost by rounding.
                prop_assert!(away <= f64::from(*truth) * RELATIVE_ERROR + 0.51, "{estimate} for {truth}");
            }
        }

        #[test]
        fn a_sketch_reads_back(all in latencies()) {
            let sketch = of(&all);
            let mut bytes = Vec::new();
            sketch.encode(&mut bytes);
            prop_assert!(bytes.len() <= 3 + 4 * all.len());
            let mut rest = &bytes[..];
            prop_assert_eq!(Sketch::decode(&mut rest), Ok(sketch));
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn no_bytes_make_reading_panic(bytes: Vec<u8>) {
            let _ = Sketch::decode(&mut &bytes[..]);
        }
    }

    #[test]
    fn the_buckets_in_databases_never_change() {
        let places = [10, 11, 1_000, 170_000, 1_000_000, 45_000_000, 120_000_000]
            .map(|latency| of(&[latency]).buckets[0].0);
        assert_eq!(places, [0, 5, 233, 492, 582, 774, 824]);
        assert_eq!(BOUNDS.len(), 825);
    }

    #[test]
    fn what_is_out_of_range_counts_as_the_nearest_in_it() {
        assert_eq!(of(&[0]), of(&[10]));
        assert_eq!(of(&[u32::MAX]), of(&[120_000_000]));
        assert_eq!(Sketch::default().percentile(50), None);
    }
}
