variable "create" {
  type    = bool
  default = true
}

variable "name" {
  type = string
}

variable "display_name" {
  type    = string
  default = null
}

variable "queue" {
  description = "Settings of the queue behind the topic: visibility, retention, delay"
  type        = any
  default     = {}
}

variable "subscribers" {
  description = "Further queues that get everything, by name: their ARN"
  type        = map(string)
  default     = {}
}

variable "tags" {
  type    = map(string)
  default = {}
}

resource "aws_sns_topic" "this" {
  count = var.create ? 1 : 0

  name         = var.name
  display_name = try(coalesce(var.display_name), upper(var.name))
  tags         = var.tags
}

resource "aws_sqs_queue" "this" {
  count = var.create ? 1 : 0

  name                       = var.name
  visibility_timeout_seconds = try(var.queue.visibility, 30)
  message_retention_seconds  = try(var.queue.retention, 345600)
  delay_seconds              = lookup(var.queue, "delay", 0)
  tags                       = var.tags

  redrive_policy = jsonencode({
    deadLetterTargetArn = aws_sqs_queue.dead[0].arn
    maxReceiveCount     = 4
  })
}

resource "aws_sqs_queue" "dead" {
  count = var.create ? 1 : 0

  name                      = "${var.name}-dead"
  message_retention_seconds = 1209600
}

resource "aws_sns_topic_subscription" "this" {
  for_each = var.create ? merge({ own = aws_sqs_queue.this[0].arn }, var.subscribers) : {}

  topic_arn = aws_sns_topic.this[0].arn
  protocol  = "sqs"
  endpoint  = each.value
}

output "topic_arn" {
  value = try(aws_sns_topic.this[0].arn, null)
}
