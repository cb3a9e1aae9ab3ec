variable "create" {
  type    = bool
  default = true
}

variable "name" {
  type = string
}

variable "topic" {
  description = "Settings of the topic: display_name"
  type        = any
  default     = {}
}

variable "retention" {
  description = "How long the archive of alerts is kept, in seconds"
  type        = number
  default     = null
}

variable "defaults" {
  type    = any
  default = { retention = 345600, visibility = 30 }
}

variable "visibility" {
  type    = number
  default = null
}

variable "role" {
  description = "Settings of the role that reads the archive"
  type = object({
    session_seconds = optional(number)
    description     = optional(string)
  })
  default = {}
}

variable "tags" {
  type    = map(string)
  default = {}
}

resource "aws_sns_topic" "this" {
  count = var.create ? 1 : 0

  name         = var.name
  display_name = lookup(var.topic, "display_name", var.name)
  tags         = var.tags
}

resource "aws_sqs_queue" "archive" {
  count = var.create ? 1 : 0

  name                       = "${var.name}-archive"
  message_retention_seconds  = coalesce(var.retention, try(var.defaults.retention, null), 345600)
  visibility_timeout_seconds = coalesce(var.visibility, try(var.defaults.visibility, null), 30)
  tags                       = var.tags
}

resource "aws_sns_topic_subscription" "archive" {
  count = var.create ? 1 : 0

  topic_arn = aws_sns_topic.this[0].arn
  protocol  = "sqs"
  endpoint  = aws_sqs_queue.archive[0].arn
}

resource "aws_cloudwatch_log_group" "delivery" {
  count = var.create ? 1 : 0

  name              = "/alerting/${var.name}"
  retention_in_days = 7
  tags              = var.tags
}

resource "aws_iam_role" "reader" {
  count = var.create ? 1 : 0

  name                 = "${var.name}-reader"
  description          = try(coalesce(var.role.description), "Reads alerts of ${var.name}")
  max_session_duration = var.role.session_seconds == null ? 3600 : var.role.session_seconds
  tags                 = var.tags

  assume_role_policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { AWS = "arn:aws:iam::123456789012:root" } }]
  })
}

output "topic_arn" {
  value = try(aws_sns_topic.this[0].arn, null)
}
