variable "context" {
  type = any
}

variable "name" {
  type = string
}

variable "display_name" {
  type    = string
  default = null
}

variable "kms_master_key_id" {
  type    = string
  default = null
}

variable "subscribers" {
  type = map(object({
    protocol = string
    endpoint = string
    raw      = optional(bool, false)
  }))
  default = {}
}

variable "tags" {
  type    = map(string)
  default = {}
}

locals {
  enabled = try(var.context.enabled, true)
}

resource "aws_sns_topic" "this" {
  count = local.enabled ? 1 : 0

  name              = "${var.context.id}-${var.name}"
  display_name      = coalesce(var.display_name, var.name)
  kms_master_key_id = var.kms_master_key_id
  tags              = merge(var.context.tags, var.tags)
}

resource "aws_sns_topic_subscription" "this" {
  for_each = local.enabled ? var.subscribers : {}

  topic_arn            = aws_sns_topic.this[0].arn
  protocol             = each.value.protocol
  endpoint             = each.value.endpoint
  raw_message_delivery = each.value.raw
}

output "arn" {
  value = one(aws_sns_topic.this[*].arn)
}
