variable "create" {
  type    = bool
  default = true
}

variable "name" {
  type    = string
  default = null
}

variable "delay_seconds" {
  type    = number
  default = null
}

variable "message_retention_seconds" {
  type    = number
  default = null
}

variable "receive_wait_time_seconds" {
  type    = number
  default = null
}

variable "visibility_timeout_seconds" {
  type    = number
  default = null
}

variable "create_dlq" {
  type    = bool
  default = false
}

variable "dlq_message_retention_seconds" {
  type    = number
  default = null
}

variable "redrive_policy" {
  type    = any
  default = {}
}

variable "tags" {
  type    = map(string)
  default = {}
}

locals {
  dlq_name = "${var.name}-dlq"
}

resource "aws_sqs_queue" "this" {
  count = var.create ? 1 : 0

  name                       = var.name
  delay_seconds              = var.delay_seconds
  message_retention_seconds  = var.message_retention_seconds
  receive_wait_time_seconds  = var.receive_wait_time_seconds
  visibility_timeout_seconds = var.visibility_timeout_seconds
  tags                       = var.tags
}

resource "aws_sqs_queue_redrive_policy" "this" {
  count = var.create && var.create_dlq ? 1 : 0

  queue_url = aws_sqs_queue.this[0].url
  redrive_policy = jsonencode(merge({
    deadLetterTargetArn = aws_sqs_queue.dlq[0].arn
    maxReceiveCount     = 5
  }, var.redrive_policy))
}

resource "aws_sqs_queue" "dlq" {
  count = var.create && var.create_dlq ? 1 : 0

  name                       = local.dlq_name
  message_retention_seconds  = try(coalesce(var.dlq_message_retention_seconds, var.message_retention_seconds), null)
  visibility_timeout_seconds = 45
  tags                       = var.tags
}

output "queue_arn" {
  value = try(aws_sqs_queue.this[0].arn, null)
}

output "queue_url" {
  value = try(aws_sqs_queue.this[0].url, null)
}

output "queue_name" {
  value = try(aws_sqs_queue.this[0].name, null)
}
