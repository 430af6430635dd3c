//! Generated code that determines how people write their programs.

use std::sync::LazyLock;

use super::generate;
use crate::codegen::Files;
use crate::shell;

static FILES: LazyLock<Files> = LazyLock::new(|| generate(shell::workspace()).unwrap());

fn has(file: &str, text: &str) {
    let code = String::from_utf8_lossy(&FILES[file]);
    assert!(code.contains(text), "`{text}` not found in {file}");
}

#[test]
fn required_arguments_have_no_default() {
    has("monitor_service.py", "        id: str,\n        options: CallOptions | None = None,\n");
    has("monitor_service.py", "        limit: int | None = None,\n");
}

#[test]
fn arguments_accept_plain_values() {
    has("monitor_service.py", "        update_mask: Sequence[str] | FieldMask | None = None,\n");
    has("monitor_pb2.pyi", "        periodicity: words.Periodicity | None = ...,\n");
    has("monitor_pb2.pyi", "        regions: Sequence[words.Region] | None = ...,\n");
}

#[test]
fn lists_have_a_method_for_all_pages() {
    has("monitor_service.py", "    def list_monitors_pages(\n");
    has("monitor_service.py", "    ) -> AsyncIterator[pb.ListMonitorsResponse]:\n");
}

#[test]
fn keywords_of_python_are_no_arguments() {
    has("notification_pb2.pyi", "    def __init__(self, **fields: Any) -> None: ...\n");
    has("incident_service.py", "        from_: datetime | Timestamp | None = None,\n");
}

#[test]
fn own_modules_are_imported_from_the_package() {
    has("incident_pb2.py", "\nfrom . import monitor_pb2 as ");
}
