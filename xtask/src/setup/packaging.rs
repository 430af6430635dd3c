//! Installs the programs that check `packaging/`: Helm, Prometheus's promtool, the reference
//! implementation of compose files, umoci for images, and a validator with the schemas of Kubernetes.

use anyhow::Result;

use super::module::{self, GoProgram};
use super::pypi::{self, PIP};
use super::{Installer, Tool};

const RECENT_GO: Installer = Installer {
    program: "go",
    package: "golang-go",
    by_hand: "install Go 1.21 or newer (https://go.dev/dl/) and put it on the PATH",
};

pub(super) const TOOLS: [Tool; 5] = [HELM, PROMTOOL, COMPOSE, UMOCI, KUBERNETES];

const HELM: Tool = Tool {
    name: "helm",
    version: "3.22.0",
    path: "bin/helm",
    needs: RECENT_GO,
    install: install_helm,
};
/// The module has the number of Prometheus without its first digit: this is Prometheus 3.16.
const PROMTOOL: Tool = Tool {
    name: "promtool",
    version: "0.316.0",
    path: "bin/promtool",
    needs: RECENT_GO,
    install: install_promtool,
};
/// Parses and checks compose files as Docker does.
const COMPOSE: Tool = Tool {
    name: "compose-spec",
    version: "2.9.0",
    path: "bin/compose-spec",
    needs: RECENT_GO,
    install: install_compose,
};
/// Reads and unpacks images without a daemon.
const UMOCI: Tool = Tool {
    name: "umoci",
    version: "0.6.0",
    path: "bin/umoci",
    needs: RECENT_GO,
    install: install_umoci,
};
/// Contains the schemas of Kubernetes, so it needs no network.
pub(super) const KUBERNETES: Tool = Tool {
    name: "kubernetes-validate",
    version: "1.37.0",
    path: KUBERNETES_FOLDER,
    needs: PIP,
    install: install_kubernetes,
};
/// Folder of the Python packages of the validator, with a reader of YAML.
pub(crate) const KUBERNETES_FOLDER: &str = "kubernetes-validate";
const KUBERNETES_NEEDS: [&str; 9] = [
    "attrs==26.1.0",
    "importlib_resources==7.1.0",
    "jsonschema==4.26.0",
    "jsonschema_specifications==2025.9.1",
    "packaging==26.4",
    "PyYAML==6.0.4",
    "referencing==0.37.0",
    "rpds-py==2026.9.1",
    "typing_extensions==4.16.0",
];

fn install_helm(tool: &Tool) -> Result<()> {
    build(tool, "helm.sh/helm/v3", "cmd/helm", &[])
}

fn install_promtool(tool: &Tool) -> Result<()> {
    // Without the clients of clouds, which find targets.
    let flags = ["-tags=remove_all_sd,netgo"];
    build(tool, "github.com/prometheus/prometheus", "cmd/promtool", &flags)
}

fn install_compose(tool: &Tool) -> Result<()> {
    build(tool, "github.com/compose-spec/compose-go/v2", "cmd", &[])
}

fn install_umoci(tool: &Tool) -> Result<()> {
    build(tool, "github.com/opencontainers/umoci", "cmd/umoci", &[])
}

fn build(tool: &Tool, module: &str, folder: &str, flags: &[&str]) -> Result<()> {
    let package = format!("{module}/{folder}");
    module::build(tool, &GoProgram { module, package: &package, replaced: "", flags })
}

fn install_kubernetes(tool: &Tool) -> Result<()> {
    pypi::install(KUBERNETES_FOLDER, tool, &KUBERNETES_NEEDS)
}
