resource "aws_lambda_function" "f" {
  for_each = toset(["x"])
  provider = aws.west

  function_name = "f" # the name
  timeout       = 30  # seconds

  lifecycle {
    ignore_changes = [filename]
  }
}

resource "aws_lambda_function" "g" {}

resource "aws_lambda_function" "h" {
  environment {
    variables = {}
  }
}

resource "aws_lambda_function" "i" { timeout = 3 }
