resource "aws_sqs_queue" "this" {
  name                       = var.name
  visibility_timeout_seconds = var.visibility
  message_retention_seconds  = var.keep_days * 24 * 3600
  delay_seconds              = 0

  tags = var.tags
}

resource "aws_cloudwatch_log_group" "this" {
  name              = "/queue/${var.name}"
  retention_in_days = var.log_days
}

resource "aws_cloudwatch_metric_alarm" "age" {
  alarm_name          = "age-${var.name}"
  namespace           = "AWS/SQS"
  metric_name         = "ApproximateAgeOfOldestMessage"
  statistic           = "Maximum"
  comparison_operator = "GreaterThanThreshold"
  period              = 60
  evaluation_periods  = 5
  threshold           = var.visibility * 10
}
