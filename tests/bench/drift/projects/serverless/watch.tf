locals {
  alarm = { period = 300, periods = 1, statistic = "Sum" }

  measures = {
    errors    = { metric = "Errors", threshold = 1 }
    throttles = { metric = "Throttles", threshold = 5, periods = 2 }
  }

  exceptions = {
    report-errors = { period = 3600 }
  }

  # Every watched function has an alarm for each measure.
  alarms = {
    for pair in setproduct(var.watched, keys(local.measures)) :
    join("-", pair) => merge(local.alarm, local.measures[pair[1]], { function = pair[0] }, lookup(local.exceptions, join("-", pair), {}))
  }
}

resource "aws_sns_topic" "alarms" {
  name         = "${var.name}-alarms"
  display_name = format("%s alarms", title(var.name))
  tags         = var.tags
}

resource "aws_cloudwatch_metric_alarm" "function" {
  for_each = local.alarms

  alarm_name          = "${var.name}-${each.key}"
  alarm_description   = "Function ${each.value.function}"
  namespace           = "AWS/Lambda"
  metric_name         = each.value.metric
  statistic           = each.value.statistic
  comparison_operator = "GreaterThanOrEqualToThreshold"
  period              = each.value.period
  evaluation_periods  = each.value.periods
  threshold           = each.value.threshold
  alarm_actions       = [aws_sns_topic.alarms.arn]
  dimensions          = { FunctionName = module.function[each.value.function].name }
}

resource "aws_cloudwatch_metric_alarm" "reminders" {
  alarm_name          = "${var.name}-reminders-late"
  alarm_description   = "Reminders wait"
  namespace           = "AWS/SQS"
  metric_name         = "ApproximateAgeOfOldestMessage"
  statistic           = "Maximum"
  comparison_operator = "GreaterThanThreshold"
  period              = 300
  evaluation_periods  = 1
  threshold           = 1800
  alarm_actions       = [aws_sns_topic.alarms.arn]
  dimensions          = { QueueName = aws_sqs_queue.reminders.name }
}
