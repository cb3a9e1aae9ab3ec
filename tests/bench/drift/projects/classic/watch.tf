resource "aws_cloudwatch_log_group" "this" {
  count = length(var.logs)

  name              = "/${var.name}/${var.logs[count.index]}"
  retention_in_days = var.log_days
  tags              = var.tags
}

resource "aws_sns_topic" "duty" {
  name = "${var.name}-duty"
  tags = var.tags
}

resource "aws_cloudwatch_metric_alarm" "watch" {
  count = length(var.watched)

  alarm_name          = format("%s-%s", var.name, lower(var.watched[count.index].metric))
  alarm_description   = "Somebody has to look"
  namespace           = "Intranet"
  metric_name         = var.watched[count.index].metric
  comparison_operator = "GreaterThanThreshold"
  statistic           = "Sum"
  period              = 60
  evaluation_periods  = try(var.watched[count.index].periods, 1)
  threshold           = lookup(var.watched[count.index], "threshold", 50)
  alarm_actions       = [aws_sns_topic.duty.arn]
}

module "archive" {
  source = "./third_party/log-archive"

  name = "${var.name}-archive"
  tags = var.tags
}
