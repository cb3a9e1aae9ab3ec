resource "aws_lambda_function" "worker" {
  function_name                  = "worker"
  role                           = aws_iam_role.app.arn
  runtime                        = "python3.12"
  handler                        = "main.handler"
  filename                       = "${path.module}/code.zip"
  memory_size                    = var.worker_memory
  timeout                        = var.worker_timeout
  reserved_concurrent_executions = 5

  environment {
    variables = {
      LOG_LEVEL = "info"
      REGION    = "eu-west-1"
    }
  }
}

# As small as Lambda has it.
resource "aws_lambda_function" "cron" {
  function_name = "cron"
  role          = aws_iam_role.app.arn
  runtime       = "python3.12"
  handler       = "main.handler"
  filename      = "${path.module}/code.zip"
}
