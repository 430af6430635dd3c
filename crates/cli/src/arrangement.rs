//! The order of components and groups on a status page: moves, and the numbers to store. The dashboard
//! stores the same numbers. Leaves the calls to `moves`.

use anyhow::{Result, anyhow, bail};

/// A component in the order of its page. The components of a group follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlacedComponent {
    pub(crate) id: String,
    pub(crate) group: Option<String>,
}

/// Position of a component as the contract stores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ComponentPosition {
    pub(crate) id: String,
    pub(crate) order: i32,
    pub(crate) group: Option<String>,
    pub(crate) group_order: Option<i32>,
}

/// Destination of a move. The others are components or groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    First,
    Last,
    Before(String),
    After(String),
}

/// Moves a component. With First and Last, `group` is the group that it joins. Beside another component,
/// it joins the group of that one; beside a group, it has none.
pub(crate) fn move_component(
    page: &[PlacedComponent],
    id: &str,
    group: Option<&str>,
    to: &Destination,
) -> Result<Vec<PlacedComponent>> {
    let mut rest = page.to_vec();
    let at = rest.iter().position(|it| it.id == id);
    let mut moved = rest.remove(at.ok_or_else(|| anyhow!("component {id} not found on the page"))?);
    let (index, group) = match to {
        Destination::First | Destination::Last => {
            let group = group.map(str::to_owned);
            let is_last = *to == Destination::Last;
            let end = if is_last { rest.len() } else { 0 };
            (group.as_deref().and_then(|it| edge(&rest, it, is_last)).unwrap_or(end), group)
        }
        Destination::Before(other) | Destination::After(other) if other == id => {
            bail!("a component cannot be moved beside itself")
        }
        Destination::Before(other) => beside(&rest, other, false)?,
        Destination::After(other) => beside(&rest, other, true)?,
    };
    moved.group = group;
    rest.insert(index, moved);
    Ok(rest)
}

/// Moves a group with its components, before or after other groups and components.
pub(crate) fn move_group(
    page: &[PlacedComponent],
    id: &str,
    to: &Destination,
) -> Result<Vec<PlacedComponent>> {
    let (moved, mut rest): (Vec<_>, Vec<_>) =
        page.iter().cloned().partition(|it| it.group.as_deref() == Some(id));
    if moved.is_empty() {
        bail!("group {id} has no components, and a page shows groups where their components are");
    }
    let index = match to {
        Destination::First => 0,
        Destination::Last => rest.len(),
        Destination::Before(other) | Destination::After(other) => {
            let is_after = matches!(to, Destination::After(_));
            // A component of a group stands for its group.
            let found = rest.iter().find(|it| it.id == *other);
            let other = found.and_then(|it| it.group.clone()).unwrap_or_else(|| other.clone());
            beside(&rest, &other, is_after)
                .map_err(|_| anyhow!("{other} is a part of the group, or not found on the page"))?
                .0
        }
    };
    rest.splice(index..index, moved);
    Ok(rest)
}

/// Returns the positions of all components: numbered over the page, and within each group.
pub(crate) fn positions(page: &[PlacedComponent]) -> Vec<ComponentPosition> {
    let mut positions: Vec<ComponentPosition> = Vec::new();
    for (order, it) in (0..).zip(page) {
        let earlier = positions.iter().filter(|other| other.group == it.group).count();
        positions.push(ComponentPosition {
            id: it.id.clone(),
            order,
            group: it.group.clone(),
            group_order: it.group.as_ref().map(|_| earlier as i32),
        });
    }
    positions
}

/// Returns the index beside a component or a group, and the group of that place.
fn beside(
    page: &[PlacedComponent],
    other: &str,
    is_after: bool,
) -> Result<(usize, Option<String>)> {
    if let Some(at) = page.iter().position(|it| it.id == other) {
        return Ok((at + usize::from(is_after), page[at].group.clone()));
    }
    let at = edge(page, other, is_after);
    Ok((
        at.ok_or_else(|| anyhow!("{other} has no place on the page, such as an empty group"))?,
        None,
    ))
}

/// Returns the index of the beginning or the end of a group.
fn edge(page: &[PlacedComponent], group: &str, is_end: bool) -> Option<usize> {
    let is_inside = |it: &PlacedComponent| it.group.as_deref() == Some(group);
    if is_end {
        page.iter().rposition(is_inside).map(|at| at + 1)
    } else {
        page.iter().position(is_inside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> Vec<PlacedComponent> {
        let placed = |word: &str| match word.split_once('/') {
            Some((group, id)) => {
                PlacedComponent { id: id.to_owned(), group: Some(group.to_owned()) }
            }
            None => PlacedComponent { id: word.to_owned(), group: None },
        };
        text.split(' ').map(placed).collect()
    }

    fn text(page: &[PlacedComponent]) -> String {
        let word = |it: &PlacedComponent| match &it.group {
            Some(group) => format!("{group}/{}", it.id),
            None => it.id.clone(),
        };
        page.iter().map(word).collect::<Vec<_>>().join(" ")
    }

    fn before(id: &str) -> Destination {
        Destination::Before(id.to_owned())
    }

    fn after(id: &str) -> Destination {
        Destination::After(id.to_owned())
    }

    #[test]
    fn component_moves_to_each_destination() {
        let page = page("a g/b g/c d");
        for (id, group, to, expected) in [
            ("d", None, Destination::First, "d a g/b g/c"),
            ("a", None, Destination::Last, "g/b g/c d a"),
            ("a", Some("g"), Destination::First, "g/a g/b g/c d"),
            ("a", Some("g"), Destination::Last, "g/b g/c g/a d"),
            ("a", Some("new"), Destination::Last, "g/b g/c d new/a"),
            ("c", None, Destination::First, "c a g/b d"),
            ("a", None, after("b"), "g/b g/a g/c d"),
            ("c", None, before("d"), "a g/b c d"),
            ("d", None, before("g"), "a d g/b g/c"),
            ("a", None, after("g"), "g/b g/c a d"),
        ] {
            let moved = move_component(&page, id, group, &to).unwrap();
            assert_eq!(text(&moved), expected, "{id} {group:?} {to:?}");
        }
        for to in [before("a"), after("x")] {
            assert!(move_component(&page, "a", None, &to).is_err(), "{to:?}");
        }
        assert!(move_component(&page, "x", None, &Destination::First).is_err());
    }

    #[test]
    fn group_moves_with_its_components() {
        let page = page("a g/b g/c d h/e");
        for (to, expected) in [
            (Destination::First, "g/b g/c a d h/e"),
            (Destination::Last, "a d h/e g/b g/c"),
            (after("d"), "a d g/b g/c h/e"),
            (before("e"), "a d g/b g/c h/e"),
            (after("h"), "a d h/e g/b g/c"),
        ] {
            assert_eq!(text(&move_group(&page, "g", &to).unwrap()), expected, "{to:?}");
        }
        assert!(move_group(&page, "empty", &Destination::First).is_err());
        assert!(move_group(&page, "g", &before("b")).is_err());
    }

    #[test]
    fn positions_are_numbered_within_groups() {
        let all = positions(&page("a g/b g/c d"));
        let orders: Vec<_> = all.iter().map(|it| (it.order, it.group_order)).collect();
        assert_eq!(orders, [(0, None), (1, Some(0)), (2, Some(1)), (3, None)]);
    }
}
