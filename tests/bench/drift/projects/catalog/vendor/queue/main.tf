locals {
  settings = merge(var.defaults, var.settings)
}

resource "aws_sqs_queue" "this" {
  count = var.create ? 1 : 0

  name                       = var.name
  visibility_timeout_seconds = try(coalesce(var.visibility_timeout_seconds, lookup(local.settings, "visibility_timeout_seconds", null)), 30)
  message_retention_seconds  = coalesce(var.message_retention_seconds, try(local.settings.message_retention_seconds, null), 345600)
  delay_seconds              = try(lookup(merge(var.defaults, var.settings), "delay_seconds", 0), 0)
  receive_wait_time_seconds  = try(local.settings.receive_wait_time_seconds, 0)
  tags                       = merge({ Name = var.name }, var.tags)
}
