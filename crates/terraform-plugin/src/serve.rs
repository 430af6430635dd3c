//! From the start of the process to its end, as Terraform expects of a plugin.
