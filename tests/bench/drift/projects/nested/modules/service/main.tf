module "jobs" {
  source = "../queue"

  name       = "${var.name}-jobs"
  visibility = var.timeout * 6
  log_days   = var.log_days
  tags       = var.tags
}

resource "aws_iam_role" "this" {
  name                 = var.name
  max_session_duration = 3600

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "lambda.amazonaws.com" }
    }]
  })
}

resource "aws_lambda_function" "this" {
  function_name = var.name
  role          = aws_iam_role.this.arn
  runtime       = "python3.12"
  handler       = "main.handler"
  filename      = "${path.module}/code.zip"
  memory_size   = var.memory
  timeout       = 15

  environment {
    variables = {
      QUEUE = "${var.name}-jobs"
      LEVEL = var.level
    }
  }
}
