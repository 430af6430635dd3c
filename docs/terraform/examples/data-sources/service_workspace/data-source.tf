data "service_workspace" "this" {}

output "monitors_in_use" {
  value = data.service_workspace.this.usage[0].monitors
}
