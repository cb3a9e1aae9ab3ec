resource "aws_lambda_function" "f" {
  for_each = toset(["x"])
  provider = aws.west

  function_name = "f" # the name
  timeout       = 30  # seconds

  reserved_concurrent_executions = 3

  lifecycle {
    ignore_changes = [filename]
  }
}

resource "aws_lambda_function" "g" {
  timeout = 3
}

resource "aws_lambda_function" "h" {
  timeout = 3

  environment {
    variables = {}
  }
}

resource "aws_lambda_function" "i" {
  timeout     = 3
  memory_size = 256
}
