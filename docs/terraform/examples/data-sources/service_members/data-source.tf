data "service_members" "owners" {
  role = "owner"
}

output "owners" {
  value = [for member in data.service_members.owners.members : member.name]
}
