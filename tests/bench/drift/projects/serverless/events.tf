locals {
  rules = {
    booked    = { pattern = { source = ["clinic.book"], detail-type = ["Booked", "Moved"] } }
    cancelled = { pattern = { source = ["clinic.cancel"] } }
  }

  schedules = {
    report  = { function = "report", expression = "cron(0 5 1 * ? *)" }
    remind  = { function = "remind", expression = "rate(15 minutes)" }
    cleanup = { function = "cancel", expression = "rate(1 day)", description = "Frees slots that nobody confirmed" }
  }
}

resource "aws_cloudwatch_event_bus" "this" {
  name = var.name
}

resource "aws_cloudwatch_event_rule" "this" {
  for_each = local.rules

  name           = "${var.name}-${each.key}"
  event_bus_name = aws_cloudwatch_event_bus.this.name
  event_pattern  = jsonencode(each.value.pattern)
}

resource "aws_cloudwatch_event_target" "this" {
  for_each = local.rules

  rule           = aws_cloudwatch_event_rule.this[each.key].name
  event_bus_name = aws_cloudwatch_event_bus.this.name
  target_id      = "reminders"
  arn            = aws_sqs_queue.reminders.arn
}

resource "aws_sqs_queue" "reminders" {
  name                       = "${var.name}-reminders"
  message_retention_seconds  = var.reminders.keep_days * 24 * 60 * 60
  visibility_timeout_seconds = coalesce(var.reminders.visibility, 6 * local.functions.remind.timeout)
  redrive_policy             = jsonencode({ deadLetterTargetArn = aws_sqs_queue.dead.arn, maxReceiveCount = var.reminders.tries })
  tags                       = var.tags
}

resource "aws_sqs_queue" "dead" {
  name = "${var.name}-dead"
  tags = var.tags
}

resource "aws_iam_role" "scheduler" {
  name = "${var.name}-scheduler"
  tags = var.tags

  assume_role_policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "scheduler.amazonaws.com" } }]
  })
}

resource "aws_iam_role_policy" "scheduler" {
  name = "invoke"
  role = aws_iam_role.scheduler.name

  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = ["lambda:InvokeFunction"], Resource = "arn:aws:lambda:eu-west-1:*:function:${var.name}-*" }]
  })
}

resource "aws_scheduler_schedule_group" "this" {
  name = var.name
}

resource "aws_scheduler_schedule" "this" {
  for_each = local.schedules

  name                         = "${var.name}-${each.key}"
  group_name                   = aws_scheduler_schedule_group.this.name
  description                  = try(each.value.description, "Runs ${each.value.function}")
  schedule_expression          = each.value.expression
  schedule_expression_timezone = lookup(each.value, "timezone", "Europe/Dublin")
  state                        = lookup(each.value, "state", "ENABLED")

  flexible_time_window {
    mode = "OFF"
  }

  target {
    arn      = module.function[each.value.function].arn
    role_arn = aws_iam_role.scheduler.arn
  }
}
