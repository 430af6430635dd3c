//! The order of components and groups on a page: moves by one place, layouts from a browser, and the
//! places to store.

use std::collections::HashSet;

/// Components and groups in the order of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Arrangement {
    entries: Vec<ArrangedEntry>,
}

/// An entry of a page, by its ID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ArrangedEntry {
    Component(String),
    Group { id: String, members: Vec<String> },
}

/// Place of a component as the contract stores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ComponentPlace {
    pub(super) id: String,
    pub(super) order: i32,
    pub(super) group: Option<String>,
    pub(super) group_order: Option<i32>,
}

/// Direction of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Up,
    Down,
}

impl Arrangement {
    /// Creates the arrangement of components in the order of the page, each with its group.
    pub(super) fn new(components: impl IntoIterator<Item = (String, Option<String>)>) -> Self {
        let mut entries: Vec<ArrangedEntry> = Vec::new();
        for (component, group) in components {
            let Some(group) = group else {
                entries.push(ArrangedEntry::Component(component));
                continue;
            };
            let known = entries.iter_mut().find_map(|entry| match entry {
                ArrangedEntry::Group { id, members } if *id == group => Some(members),
                ArrangedEntry::Group { .. } | ArrangedEntry::Component(_) => None,
            });
            match known {
                Some(members) => members.push(component),
                None => entries.push(ArrangedEntry::Group { id: group, members: vec![component] }),
            }
        }
        Self { entries }
    }

    /// Returns the arrangement that a browser sent: components, and groups before their components, as
    /// `component`, `group` and `group/component`. Returns `None` unless it has the same components and
    /// known groups.
    pub(super) fn from_layout(
        layout: &[String],
        components: &HashSet<String>,
        groups: &HashSet<String>,
    ) -> Option<Self> {
        let mut placed = Vec::new();
        for text in layout {
            match text.split_once('/') {
                Some((group, component)) if groups.contains(group) => {
                    placed.push((component.to_owned(), Some(group.to_owned())));
                }
                Some(_) => return None,
                None if groups.contains(text) => {}
                None => placed.push((text.clone(), None)),
            }
        }
        let given: HashSet<String> = placed.iter().map(|(id, _)| id.clone()).collect();
        (given.len() == placed.len() && given == *components).then(|| Self::new(placed))
    }

    /// Returns the arrangement with a component or group moved by one place. A component stays in its
    /// group. Returns `None` if nothing is there or the entry is unknown.
    pub(super) fn moved(&self, id: &str, direction: Direction) -> Option<Self> {
        let mut moved = self.clone();
        let is_entry = |entry: &ArrangedEntry| match entry {
            ArrangedEntry::Component(component) => component == id,
            ArrangedEntry::Group { id: group, .. } => group == id,
        };
        if let Some(index) = moved.entries.iter().position(is_entry) {
            let other = direction.from(index, moved.entries.len())?;
            moved.entries.swap(index, other);
            return Some(moved);
        }
        for entry in &mut moved.entries {
            let ArrangedEntry::Group { members, .. } = entry else { continue };
            if let Some(index) = members.iter().position(|member| member == id) {
                let other = direction.from(index, members.len())?;
                members.swap(index, other);
                return Some(moved);
            }
        }
        None
    }

    /// Returns the places of all components: they are numbered over the page, and within each group.
    pub(super) fn places(&self) -> Vec<ComponentPlace> {
        let mut places = Vec::new();
        for entry in &self.entries {
            match entry {
                ArrangedEntry::Component(id) => places.push((id, None, None)),
                ArrangedEntry::Group { id: group, members } => {
                    let members = (0..).zip(members);
                    places.extend(members.map(|(index, id)| (id, Some(group), Some(index))));
                }
            }
        }
        let places = (0..).zip(places);
        places
            .map(|(order, (id, group, group_order))| ComponentPlace {
                id: id.clone(),
                order,
                group: group.cloned(),
                group_order,
            })
            .collect()
    }

    /// Returns the entries in their order.
    pub(super) fn entries(&self) -> &[ArrangedEntry] {
        &self.entries
    }
}

impl Direction {
    /// Returns the index beside this one.
    fn from(self, index: usize, count: usize) -> Option<usize> {
        match self {
            Self::Up => index.checked_sub(1),
            Self::Down => Some(index + 1).filter(|next| *next < count),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arranged(all: &[&str]) -> Arrangement {
        Arrangement::new(all.iter().map(|text| match text.split_once('/') {
            Some((group, id)) => (id.to_owned(), Some(group.to_owned())),
            None => ((*text).to_owned(), None),
        }))
    }

    fn shown(arrangement: &Arrangement) -> String {
        let place = |it: ComponentPlace| match it.group {
            Some(group) => format!("{group}/{}:{}", it.id, it.group_order.unwrap()),
            None => it.id,
        };
        arrangement.places().into_iter().map(place).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn entries_move_by_one_place() {
        let page = arranged(&["a", "g/b", "g/c", "d"]);
        let after = |id, direction| page.moved(id, direction).as_ref().map(shown);
        assert_eq!(after("d", Direction::Up).as_deref(), Some("a d g/b:0 g/c:1"));
        assert_eq!(after("g", Direction::Up).as_deref(), Some("g/b:0 g/c:1 a d"));
        assert_eq!(after("b", Direction::Down).as_deref(), Some("a g/c:0 g/b:1 d"));
        for (id, direction) in [
            ("a", Direction::Up),
            ("d", Direction::Down),
            ("c", Direction::Down),
            ("x", Direction::Up),
        ] {
            assert_eq!(after(id, direction), None, "{id}");
        }
    }

    #[test]
    fn layout_with_the_same_components_is_accepted() {
        let ids = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect::<HashSet<_>>();
        let (components, groups) = (ids(&["a", "b", "c"]), ids(&["g"]));
        let parse = |all: &[&str]| {
            let all: Vec<String> = all.iter().map(|it| (*it).to_owned()).collect();
            Arrangement::from_layout(&all, &components, &groups)
        };
        let moved = parse(&["c", "g", "g/b", "g/a"]).unwrap();
        assert_eq!(shown(&moved), "c g/b:0 g/a:1");
        let orders: Vec<i32> = moved.places().iter().map(|it| it.order).collect();
        assert_eq!(orders, [0, 1, 2]);
        for wrong in
            [&["a", "b"][..], &["a", "b", "c", "x"], &["a", "b", "c", "c"], &["a", "b", "h/c"]]
        {
            assert_eq!(parse(wrong), None, "{wrong:?}");
        }
    }
}
