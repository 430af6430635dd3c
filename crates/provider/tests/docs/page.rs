//! One page: what a schema says, in the form that the registry's own generator gives it.

use std::fmt::Write as _;

use terraform_plugin::Type;
use terraform_plugin::function::Signature;
use terraform_plugin::resource::Identity;
use terraform_plugin::schema::{Attribute, Block, Body, Nesting, Presence, Schema, Shape};

/// What a page is about.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Provider,
    Resource,
    DataSource,
    List,
    Function,
    Action,
}

/// A page under construction.
pub(crate) struct Page {
    head: String,
    example: String,
    body: String,
    tail: String,
}

impl Kind {
    const fn word(self) -> &'static str {
        match self {
            Self::Provider => "Provider",
            Self::Resource => "Resource",
            Self::DataSource => "Data Source",
            Self::List => "List Resource",
            Self::Function => "function",
            Self::Action => "Action",
        }
    }
}

impl Page {
    /// The page of a schema.
    pub(crate) fn of(kind: Kind, name: &str, schema: &Schema) -> Self {
        let mut body = "## Schema\n".to_owned();
        groups(&schema.body, 3, &mut body);
        let mut nested = Vec::new();
        collect(&schema.body, "", &mut nested);
        for (path, inner) in nested {
            let _ = write!(
                body,
                "\n<a id=\"{}\"></a>\n### Nested Schema for `{path}`\n",
                anchor(&path)
            );
            groups(inner, 4, &mut body);
        }
        Self::with(kind, name, &schema.description, body)
    }

    /// The page of a function.
    pub(crate) fn of_function(name: &str, signature: &Signature) -> Self {
        let parameters = signature.parameters.iter();
        let listed: Vec<_> =
            parameters.clone().map(|it| format!("{} {}", it.name, lower(&it.ty))).collect();
        let mut body = format!(
            "## Signature\n\n```text\n{name}({}) {}\n```\n\n## Arguments\n\n",
            listed.join(", "),
            lower(&signature.returns)
        );
        for (at, parameter) in parameters.enumerate() {
            let (name, ty) = (&parameter.name, word(&parameter.ty));
            let _ = writeln!(body, "{}. `{name}` ({ty}) {}", at + 1, parameter.description);
        }
        Self::with(Kind::Function, name, &signature.description, body)
    }

    fn with(kind: Kind, name: &str, description: &str, body: String) -> Self {
        let word = kind.word();
        let title = match kind {
            Kind::Provider => format!("{name} {word}"),
            Kind::Resource | Kind::DataSource | Kind::List | Kind::Function | Kind::Action => {
                format!("{name} {word} - service")
            }
        };
        let head = format!(
            "---\npage_title: \"{title}\"\nsubcategory: \"\"\ndescription: |-\n  {description}\n---\n\n\
             # {name} ({word})\n\n{description}\n"
        );
        Self { head, example: String::new(), body, tail: String::new() }
    }

    /// The page with an example.
    pub(crate) fn example(mut self, hcl: &str) -> Self {
        self.example = format!("## Example Usage\n\n```terraform\n{}\n```\n\n", hcl.trim_end());
        self
    }

    /// The page with the search for it. Terraform 1.14 reads these files; the tests go over the wire.
    pub(crate) fn search(mut self) -> Self {
        let name = self.head.split("page_title: \"").nth(1).and_then(|rest| rest.split(' ').next());
        let name = name.expect("a page has a title");
        self.example = format!(
            "`terraform query` of Terraform 1.14 finds what exists, and writes it as configuration \
             with import blocks.\n\n## Example Usage\n\n```terraform\n# all.tfquery.hcl\n\
             list \"{name}\" \"all\" {{\n  provider = service\n}}\n```\n\n```shell\n\
             terraform query -generate-config-out=found.tf\n```\n\n"
        );
        self
    }

    /// The page with its ways to import.
    pub(crate) fn imported(mut self, block: &str, command: &str, identity: &Identity) -> Self {
        let target = block.lines().find_map(|line| line.trim().strip_prefix("to = "));
        let to = target.expect("an import block says where to");
        let id = block.split('"').nth(1).expect("an import block has an id");
        let mut ids = id.rsplit('/');
        let mut named = String::new();
        for name in identity.attributes.keys() {
            let id = ids.next().expect("an identity has as many parts as the id");
            let _ = writeln!(named, "    {name:7} = \"{id}\"");
        }
        let named =
            if identity.attributes.len() == 1 { named.replace("id      ", "id") } else { named };
        self.tail = format!(
            "\n## Import\n\nBy an import block:\n\n```terraform\n{}\n```\n\nBy its identity, from \
             Terraform 1.12 on:\n\n```terraform\nimport {{\n  to = {to}\n  identity = {{\n{named}  }}\n}}\n\
             ```\n\nBy the command line:\n\n```shell\n{}\n```\n",
            block.trim_end(),
            command.trim_end()
        );
        self
    }

    /// All of it.
    pub(crate) fn text(self) -> String {
        format!("{}\n{}{}{}", self.head, self.example, self.body, self.tail)
    }
}

/// Attributes and blocks by who says them.
fn groups(body: &Body, depth: usize, text: &mut String) {
    for (title, presences) in [
        ("Required", &[Presence::Required][..]),
        ("Optional", &[Presence::Optional, Presence::OptionalComputed]),
        ("Read-Only", &[Presence::Computed]),
    ] {
        let attributes = body.attributes.iter();
        let attributes = attributes.filter(|(_, it)| presences.contains(&it.presence));
        let mut lines: Vec<_> = attributes.map(|(name, it)| line(name, it)).collect();
        if title == "Optional" {
            lines.extend(body.blocks.iter().map(|(name, it)| block_line(name, it)));
        }
        if !lines.is_empty() {
            let _ = write!(text, "\n{} {title}\n\n{}\n", "#".repeat(depth), lines.join("\n"));
        }
    }
}

fn line(name: &str, attribute: &Attribute) -> String {
    let mut ty = match &attribute.shape {
        Shape::Plain(ty) => word(ty),
        Shape::Nested(..) => "List of Object".to_owned(),
    };
    if attribute.sensitive {
        ty.push_str(", Sensitive");
    }
    if attribute.write_only {
        ty.push_str(", [Write-only](https://developer.hashicorp.com/terraform/language/resources/ephemeral#write-only-arguments)");
    }
    let nested = match &attribute.shape {
        Shape::Plain(_) => String::new(),
        Shape::Nested(..) => format!(" (see [below](#{}))", anchor(name)),
    };
    format!("- `{name}` ({ty}) {}{nested}", attribute.description)
}

fn block_line(name: &str, block: &Block) -> String {
    let ty = match (block.nesting, block.max_items) {
        (Nesting::Single, _) => "Block".to_owned(),
        (_, 0) => "Block List".to_owned(),
        (_, max) => format!("Block List, Max: {max}"),
    };
    format!("- `{name}` ({ty}) {} (see [below](#{}))", block.description, anchor(name))
}

/// Everything nested, with its path.
fn collect<'a>(body: &'a Body, above: &str, found: &mut Vec<(String, &'a Body)>) {
    let path =
        |name: &str| if above.is_empty() { name.to_owned() } else { format!("{above}.{name}") };
    for (name, attribute) in &body.attributes {
        if let Shape::Nested(_, inner) = &attribute.shape {
            found.push((path(name), inner));
            collect(inner, &path(name), found);
        }
    }
    for (name, block) in &body.blocks {
        found.push((path(name), &block.body));
        collect(&block.body, &path(name), found);
    }
}

fn anchor(path: &str) -> String {
    // Blocks within blocks are linked from the block around them by their last name alone.
    format!("nested--{}", path.rsplit('.').next().unwrap_or(path))
}

fn word(ty: &Type) -> String {
    match ty {
        Type::Bool => "Boolean".to_owned(),
        Type::Number => "Number".to_owned(),
        Type::String => "String".to_owned(),
        Type::List(element) => format!("List of {}", word(element)),
        Type::Set(element) => format!("Set of {}", word(element)),
        Type::Dynamic | Type::Map(_) | Type::Object(_) | Type::Tuple(_) => ty.to_string(),
    }
}

fn lower(ty: &Type) -> String {
    word(ty).to_lowercase()
}
