resource "aws_cloudwatch_log_group" "worker" {
  count             = 3
  name              = "/catalog/worker-${count.index}"
  retention_in_days = var.worker_retention
}

resource "aws_cloudwatch_log_group" "audit" {
  name              = "/catalog/audit"
  retention_in_days = 30
}

module "logs" {
  source = "./vendor/logs"
  groups = {
    "/catalog/api"  = {}
    "/catalog/cron" = { retention = 7 }
  }
}

resource "aws_sns_topic" "alerts" {
  name = "catalog-alerts"
}

resource "aws_sns_topic" "pages" {
  name = "catalog-pages"
}

resource "aws_cloudwatch_metric_alarm" "errors" {
  for_each            = toset(["intake", "outbox"])
  alarm_name          = "catalog-${each.key}-errors"
  namespace           = "Catalog"
  metric_name         = "Errors"
  statistic           = "Sum"
  comparison_operator = "GreaterThanThreshold"
  period              = 60
  evaluation_periods  = 2
  threshold           = var.error_threshold
}

resource "aws_cloudwatch_metric_alarm" "returns" {
  alarm_name          = "catalog-returns-age"
  namespace           = "AWS/SQS"
  metric_name         = "ApproximateAgeOfOldestMessage"
  statistic           = "Maximum"
  comparison_operator = "GreaterThanThreshold"
  period              = 300
  evaluation_periods  = 1
  threshold           = 600
  alarm_actions       = [aws_sns_topic.pages.arn]

  dimensions = {
    QueueName = aws_sqs_queue.returns.name
  }
}

resource "aws_cloudwatch_metric_alarm" "stock" {
  alarm_name          = "catalog-stock-missing"
  namespace           = "Catalog"
  metric_name         = "Missing"
  statistic           = "Sum"
  comparison_operator = "GreaterThanThreshold"
  period              = 60
  evaluation_periods  = 1
  threshold           = 10
  alarm_actions       = [aws_sns_topic.alerts.arn]
}

resource "aws_cloudwatch_log_group" "access" {
  name = "/catalog/access"
}

resource "aws_cloudwatch_log_metric_filter" "access" {
  name           = "catalog-denied"
  pattern        = "DENIED"
  log_group_name = aws_cloudwatch_log_group.access.name

  metric_transformation {
    name      = "Denied"
    namespace = "Catalog"
    value     = "1"
  }
}
