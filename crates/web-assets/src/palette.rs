//! The colours of `palette.css` as rules for a surface.

const PALETTE: &str = include_str!("../palette.css");

/// The place where a style sheet applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// A page of its own. It is dark on screens if the visitor prefers that and the page has no theme of
    /// its own, or if that theme is dark. Paper is light.
    Page,
    /// The link on other sites, in a shadow root or a frame. It gets only the colours that it uses, and
    /// is dark if the visitor prefers that.
    Widget,
}

impl Surface {
    /// Returns the rules that define the colours for this style sheet.
    pub(crate) fn palette(self, style: &str) -> String {
        let (light, dark) = (declarations(":light"), declarations(":dark"));
        match self {
            Self::Page => format!(
                ":root {{ color-scheme: light; {light} }}
                @media screen and (prefers-color-scheme: dark) {{
                    :root:not([data-theme=light]) {{ color-scheme: dark; {dark} }}
                }}
                @media screen {{
                    :root[data-theme=dark] {{ color-scheme: dark; {dark} }}
                }}"
            ),
            Self::Widget => {
                let (light, dark) = (used(&light, style), used(&dark, style));
                format!(
                    "a {{ {light} }}
                    @media (prefers-color-scheme: dark) {{ a {{ {dark} }} }}"
                )
            }
        }
    }
}

/// Returns the declarations of a theme.
fn declarations(theme: &str) -> String {
    let rest = PALETTE.split_once(&format!("{theme} {{")).expect("the palette has this theme").1;
    rest.split_once('}').expect("the theme ends").0.to_owned()
}

/// Returns the declarations of the colours that the style sheet uses.
fn used(declarations: &str, style: &str) -> String {
    let is_used = |declaration: &&str| {
        let name = declaration.split(':').next().unwrap_or_default().trim();
        style.contains(&format!("var({name})"))
    };
    declarations.split_inclusive(';').filter(is_used).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(theme: &str) -> Vec<String> {
        let text = declarations(theme);
        let names = text.split(';').filter_map(|it| it.split_once(':'));
        names.map(|(name, _)| name.trim().to_owned()).collect()
    }

    #[test]
    fn themes_define_the_same_colours() {
        assert_eq!(names(":light"), names(":dark"));
        assert_eq!(names(":light").len(), 33);
    }

    #[test]
    fn widget_gets_only_the_colours_it_uses() {
        let palette = Surface::Widget.palette("a { color: var(--ink) }");
        let colours: Vec<&str> = palette.split("--").skip(1).collect();
        assert_eq!(colours.len(), 2, "{palette}");
        assert!(colours.iter().all(|it| it.starts_with("ink:")), "{palette}");
    }
}
