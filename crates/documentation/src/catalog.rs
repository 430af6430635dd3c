//! The list of all documents and files, in reading order. The program, the navigation, the search and
//! the list for programs use it. A test compares it with the folders, so that no page is missing.

use super::document::Document;

/// A group of documents.
#[derive(Debug)]
pub(super) struct Chapter {
    pub(super) title: &'static str,
    pub(super) documents: &'static [Document],
}

/// A file that documents show or link to.
#[derive(Debug)]
pub(super) struct File {
    /// Path below `docs/`.
    pub(super) path: &'static str,
    pub(super) content_type: &'static str,
    pub(super) bytes: &'static [u8],
}

macro_rules! documents {
    ($($path:literal),* $(,)?) => {
        &[$(Document {
            path: $path,
            source: include_str!(concat!("../../../docs/", $path)),
        }),*]
    };
}

macro_rules! files {
    ($($path:literal: $content_type:expr),* $(,)?) => {
        &[$(File {
            path: $path,
            content_type: $content_type,
            bytes: include_bytes!(concat!("../../../docs/", $path)),
        }),*]
    };
}

const SCHEMA: &str = "application/schema+json";

/// All chapters, in reading order.
pub(super) const CHAPTERS: &[Chapter] = &[
    Chapter {
        title: "Guides",
        documents: documents![
            "guides/README.md",
            "guides/first-monitor.md",
            "guides/check-once.md",
            "guides/command-line.md",
            "guides/call-it.md",
            "guides/assistants.md",
            "guides/heartbeats.md",
            "guides/alerts.md",
            "guides/status-page.md",
            "guides/monitors-as-yaml.md",
            "guides/terraform.md",
            "guides/typescript.md",
            "guides/go.md",
            "guides/python.md",
            "guides/run-it-for-real.md",
            "guides/run-in-containers.md",
            "recipes/custom-domain.md",
            "guides/move-from-openstatus.md",
            "guides/move-from-uptime-kuma.md",
            "guides/move-from-gatus.md",
            "guides/move-from-services.md",
        ],
    },
    Chapter {
        title: "Reference",
        documents: documents![
            "reference/README.md",
            "reference/authentication.md",
            "reference/calling.md",
            "reference/errors.md",
            "reference/limits.md",
            "reference/regions.md",
            "reference/values.md",
            "reference/v1.md",
            "reference/mcp.md",
        ],
    },
    Chapter {
        title: "Services",
        documents: documents![
            "reference/monitor.v1.md",
            "reference/incident.v1.md",
            "reference/notification.v1.md",
            "reference/status_page.v1.md",
            "reference/status_report.v1.md",
            "reference/maintenance.v1.md",
            "reference/region.v1.md",
            "reference/probe.v1.md",
            "reference/workspace.v1.md",
            "reference/member.v1.md",
            "reference/api_key.v1.md",
            "reference/audit.v1.md",
            "reference/configuration.v1.md",
        ],
    },
    Chapter {
        title: "Webhooks and pages",
        documents: documents![
            "reference/webhook.md",
            "reference/page-webhook.md",
            "reference/status-page.md",
        ],
    },
    Chapter {
        title: "Running it",
        documents: documents!["reference/settings.md", "reference/retention.md"],
    },
    Chapter {
        title: "Terraform",
        documents: documents![
            "terraform/index.md",
            "terraform/resources/http_monitor.md",
            "terraform/resources/tcp_monitor.md",
            "terraform/resources/dns_monitor.md",
            "terraform/resources/heartbeat_monitor.md",
            "terraform/resources/notification.md",
            "terraform/resources/status_page.md",
            "terraform/resources/status_page_component.md",
            "terraform/resources/status_page_component_group.md",
        ],
    },
    Chapter {
        title: "Terraform data sources",
        documents: documents![
            "terraform/data-sources/api_keys.md",
            "terraform/data-sources/members.md",
            "terraform/data-sources/monitor.md",
            "terraform/data-sources/monitors.md",
            "terraform/data-sources/notification.md",
            "terraform/data-sources/regions.md",
            "terraform/data-sources/status_page.md",
            "terraform/data-sources/whoami.md",
            "terraform/data-sources/workspace.md",
        ],
    },
    Chapter {
        title: "Terraform functions and actions",
        documents: documents![
            "terraform/functions/periodicity_seconds.md",
            "terraform/functions/regions.md",
            "terraform/actions/monitor_trigger.md",
        ],
    },
    Chapter {
        title: "Terraform lists",
        documents: documents![
            "terraform/list-resources/http_monitor.md",
            "terraform/list-resources/tcp_monitor.md",
            "terraform/list-resources/dns_monitor.md",
            "terraform/list-resources/heartbeat_monitor.md",
            "terraform/list-resources/notification.md",
            "terraform/list-resources/status_page.md",
            "terraform/list-resources/status_page_component.md",
            "terraform/list-resources/status_page_component_group.md",
        ],
    },
];

/// All files that are not documents.
pub(super) const FILES: &[File] = files![
    "reference/webhook.schema.json": SCHEMA,
    "reference/page-webhook.schema.json": SCHEMA,
    "reference/status.schema.json": SCHEMA,
    "reference/configuration.schema.json": SCHEMA,
];

/// Path of the OpenAPI description, which is compressed in the program (`openapi`).
pub(super) const OPENAPI: &str = "reference/openapi.json";

/// Returns all documents, in order.
pub(super) fn documents() -> impl Iterator<Item = &'static Document> {
    CHAPTERS.iter().flat_map(|chapter| chapter.documents)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use pulldown_cmark::{Event, LinkType, Tag};

    use super::*;
    use crate::links::{LinkTarget, resolve, resolve_relative};
    use crate::markdown::events;

    /// Folders of which every page is served.
    const FOLDERS: [&str; 3] = ["guides", "reference", "terraform"];

    fn below(root: &Path, folder: &Path, found: &mut BTreeSet<String>) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                below(root, &path, found);
            } else {
                found.insert(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
            }
        }
    }

    #[test]
    fn catalog_lists_every_page_in_the_folders() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let mut there = BTreeSet::new();
        for folder in FOLDERS {
            below(&root, &root.join(folder), &mut there);
        }
        there.retain(|path| Path::new(path).extension().is_some_and(|it| it == "md"));
        let listed: BTreeSet<&str> = documents().map(|it| it.path).collect();
        let forgotten: Vec<_> =
            there.iter().filter(|path| !listed.contains(path.as_str())).collect();
        assert!(
            forgotten.is_empty(),
            "add these to crates/documentation/src/catalog.rs: {forgotten:?}"
        );
    }

    // Files that served documents show or link to are served too. The rest of the repository is not.
    #[test]
    fn links_lead_to_served_files() {
        for document in documents() {
            let links = events(document.text()).into_iter().filter_map(|event| {
                if let Event::Start(Tag::Link { link_type, dest_url, .. }) = &event {
                    (*link_type != LinkType::Email).then(|| dest_url.to_string())
                } else if let Event::Start(Tag::Image { dest_url, .. }) = &event {
                    Some(dest_url.to_string())
                } else {
                    None
                }
            });
            let is_ours = |path: String| FOLDERS.iter().any(|it| path.starts_with(it));
            for link in links.filter(|link| resolve(document.path, link) == LinkTarget::NotServed) {
                let is_forgotten = resolve_relative(document.path, &link).is_some_and(is_ours);
                assert!(
                    !is_forgotten,
                    "{} leads to {link}, which is not in the list",
                    document.path
                );
            }
        }
    }

    #[test]
    fn every_document_has_a_unique_title_and_address() {
        let (mut addresses, mut titles) = (BTreeSet::new(), BTreeSet::new());
        for document in documents() {
            let summary = document.summary();
            assert!(!summary.title.is_empty(), "{} has no title", document.path);
            assert!(!summary.about.is_empty(), "{} does not say what it is about", document.path);
            assert!(addresses.insert(document.address()), "{} is there twice", document.path);
            assert!(titles.insert(summary.title), "{} is called as another is", document.path);
        }
    }
}
