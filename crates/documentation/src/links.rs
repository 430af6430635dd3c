//! Resolves the links of a document: to other documents, files, sections and external sites. A link to
//! a file that is not served becomes plain text.

use super::BASE;
use super::catalog;

/// The target of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LinkTarget {
    /// Address on this server, with its fragment.
    Internal(String),
    /// External URL.
    External(String),
    /// File of the repository that is not served.
    NotServed,
}

/// Prefixes of external links.
const SCHEMES: [&str; 3] = ["https://", "http://", "mailto:"];

/// Resolves the link `written` in the document at `path` below `docs/`.
pub(super) fn resolve(path: &str, written: &str) -> LinkTarget {
    if SCHEMES.iter().any(|scheme| written.starts_with(scheme)) {
        return LinkTarget::External(written.to_owned());
    }
    if written.starts_with(['#', '/']) {
        return LinkTarget::Internal(written.to_owned());
    }
    let (file, fragment) = match written.split_once('#') {
        Some((file, fragment)) => (file, format!("#{fragment}")),
        None => (written, String::new()),
    };
    let Some(file) = resolve_relative(path, file) else { return LinkTarget::NotServed };
    let folder = format!("{BASE}/{file}");
    let mut documents = catalog::documents();
    if let Some(document) = documents.find(|it| it.path == file || it.address() == folder) {
        return LinkTarget::Internal(format!("{}{fragment}", document.address()));
    }
    let served = file == catalog::OPENAPI || catalog::FILES.iter().any(|it| it.path == file);
    if served { LinkTarget::Internal(folder) } else { LinkTarget::NotServed }
}

/// Returns the path below `docs/` of a relative link, or `None` if it leaves that folder.
pub(super) fn resolve_relative(path: &str, relative: &str) -> Option<String> {
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here(address: &str) -> LinkTarget {
        LinkTarget::Internal(address.to_owned())
    }

    #[test]
    fn links_between_files_are_links_between_addresses() {
        let from = |written| resolve("terraform/resources/http_monitor.md", written);
        assert_eq!(from("tcp_monitor.md"), here("/docs/terraform/resources/tcp_monitor"));
        assert_eq!(from("../index.md#schema"), here("/docs/terraform#schema"));
        assert_eq!(from(".."), here("/docs/terraform"));
        assert_eq!(
            from("../../reference/webhook.schema.json"),
            here("/docs/reference/webhook.schema.json")
        );
        assert_eq!(from("../../reference/openapi.json"), here("/docs/reference/openapi.json"));
        assert_eq!(from("#schema"), here("#schema"));
        assert_eq!(from("/openapi.json"), here("/openapi.json"));
        let outside = "https://developer.hashicorp.com/terraform";
        assert_eq!(from(outside), LinkTarget::External(outside.to_owned()));
    }

    #[test]
    fn unserved_files_are_not_linked() {
        let from = |written| resolve("reference/settings.md", written);
        for never in ["../decisions/0001-one-binary.md", "../../proto", "../../../../etc/passwd"] {
            assert_eq!(from(never), LinkTarget::NotServed, "{never}");
        }
    }
}
