locals {
  # Who hears what: one row a subscription.
  heard = [
    { topic = "orders", queue = "invoices", kinds = ["placed", "changed"] },
    { topic = "orders", queue = "mails", kinds = ["placed", "shipped"] },
    { topic = "invoices", queue = "mails", kinds = ["overdue"] },
  ]
}

resource "aws_sns_topic" "this" {
  for_each = toset(["orders", "invoices"])

  name = "${var.environment}-${each.key}"
  tags = local.tags
}

resource "aws_sns_topic_subscription" "this" {
  for_each = { for row in local.heard : "${row.topic}-${row.queue}" => row }

  topic_arn     = aws_sns_topic.this[each.value.topic].arn
  protocol      = "sqs"
  endpoint      = module.queues.wrapper[each.value.queue].queue_arn
  filter_policy = jsonencode({ kind = each.value.kinds })
}

resource "aws_sns_topic" "duty" {
  name         = "${var.environment}-duty"
  display_name = "On duty"
}

resource "aws_cloudwatch_metric_alarm" "waiting" {
  for_each = var.queues

  alarm_name          = "${each.key}-waiting"
  alarm_description   = "Messages wait in ${each.key}"
  namespace           = "AWS/SQS"
  metric_name         = "ApproximateNumberOfMessagesVisible"
  statistic           = "Maximum"
  comparison_operator = "GreaterThanThreshold"
  period              = 60
  evaluation_periods  = try(local.alarm_override[each.key].periods, local.alarm_standard.periods)
  threshold           = lookup(var.thresholds, each.key, local.alarm_standard.threshold)
  alarm_actions       = [aws_sns_topic.duty.arn]
  dimensions          = { QueueName = module.queues.wrapper[each.key].queue_name }
}

resource "aws_sqs_queue" "returns" {
  name                       = "${var.environment}-returns"
  visibility_timeout_seconds = 60
  tags                       = local.tags

  redrive_policy = jsonencode({
    deadLetterTargetArn = aws_sqs_queue.dead.arn
    maxReceiveCount     = 10
  })
}

resource "aws_sqs_queue" "dead" {
  name                      = "${var.environment}-dead"
  message_retention_seconds = 1209600
  tags                      = local.tags
}
