resource "aws_sns_topic" "on_call" {
  name = "${local.name}-on-call"
}

resource "aws_sns_topic" "sales" {
  name         = "${local.name}-sales"
  display_name = coalesce(try(var.database.sales_name, null), "Shop sales")
}

module "alarm" {
  source   = "./vendor/metric-alarm"
  for_each = local.alarms

  alarm_name         = "${local.name}-${each.key}"
  namespace          = each.value.namespace
  metric_name        = each.value.metric_name
  statistic          = try(each.value.statistic, "Average")
  threshold          = lookup(merge(local.alarm_defaults, each.value), "threshold", 90)
  evaluation_periods = try(each.value.evaluation_periods, local.alarm_defaults.evaluation_periods)
  alarm_actions      = [aws_sns_topic.on_call.arn]
  dimensions         = try(each.value.dimensions, {})
}

resource "aws_cloudwatch_metric_alarm" "sales" {
  alarm_name          = "${local.name}-sales"
  alarm_description   = "Nothing was sold"
  namespace           = "Shop"
  metric_name         = "Quiet"
  statistic           = "Maximum"
  comparison_operator = "GreaterThanThreshold"
  period              = 300
  evaluation_periods  = 2
  threshold           = 1
  alarm_actions       = [aws_sns_topic.sales.arn]
}
