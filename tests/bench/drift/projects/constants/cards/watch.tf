resource "aws_cloudwatch_metric_alarm" "this" {
  for_each = var.alarms

  alarm_name          = "${local.stack}-${each.key}"
  alarm_description   = lookup(each.value, "about", "Cards: ${each.key}")
  namespace           = "Cards"
  metric_name         = each.value.metric
  comparison_operator = "GreaterThanThreshold"
  threshold           = each.value.threshold
  statistic           = lookup(each.value, "statistic", module.org.alarm.statistic)
  period              = try(each.value.period, module.org.alarm.period)
  evaluation_periods  = try(each.value.periods, module.org.alarm.periods)
  alarm_actions       = [data.aws_ssm_parameter.alarms.insecure_value]
}

resource "aws_cloudwatch_dashboard" "this" {
  dashboard_name = local.stack

  dashboard_body = jsonencode({
    widgets = [
      { type = "metric", x = 0, y = 0, width = 12, height = 6, properties = { title = "Cards", region = "eu-west-1", metrics = [["Cards", "Declined"], ["Cards", "FraudScore"]] } },
      { type = "text", x = 12, y = 0, width = 12, height = 6, properties = { markdown = "Ask ${module.org.owners.cards.Owner} first" } },
    ]
  })
}
