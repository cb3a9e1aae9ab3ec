variable "context" {
  type = any
}

variable "name" {
  type = string
}

variable "settings" {
  type    = any
  default = {}
}

variable "tags" {
  type    = map(string)
  default = {}
}

locals {
  fallback = { timeout = 30, retention = 14, delay = 0 }
  settings = merge(local.fallback, var.settings)
}

module "label" {
  source  = "../label"
  context = var.context
  name    = var.name
  tags    = var.tags
}

resource "aws_sqs_queue" "this" {
  name                       = module.label.id
  visibility_timeout_seconds = lookup(local.settings, "timeout", 60)
  delay_seconds              = try(var.settings.delay, local.fallback.delay)
  tags                       = module.label.tags
}

resource "aws_cloudwatch_log_group" "this" {
  name              = "/live/${var.name}"
  retention_in_days = coalesce(try(var.settings.retention, null), local.fallback.retention)
  tags              = module.label.tags
}
