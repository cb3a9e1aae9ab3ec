variable "defaults" {
  description = "What every item gets that says nothing else"
  type        = any
  default     = {}
}

variable "items" {
  description = "Calls of the module by name"
  type        = any
  default     = {}
}

module "wrapper" {
  source   = "../"
  for_each = var.items

  create                        = try(each.value.create, var.defaults.create, true)
  create_dlq                    = try(each.value.create_dlq, var.defaults.create_dlq, false)
  delay_seconds                 = try(each.value.delay_seconds, var.defaults.delay_seconds, null)
  dlq_message_retention_seconds = try(each.value.dlq_message_retention_seconds, var.defaults.dlq_message_retention_seconds, null)
  message_retention_seconds     = try(each.value.message_retention_seconds, var.defaults.message_retention_seconds, null)
  name                          = try(each.value.name, var.defaults.name, null)
  receive_wait_time_seconds     = try(each.value.receive_wait_time_seconds, var.defaults.receive_wait_time_seconds, null)
  redrive_policy                = try(each.value.redrive_policy, var.defaults.redrive_policy, {})
  tags                          = try(each.value.tags, var.defaults.tags, {})
  visibility_timeout_seconds    = try(each.value.visibility_timeout_seconds, var.defaults.visibility_timeout_seconds, null)
}

output "wrapper" {
  description = "What each call gives"
  value       = module.wrapper
}
