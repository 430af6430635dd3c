data "service_whoami" "this" {}

output "workspace" {
  value = data.service_whoami.this.slug
}
