resource "aws_iam_role" "function" {
  name = "${local.name}-function"
  assume_role_policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "lambda.amazonaws.com" } }]
  })
  tags = local.tags
}

resource "aws_lambda_function" "this" {
  for_each = local.functions

  function_name                  = "${local.name}-${each.key}"
  role                           = aws_iam_role.function.arn
  runtime                        = "python3.12"
  handler                        = "main.handler"
  filename                       = "${path.module}/data/code.zip"
  memory_size                    = try(each.value.memory, 128)
  timeout                        = coalesce(try(each.value.timeout, null), 30)
  reserved_concurrent_executions = lookup(each.value, "concurrency", -1)
  tags                           = local.tags

  dynamic "environment" {
    for_each = try([each.value.environment], [])

    content {
      variables = environment.value
    }
  }
}

resource "aws_sqs_queue" "this" {
  for_each = var.queues

  name                       = "${local.name}-${each.key}"
  visibility_timeout_seconds = each.value.visibility
  receive_wait_time_seconds  = each.value.wait
  tags                       = local.tags

  redrive_policy = each.value.attempts == null ? null : jsonencode({
    deadLetterTargetArn = aws_sqs_queue.dead.arn
    maxReceiveCount     = each.value.attempts
  })
}

resource "aws_sqs_queue" "dead" {
  name                      = "${local.name}-dead"
  message_retention_seconds = 1209600
  tags                      = local.tags
}

resource "aws_sqs_queue_policy" "findings" {
  queue_url = aws_sqs_queue.this["findings"].id
  policy    = templatefile("${path.module}/templates/queue-policy.json.tftpl", { queue = aws_sqs_queue.this["findings"].arn, services = ["events.amazonaws.com", "sns.amazonaws.com"] })
}

resource "aws_cloudwatch_event_rule" "changes" {
  name          = "${local.name}-changes"
  state         = "ENABLED"
  event_pattern = jsonencode({ source = ["aws.ec2", "aws.vpn"], detail-type = ["AWS API Call via CloudTrail"] })
}

resource "aws_cloudwatch_event_target" "changes" {
  rule      = aws_cloudwatch_event_rule.changes.name
  target_id = "changes"
  arn       = aws_sqs_queue.this["changes"].arn
}

resource "aws_cloudwatch_event_rule" "findings" {
  name          = "${local.name}-findings"
  description   = "The scanner found something"
  state         = "ENABLED"
  event_pattern = jsonencode({ source = ["aws.guardduty", "aws.securityhub"] })
}

resource "aws_cloudwatch_event_target" "findings" {
  for_each = { queue = aws_sqs_queue.this["findings"].arn, quarantine = aws_lambda_function.this["quarantine"].arn }

  rule      = aws_cloudwatch_event_rule.findings.name
  target_id = each.key
  arn       = each.value
}

resource "aws_cloudwatch_event_rule" "report" {
  name                = "${local.name}-report"
  schedule_expression = local.settings.report_rate
  state               = lookup(local.settings, "report_state", "ENABLED")
}

resource "aws_cloudwatch_event_target" "report" {
  rule      = aws_cloudwatch_event_rule.report.name
  target_id = "report"
  arn       = aws_lambda_function.this["report"].arn
}

resource "aws_lambda_permission" "report" {
  statement_id  = "schedule"
  action        = "lambda:InvokeFunction"
  function_name = aws_lambda_function.this["report"].function_name
  principal     = "events.amazonaws.com"
  source_arn    = aws_cloudwatch_event_rule.report.arn
}

resource "aws_sqs_queue" "abuse" {
  name                       = "${local.name}-abuse"
  visibility_timeout_seconds = 45
  tags                       = local.tags

  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.dead.arn, maxReceiveCount = 8 })
}
