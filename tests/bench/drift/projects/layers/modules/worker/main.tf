resource "aws_cloudwatch_log_group" "this" {
  name              = "/workers/${var.name}"
  retention_in_days = var.log_days
  tags              = var.tags
}

resource "aws_iam_role" "this" {
  name = "worker-${var.name}"
  tags = var.tags

  assume_role_policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "lambda.amazonaws.com" } }]
  })
}

resource "aws_iam_role_policy" "this" {
  name = "tables"
  role = aws_iam_role.this.name

  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Sid = "Tables", Effect = "Allow", Action = var.actions, Resource = "*" }]
  })
}

resource "aws_lambda_function" "this" {
  function_name = var.name
  role          = aws_iam_role.this.arn
  runtime       = "python3.12"
  handler       = "main.handler"
  filename      = "${path.module}/code.zip"
  memory_size   = var.memory
  timeout       = var.timeout
  tags          = var.tags

  environment {
    variables = merge({ LOG_LEVEL = "info" }, var.environment)
  }
}

resource "aws_lambda_event_source_mapping" "this" {
  event_source_arn = var.queue.arn
  function_name    = aws_lambda_function.this.arn
  batch_size       = var.queue.batch
}

output "function_name" {
  value = aws_lambda_function.this.function_name
}
