resource "aws_sns_topic" "pager" {
  name = "${local.name}-pager"
}

resource "aws_sns_topic" "releases" {
  name         = "${local.name}-releases"
  display_name = coalesce(var.release_topic_name, local.name)
}

resource "aws_sns_topic" "costs" {
  name = "${local.name}-costs"
}

resource "aws_sqs_queue" "costs" {
  name = "${local.name}-costs"
}

resource "aws_sns_topic_subscription" "costs" {
  topic_arn = aws_sns_topic.costs.arn
  protocol  = "sqs"
  endpoint  = aws_sqs_queue.costs.arn
}

resource "aws_cloudwatch_metric_alarm" "costs" {
  alarm_name          = "${local.name}-costs"
  namespace           = "Platform"
  metric_name         = "DailyCost"
  statistic           = "Maximum"
  comparison_operator = "GreaterThanThreshold"
  period              = 86400
  evaluation_periods  = 1
  threshold           = 500
  alarm_actions       = [aws_sns_topic.costs.arn]
}

resource "aws_cloudwatch_metric_alarm" "unhealthy" {
  for_each = local.services

  alarm_name          = "${local.name}-${each.key}-unhealthy"
  namespace           = "Platform"
  metric_name         = "UnhealthyHosts"
  statistic           = "Maximum"
  comparison_operator = "GreaterThanThreshold"
  period              = 60
  evaluation_periods  = 3
  threshold           = 0
  alarm_actions       = [aws_sns_topic.pager.arn]

  dimensions = {
    Service = each.key
  }
}

resource "aws_cloudwatch_metric_alarm" "nodes" {
  alarm_name          = "${local.name}-nodes"
  namespace           = "Platform"
  metric_name         = "PendingTasks"
  statistic           = "Average"
  comparison_operator = "GreaterThanThreshold"
  period              = 300
  evaluation_periods  = 2
  threshold           = 10
  alarm_actions       = [aws_sns_topic.pager.arn]
}
