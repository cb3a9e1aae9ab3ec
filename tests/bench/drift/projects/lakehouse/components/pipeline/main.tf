locals {
  is_scheduled = var.settings.schedule != null
}

resource "aws_sqs_queue" "inbox" {
  name                       = "${var.name}-inbox"
  visibility_timeout_seconds = var.settings.queue.visibility
  message_retention_seconds  = var.settings.queue.retention_days * 86400

  redrive_policy = jsonencode({
    deadLetterTargetArn = aws_sqs_queue.rejected.arn
    maxReceiveCount     = var.settings.queue.attempts
  })
}

resource "aws_sqs_queue" "rejected" {
  name                      = "${var.name}-rejected"
  message_retention_seconds = 1209600
}

resource "aws_lambda_function" "step" {
  function_name                  = "${var.name}-step"
  role                           = var.roles.function
  runtime                        = "python3.12"
  handler                        = "main.handler"
  filename                       = "${path.module}/code.zip"
  memory_size                    = var.settings.memory
  timeout                        = var.settings.timeout
  reserved_concurrent_executions = var.settings.concurrency

  dynamic "environment" {
    for_each = length(var.settings.environment) > 0 ? [var.settings.environment] : []

    content {
      variables = environment.value
    }
  }
}

resource "aws_cloudwatch_log_group" "step" {
  name              = "/aws/lambda/${var.name}-step"
  retention_in_days = var.settings.log_days
}

resource "aws_sfn_state_machine" "this" {
  name     = var.name
  role_arn = var.roles.machine

  definition = jsonencode({
    StartAt = "Transform"
    States = {
      Transform = {
        Type     = "Task"
        Resource = aws_lambda_function.step.arn
        Retry = [{
          ErrorEquals     = var.settings.retry.errors
          IntervalSeconds = var.settings.retry.interval
          MaxAttempts     = var.settings.retry.attempts
        }]
        End = true
      }
    }
  })
}

resource "aws_cloudwatch_event_rule" "schedule" {
  count = local.is_scheduled ? 1 : 0

  name                = "${var.name}-schedule"
  schedule_expression = var.settings.schedule
  state               = "ENABLED"
}

resource "aws_cloudwatch_event_target" "schedule" {
  count = local.is_scheduled ? 1 : 0

  rule      = aws_cloudwatch_event_rule.schedule[0].name
  target_id = "inbox"
  arn       = aws_sqs_queue.inbox.arn
}

output "inbox" {
  value = { arn = aws_sqs_queue.inbox.arn, url = aws_sqs_queue.inbox.url }
}
