resource "aws_sqs_queue" "jobs" {
  name                       = "${local.name}-jobs"
  visibility_timeout_seconds = local.visibility
  delay_seconds              = 0
}

resource "aws_sqs_queue" "dead" {
  name                      = "${local.name}-dead"
  message_retention_seconds = var.hold_days * 86400
}

resource "aws_sns_topic" "orders" {
  name         = "orders"
  display_name = local.display_name
}

resource "aws_cloudwatch_log_group" "app" {
  name              = "/shop/app"
  retention_in_days = var.retention_days
}

resource "aws_cloudwatch_log_group" "audit" {
  name              = "/shop/audit"
  retention_in_days = 365 # the auditors want a year
}

resource "aws_cloudwatch_metric_alarm" "errors" {
  alarm_name          = "errors"
  namespace           = "Shop"
  metric_name         = "Errors"
  statistic           = "Sum"
  comparison_operator = "GreaterThanThreshold"
  period              = 60
  evaluation_periods  = 2
  threshold           = local.alarm_limit
  treat_missing_data  = "missing"
}
