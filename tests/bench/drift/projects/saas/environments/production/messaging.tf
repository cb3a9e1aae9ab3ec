resource "aws_sqs_queue" "ingest" {
  name                       = "${local.prefix}-ingest"
  visibility_timeout_seconds = tonumber(lookup(var.queue_settings, "visibility", "30"))
  receive_wait_time_seconds  = tonumber(try(var.queue_settings["wait"], "0"))

  redrive_policy = jsonencode({
    deadLetterTargetArn = aws_sqs_queue.parking.arn
    maxReceiveCount     = local.settings.retry_attempts
  })
}

resource "aws_sqs_queue" "parking" {
  name = "${local.prefix}-parking"
}

resource "aws_sqs_queue" "mail" {
  name                      = "${local.prefix}-mail"
  receive_wait_time_seconds = local.settings.receive_wait
}

resource "aws_sqs_queue" "sms" {
  name                      = "${local.prefix}-sms"
  receive_wait_time_seconds = local.settings.receive_wait
}

resource "aws_sns_topic" "alerts" {
  name         = "${local.prefix}-alerts"
  display_name = "${local.product} alerts"
}

resource "aws_sns_topic" "status" {
  name         = "${local.prefix}-status"
  display_name = "${local.product} status"
}

resource "aws_cloudwatch_event_rule" "schedule" {
  for_each = local.schedules

  name                = "${local.prefix}-${each.key}"
  schedule_expression = each.value.expression
  state               = each.value.enabled ? "ENABLED" : "DISABLED"
}

resource "aws_cloudwatch_event_target" "schedule" {
  for_each = local.schedules

  rule      = aws_cloudwatch_event_rule.schedule[each.key].name
  target_id = "queue"
  arn       = aws_sqs_queue.mail.arn
}

resource "aws_ssm_parameter" "log_level" {
  name  = "/ledgerly/log-level"
  type  = "String"
  value = var.log_level
}

resource "aws_ssm_parameter" "banner" {
  name        = "/ledgerly/banner"
  description = "What customers read on top of each page"
  type        = "String"
  value       = "Welcome"
}

resource "aws_cloudwatch_log_group" "api" {
  name              = "/ledgerly/api"
  retention_in_days = local.settings.api_retention
}

resource "aws_cloudwatch_log_group" "import" {
  name              = "/ledgerly/import"
  retention_in_days = 30
}

resource "aws_cloudwatch_metric_alarm" "api_errors" {
  alarm_name          = "${local.prefix}-api-errors"
  namespace           = "Ledgerly"
  metric_name         = "ApiErrors"
  statistic           = "Sum"
  comparison_operator = "GreaterThanThreshold"
  period              = 60
  evaluation_periods  = 2
  threshold           = var.error_threshold
}

resource "aws_cloudwatch_metric_alarm" "import_errors" {
  alarm_name          = "${local.prefix}-import-errors"
  namespace           = "Ledgerly"
  metric_name         = "ImportErrors"
  statistic           = "Sum"
  comparison_operator = "GreaterThanThreshold"
  period              = 60
  evaluation_periods  = 2
  threshold           = var.error_threshold
}

resource "aws_cloudwatch_event_rule" "signups" {
  name          = "${local.prefix}-signups"
  state         = "ENABLED"
  event_pattern = jsonencode({ source = ["web", "mobile"], detail-type = ["Signup"] })
}
