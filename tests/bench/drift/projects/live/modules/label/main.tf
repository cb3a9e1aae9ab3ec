# A label in the manner of null-label: what a call does not say comes from its context.

variable "context" {
  type    = any
  default = {}
}

variable "namespace" {
  type    = string
  default = null
}

variable "stage" {
  type    = string
  default = null
}

variable "name" {
  type    = string
  default = null
}

variable "tags" {
  type    = map(string)
  default = {}
}

locals {
  namespace = coalesce(var.namespace, lookup(var.context, "namespace", "none"))
  stage     = coalesce(var.stage, lookup(var.context, "stage", "none"))
  name      = try(coalesce(var.name, lookup(var.context, "name", null)), "")
  id        = join("-", compact([local.namespace, local.stage, local.name]))

  generated = {
    Name      = local.id
    Namespace = local.namespace
    Stage     = local.stage
  }

  tags = merge(local.generated, lookup(var.context, "tags", {}), var.tags)
}

output "id" {
  value = local.id
}

output "tags" {
  value = local.tags
}

output "context" {
  value = { namespace = local.namespace, stage = local.stage, name = local.name, tags = merge(lookup(var.context, "tags", {}), var.tags) }
}
