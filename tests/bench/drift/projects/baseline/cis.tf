locals {
  cis = {
    root-login     = { pattern = "{ $.userIdentity.type = \"Root\" && $.eventType != \"AwsServiceEvent\" }", period = 60 }
    no-mfa         = { pattern = "{ $.eventName = \"ConsoleLogin\" && $.additionalEventData.MFAUsed != \"Yes\" }" }
    policy-changes = { pattern = "{ $.eventName = \"PutRolePolicy\" || $.eventName = \"AttachRolePolicy\" }", threshold = 5 }
    bucket-changes = { pattern = "{ $.eventSource = \"s3.amazonaws.com\" && $.eventName = \"PutBucketPolicy\" }" }
  }

  cis_period = 300
}

resource "aws_cloudwatch_log_group" "trail" {
  name              = "/baseline/trail"
  retention_in_days = try(var.retention.trail, 400)
  tags              = var.tags
}

resource "aws_cloudwatch_log_group" "audit" {
  name              = "/baseline/audit"
  retention_in_days = try(var.retention["audit"], var.retention["trail"], 400)
  tags              = var.tags
}

resource "aws_cloudwatch_log_metric_filter" "cis" {
  for_each = local.cis

  name           = each.key
  log_group_name = aws_cloudwatch_log_group.trail.name
  pattern        = each.value.pattern

  metric_transformation {
    name      = each.key
    namespace = "CIS"
    value     = "1"
  }
}

resource "aws_cloudwatch_metric_alarm" "cis" {
  for_each = local.cis

  alarm_name          = "cis-${each.key}"
  alarm_description   = "CIS AWS Foundations: ${each.key}"
  namespace           = "CIS"
  metric_name         = aws_cloudwatch_log_metric_filter.cis[each.key].metric_transformation[0].name
  statistic           = "Sum"
  comparison_operator = "GreaterThanOrEqualToThreshold"
  period              = lookup(each.value, "period", local.cis_period)
  evaluation_periods  = 1
  threshold           = try(each.value.threshold, 1)
  alarm_actions       = [aws_sns_topic.alerts.arn]
}

resource "aws_sns_topic" "alerts" {
  name         = var.alerts.name
  display_name = coalesce(var.alerts.display_name, title(replace(var.alerts.name, "-", " ")))
  tags         = var.tags
}

resource "aws_cloudwatch_event_rule" "console" {
  name = "console-logins"

  event_pattern = jsonencode({
    source        = ["aws.signin"]
    "detail-type" = ["AWS Console Sign In via CloudTrail"]
    detail        = { eventName = ["ConsoleLogin", "SwitchRole"] }
  })
}
