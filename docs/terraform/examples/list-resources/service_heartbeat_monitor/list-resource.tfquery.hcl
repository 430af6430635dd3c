# Every heartbeat monitor of the workspace, in a file such as `all.tfquery.hcl` (Terraform 1.14):
# `terraform query -generate-config-out=found.tf` writes them down with import blocks.
list "service_heartbeat_monitor" "all" {
  provider = service
}
