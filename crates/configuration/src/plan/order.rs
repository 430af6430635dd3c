//! Orders the changes of resources that take over values of each other, such as the slug of a page: the
//! resource that gives a value away goes first.

use std::collections::{HashMap, HashSet};

use crate::kind::Address;
use crate::plan::Step;

/// The values of a resource that only one can have, before and after its step.
#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    pub(super) old: Vec<String>,
    pub(super) new: Vec<String>,
}

/// Returns the steps in order. Fails with the resources that exchange values in a circle.
pub(super) fn order(
    steps: Vec<Step>,
    values: &HashMap<Address, Values>,
) -> Result<Vec<Step>, Vec<Address>> {
    let mut holders: HashMap<&str, usize> = HashMap::new();
    for (index, step) in steps.iter().enumerate() {
        let old = values.get(&step.address).map(|values| &values.old);
        holders.extend(old.into_iter().flatten().map(|value| (value.as_str(), index)));
    }
    // Steps before each step.
    let before: Vec<Vec<usize>> = steps
        .iter()
        .enumerate()
        .map(|(index, step)| {
            let new = values.get(&step.address).map(|values| &values.new);
            let holders = new.into_iter().flatten().filter_map(|it| holders.get(it.as_str()));
            holders.copied().filter(|holder| *holder != index).collect()
        })
        .collect();
    let mut sorted = Vec::with_capacity(steps.len());
    let mut done = HashSet::new();
    for first in 0..steps.len() {
        // The steps that wait for the last one.
        let mut waiting = vec![first];
        while let Some(&index) = waiting.last() {
            let next = before[index].iter().find(|it| !done.contains(*it));
            match next {
                Some(circle) if waiting.contains(circle) => {
                    let circle = waiting.iter().skip_while(|it| *it != circle);
                    return Err(circle.map(|it| steps[*it].address.clone()).collect());
                }
                Some(next) => waiting.push(*next),
                None => {
                    waiting.pop();
                    if done.insert(index) {
                        sorted.push(index);
                    }
                }
            }
        }
    }
    let mut steps: Vec<Option<Step>> = steps.into_iter().map(Some).collect();
    Ok(sorted.into_iter().filter_map(|index| steps[index].take()).collect())
}
