# The component groups of one status page, in a file such as `all.tfquery.hcl` (Terraform 1.14):
# `terraform query -generate-config-out=found.tf` writes them down with import blocks.
list "service_status_page_component_group" "all" {
  provider = service

  config {
    page_id = "page_0de1m9fvnhq2s"
  }
}
