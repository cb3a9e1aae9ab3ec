resource "aws_lambda_function" "this" {
  function_name                  = var.name
  role                           = var.role_arn
  runtime                        = "python3.12"
  handler                        = "main.handler"
  filename                       = "${path.module}/code.zip"
  memory_size                    = var.memory
  timeout                        = var.timeout
  reserved_concurrent_executions = var.concurrency

  dynamic "environment" {
    for_each = length(var.environment) > 0 ? [var.environment] : []

    content {
      variables = environment.value
    }
  }
}

resource "aws_cloudwatch_log_group" "this" {
  name              = "/aws/lambda/${var.name}"
  retention_in_days = 14
}
