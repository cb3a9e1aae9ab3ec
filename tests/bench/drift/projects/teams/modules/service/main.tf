resource "aws_cloudwatch_log_group" "this" {
  name              = "/services/${var.name}"
  retention_in_days = var.log_days
  tags              = var.tags
}

resource "aws_iam_role" "this" {
  name        = "service-${var.name}"
  description = var.description
  tags        = var.tags

  assume_role_policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "lambda.amazonaws.com" } }]
  })
}

resource "aws_iam_role_policy" "this" {
  count = length(var.access) > 0 ? 1 : 0

  name = "service"
  role = aws_iam_role.this.name
  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [for entry in var.access : { Sid = entry.sid, Effect = "Allow", Action = entry.actions, Resource = entry.resources }]
  })
}

resource "aws_lambda_function" "this" {
  function_name                  = var.name
  role                           = aws_iam_role.this.arn
  runtime                        = var.function.runtime
  handler                        = "service.handler"
  filename                       = "${path.root}/code/service.zip"
  memory_size                    = var.function.memory
  timeout                        = var.function.timeout
  reserved_concurrent_executions = var.function.concurrency
  tags                           = var.tags

  dynamic "environment" {
    for_each = length(var.function.environment) > 0 ? [var.function.environment] : []

    content {
      variables = environment.value
    }
  }
}
