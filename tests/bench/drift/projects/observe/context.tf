variable "context" {
  description = "Who this is; the same object goes to every module"
  type = object({
    enabled    = optional(bool, true)
    namespace  = string
    stage      = string
    name       = string
    attributes = optional(list(string), [])
    tags       = optional(map(string), {})
  })
}

locals {
  enabled = var.context.enabled
  id      = join("-", compact(concat([var.context.namespace, var.context.stage, var.context.name], var.context.attributes)))
  tags    = merge({ Namespace = var.context.namespace, Stage = var.context.stage }, var.context.tags)

  # What goes to modules of others: the labels are made already.
  context = { enabled = local.enabled, id = local.id, tags = local.tags }
}
