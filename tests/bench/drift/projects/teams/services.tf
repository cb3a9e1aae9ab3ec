module "service" {
  source   = "./modules/service"
  for_each = local.services

  name        = each.key
  description = lookup(each.value, "about", "Service ${each.key}")
  log_days    = try(each.value.log_days, local.defaults.tiers[each.value.tier].log_days)
  function    = merge(local.defaults.function, try(each.value.function, {}))
  access      = try(each.value.access, [])
  tags        = merge(local.tags, { Owner = local.owners[each.value.team].owner })
}

resource "aws_ssm_parameter" "this" {
  for_each = local.parameters

  name  = each.key
  type  = "String"
  value = each.value
  tags  = local.tags
}

resource "aws_cloudwatch_event_rule" "schedule" {
  for_each = local.schedules

  name                = "${each.key}-schedule"
  schedule_expression = each.value.rate
  state               = each.value.paused ? "DISABLED" : "ENABLED"
}

resource "aws_cloudwatch_event_target" "schedule" {
  for_each = local.schedules

  rule      = aws_cloudwatch_event_rule.schedule[each.key].name
  target_id = each.key
  arn       = module.service[each.key].function_arn
}

resource "aws_lambda_permission" "schedule" {
  for_each = local.schedules

  statement_id  = "schedule"
  action        = "lambda:InvokeFunction"
  function_name = module.service[each.key].function_name
  principal     = "events.amazonaws.com"
  source_arn    = aws_cloudwatch_event_rule.schedule[each.key].arn
}

resource "aws_cloudwatch_metric_alarm" "this" {
  for_each = local.alarms

  alarm_name          = each.key
  alarm_description   = lookup(each.value, "about", "See the runbook of ${each.key}")
  namespace           = "Services"
  metric_name         = each.value.metric
  comparison_operator = "GreaterThanThreshold"
  statistic           = each.value.statistic
  period              = each.value.period
  evaluation_periods  = coalesce(try(each.value.periods, null), local.defaults.tiers[each.value.tier].alarm_periods)
  threshold           = lookup(each.value, "threshold", 1)
  alarm_actions       = [module.duty.topic_arn]
}
