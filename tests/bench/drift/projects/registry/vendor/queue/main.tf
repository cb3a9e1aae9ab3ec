locals {
  tags = merge({ module = "queue" }, var.tags)
}

resource "aws_sqs_queue" "this" {
  count = var.create ? 1 : 0

  name                       = var.name
  visibility_timeout_seconds = var.visibility_timeout_seconds
  message_retention_seconds  = var.message_retention_seconds
  delay_seconds              = try(var.settings.delay_seconds, 0)
  receive_wait_time_seconds  = lookup(var.settings, "receive_wait_time_seconds", 0)

  redrive_policy = var.create_dlq ? jsonencode({
    deadLetterTargetArn = aws_sqs_queue.dlq[0].arn
    maxReceiveCount     = lookup(var.redrive_policy, "max_receive_count", 5)
  }) : null

  tags = local.tags
}

resource "aws_sqs_queue" "dlq" {
  count = var.create && var.create_dlq ? 1 : 0

  name                       = coalesce(var.dlq_name, "${var.name}-dlq")
  visibility_timeout_seconds = coalesce(var.dlq_visibility_timeout_seconds, var.visibility_timeout_seconds, 30)
  message_retention_seconds  = 1209600

  tags = merge(local.tags, var.dlq_tags)
}
