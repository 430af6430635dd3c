//! Generates the page of a service: its methods with fields, errors and examples, and the objects
//! of their requests and responses.

mod errors;
mod fields;

pub(super) use fields::{CONDITIONAL, given};

use std::collections::BTreeSet;

use anyhow::Result;
use rules::person_role;

use super::Book;
use super::comment::{capitalised, paragraphs, parse_method, referenced_method};
use super::contract::{Field, FieldKind, Level, Message, Method, Service};
use super::example::{self, Terraform};
use super::go;
use super::prose::{anchor, table};
use super::python;

/// Beginning of a paragraph of the service's comment that the page repeats for each method.
const REPEATED_PARAGRAPH: &str = "Read-only keys";
/// First lines of every page's TypeScript examples.
const SET_UP: &str = "\
import { createServiceClient } from \"@aloft/client\";

const client = createServiceClient();
";

/// A service with the sources of its page.
pub(super) struct ServicePage<'a> {
    book: &'a Book,
    service: &'a Service,
    /// Full names of objects that requests may contain.
    inputs: BTreeSet<&'a str>,
}

impl<'a> ServicePage<'a> {
    pub(super) fn new(book: &'a Book, service: &'a Service) -> Self {
        let mut inputs = BTreeSet::new();
        for method in book.contract.methods() {
            reach(book, &method.request, &mut inputs);
        }
        Self { book, service, inputs }
    }

    /// Returns the page that contains a method.
    pub(super) fn for_method(book: &'a Book, method: &Method) -> Self {
        let mut services = book.contract.services.iter();
        let own = services.find(|service| service.package == method.package());
        Self::new(book, own.expect("every method belongs to a service"))
    }

    /// Returns the service's package.
    pub(super) fn package(&self) -> &str {
        &self.service.package
    }

    /// Returns the subject of the service in a word.
    pub(super) fn title(&self) -> &str {
        self.service.about.split(':').next().unwrap_or_default()
    }

    /// Returns the subject of the service in a sentence.
    pub(super) fn sentence(&self) -> String {
        let first = paragraphs(&self.service.about).into_iter().next().unwrap_or_default();
        let doc = first.split_once(": ").map_or(first.as_str(), |(_, doc)| doc);
        capitalised(doc)
    }

    /// Generates the whole page.
    pub(super) fn text(&self) -> Result<String> {
        let mut text = self.opening();
        for method in &self.service.methods {
            text += &self.method(method)?;
        }
        let objects = self.objects();
        if !objects.is_empty() {
            text += "\n## Objects\n";
        }
        for object in objects {
            text += &self.object(object)?;
        }
        Ok(text)
    }

    fn opening(&self) -> String {
        let Service { package, name, comment, methods, .. } = self.service;
        let client = super::prose::camel(package);
        let mut text = format!(
            "# {}\n\n{}\n\nThe service is `{package}.{name}`; in TypeScript `client.{client}.{name}`, in Go `{}`, in \
             Python `client.{}`.\n",
            self.title(),
            self.sentence(),
            go::client(package),
            package.split('.').next().unwrap_or_default(),
        );
        for paragraph in paragraphs(comment).iter().filter(|it| !it.starts_with(REPEATED_PARAGRAPH))
        {
            text += &format!("\n{}\n", self.format_text(paragraph));
        }
        text += &format!(
            "\nThe examples read the server's address from `SERVICE_API_URL` and the key from `SERVICE_API_KEY`; see \
             [Calling the service](calling.md). TypeScript examples begin with:\n\n```ts\n{SET_UP}```\n\n\
             Python examples begin with:\n\n```py\n{}```\n",
            python::SET_UP
        );
        text += &format!(
            "\nGo examples begin with `client, err := aloft.New()`, as in the [guide](../guides/go.md). `{}` is the package \
             `{}`.\n",
            go::package_name(package),
            go::import_path(package),
        );
        let rows: Vec<_> = methods.iter().map(|method| self.row(method)).collect();
        text += &format!("\n{}", table(&["Method", "Description", "Scope"], &rows));
        let objects: Vec<_> = self.objects().iter().map(|it| self.link(it)).collect();
        if !objects.is_empty() {
            text += &format!("\nObjects: {}.\n", objects.join(", "));
        }
        text
    }

    fn row(&self, method: &Method) -> Vec<String> {
        let doc = parse_method(&method.comment);
        let first = doc.paragraphs.first().map_or("", String::as_str);
        let sentence =
            first.split_once(". ").map_or(first.trim_end_matches('.'), |(first, _)| first);
        let sentence = sentence.split_once("; see ").map_or(sentence, |(own, _)| own);
        let link = format!("[{}](#{})", method.name, anchor(&method.name));
        let needed = person_role(&method.path())
            .map_or_else(|| format!("`{}`", scope(method)), |role| format!("a person: `{role}`"));
        vec![link, format!("{}.", self.format_text(sentence)), needed]
    }

    fn method(&self, method: &Method) -> Result<String> {
        let contract = &self.book.contract;
        let doc = parse_method(&method.comment);
        let mut text = format!("\n## {}\n", method.name);
        for paragraph in &doc.paragraphs {
            text += &format!("\n{}\n", self.format_text(paragraph));
        }
        text += &format!(
            "\n`POST /rpc/{}`\n\n{} {}\n",
            method.path(),
            permission(method),
            self.repeating(method),
        );
        text += &self.message(
            "Request",
            "No fields. Send `{}`.",
            contract.message(&method.request),
            true,
        )?;
        text += &self.message(
            "Response",
            "An empty object.",
            contract.message(&method.response),
            false,
        )?;
        text += &self.errors(method);
        text += &self.examples(method)?;
        Ok(text)
    }

    /// Describes the effect of repeating a call.
    fn repeating(&self, method: &Method) -> &'static str {
        match method.level {
            Level::Reads => {
                "Has no side effects: you may repeat it, and call it with [GET](calling.md#reading-with-get)."
            }
            Level::Repeatable => "A repeated call has no further effect.",
            Level::Once if self.takes_key(&method.comment) => {
                "Safe to retry with an [`Idempotency-Key`](calling.md#idempotency)."
            }
            Level::Once => "A repeated call takes effect again.",
        }
    }

    /// Returns whether a method, or the one that it refers to, accepts the header.
    pub(super) fn takes_key(&self, comment: &str) -> bool {
        let other = || referenced_method(comment).and_then(|name| self.find(name));
        comment.contains("Idempotency-Key") || other().is_some_and(|it| self.takes_key(&it.comment))
    }

    fn find(&self, name: &str) -> Option<&'a Method> {
        self.service.methods.iter().find(|method| method.name == name)
    }

    fn message(
        &self,
        title: &str,
        nothing: &str,
        message: &Message,
        input: bool,
    ) -> Result<String> {
        if message.fields.is_empty() {
            return Ok(format!("\n**{title}.** {nothing}\n"));
        }
        Ok(format!("\n**{title}**\n\n{}", self.fields(message, input)?))
    }

    fn examples(&self, method: &Method) -> Result<String> {
        let path = method.path();
        let Some(example) = self.book.examples.get(&path) else { return Ok(String::new()) };
        let message = self.book.contract.message(&method.response);
        let answered: Vec<&str> = message.fields.iter().map(|field| field.json.as_str()).collect();
        let mut text = format!(
            "\n**curl**\n\n```sh\n{}```\n\n**TypeScript**\n\n```ts\n{}```\n\n**Go**\n\n```go\n{}```\n\n\
             **Python**\n\n```py\n{}```\n",
            example::curl(method, example),
            example::typescript(method, example, &answered),
            go::call(&self.book.contract, method, example),
            python::python(&self.book.contract, method, example),
        );
        if let Some(terraform) = Terraform::for_method(&method.name) {
            let (name, page) = example::page_of(terraform);
            let block = terraform.written(example, &self.book.examples)?;
            text += &format!(
                "\n**Terraform**: [{name}](../terraform/{page})\n\n```terraform\n{block}```\n"
            );
        }
        if let Some(answer) =
            self.book.responses.get(&path).filter(|it| **it != serde_json::json!({}))
        {
            text += &format!("\n**Example response**\n\n```json\n{}```\n", example::answer(answer));
        }
        Ok(text)
    }

    fn object(&self, message: &Message) -> Result<String> {
        let mut text = format!("\n### {}\n", message.name());
        for paragraph in paragraphs(&message.comment) {
            text += &format!("\n{}\n", self.format_text(&paragraph));
        }
        let input = self.inputs.contains(message.full.as_str());
        Ok(text + "\n" + &self.fields(message, input)?)
    }

    /// Returns the objects of this page in the order in which methods use them.
    fn objects(&self) -> Vec<&'a Message> {
        let mut found: Vec<&'a Message> = Vec::new();
        for method in &self.service.methods {
            for full in [&method.request, &method.response] {
                self.collect(self.book.contract.message(full), &mut found);
            }
        }
        found
    }

    fn collect(&self, message: &'a Message, found: &mut Vec<&'a Message>) {
        for object in message.fields.iter().filter_map(object) {
            let inner = self.book.contract.message(object);
            if inner.package() == self.service.package
                && !found.iter().any(|it| it.full == inner.full)
            {
                found.push(inner);
                self.collect(inner, found);
            }
        }
    }

    fn link(&self, message: &Message) -> String {
        self.book.prose().object(&self.service.package, &message.full)
    }

    fn format_text(&self, text: &str) -> String {
        self.book.prose().text(&self.service.package, text)
    }
}

/// Returns the scope that a method needs: read for methods without side effects, otherwise write
/// (§5.5).
pub(super) fn scope(method: &Method) -> &'static str {
    match method.level {
        Level::Reads => rules::Scope::Read.as_str(),
        Level::Repeatable | Level::Once => rules::Scope::Write.as_str(),
    }
}

/// Returns the permission that a method needs, as a sentence.
fn permission(method: &Method) -> String {
    let scope = scope(method);
    person_role(&method.path()).map_or_else(
        || format!("Scope [`{scope}`](authentication.md#scopes)."),
        |role| format!("For people with the role `{role}`, not for keys."),
    )
}

/// Returns the message that a field contains.
pub(super) fn object(field: &Field) -> Option<&str> {
    match &field.kind {
        FieldKind::Object(full) => Some(full),
        FieldKind::Text
        | FieldKind::Number
        | FieldKind::Flag
        | FieldKind::Time
        | FieldKind::Mask => None,
    }
}

/// Collects all messages within a message, at any depth.
pub(super) fn reach<'a>(book: &'a Book, message: &str, found: &mut BTreeSet<&'a str>) {
    for object in book.contract.message(message).fields.iter().filter_map(object) {
        if found.insert(object) {
            reach(book, object, found);
        }
    }
}
