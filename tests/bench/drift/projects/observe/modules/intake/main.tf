locals {
  pattern = { for key, values in { source = var.intake.sources, detail-type = var.intake.details } : key => values if length(values) > 0 }
}

resource "aws_sqs_queue" "this" {
  name                       = var.context.id
  message_retention_seconds  = var.intake.keep_days * 86400
  visibility_timeout_seconds = coalesce(var.intake.visibility, 60)
  tags                       = var.context.tags

  redrive_policy = var.intake.dead_letter ? jsonencode({
    deadLetterTargetArn = aws_sqs_queue.dead[0].arn
    maxReceiveCount     = var.intake.tries
  }) : null
}

resource "aws_sqs_queue" "dead" {
  count = var.intake.dead_letter ? 1 : 0

  name = "${var.context.id}-dead"
  tags = var.context.tags
}

resource "aws_cloudwatch_event_rule" "this" {
  name          = var.context.id
  event_pattern = jsonencode(local.pattern)
  state         = var.intake.paused ? "DISABLED" : "ENABLED"
  tags          = var.context.tags
}

resource "aws_cloudwatch_event_target" "this" {
  rule      = aws_cloudwatch_event_rule.this.name
  target_id = "queue"
  arn       = aws_sqs_queue.this.arn
}
