# Every night EventBridge starts the report.
resource "aws_iam_role" "report" {
  name = "shop-report"

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "lambda.amazonaws.com" }
    }]
  })
}

resource "aws_lambda_function" "report" {
  function_name = "shop-report"
  role          = aws_iam_role.report.arn
  runtime       = "python3.12"
  handler       = "report.handler"
  filename      = "${path.module}/report.zip"
  memory_size   = 256
  timeout       = 60

  environment {
    variables = {
      LOG_LEVEL = aws_ssm_parameter.log_level.value
    }
  }
}

resource "aws_cloudwatch_event_rule" "nightly" {
  name                = "shop-nightly"
  description         = "Starts the nightly report."
  schedule_expression = "cron(0 2 * * ? *)"
}

# Without target_id and statement_id the provider invents both.
resource "aws_cloudwatch_event_target" "nightly" {
  rule = aws_cloudwatch_event_rule.nightly.name
  arn  = aws_lambda_function.report.arn
}

resource "aws_lambda_permission" "nightly" {
  action        = "lambda:InvokeFunction"
  function_name = aws_lambda_function.report.function_name
  principal     = "events.amazonaws.com"
  source_arn    = aws_cloudwatch_event_rule.nightly.arn
}

resource "aws_ssm_parameter" "log_level" {
  name  = "/shop/report/log-level"
  type  = "String"
  value = "info"
}

resource "aws_cloudwatch_log_group" "report" {
  name              = "/aws/lambda/shop-report"
  retention_in_days = 30
}
