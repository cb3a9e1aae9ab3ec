data "aws_iam_policy_document" "lambda" {
  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["lambda.amazonaws.com"]
    }
  }
}

resource "aws_iam_role" "rebalancer" {
  name               = "kafka-rebalancer"
  assume_role_policy = data.aws_iam_policy_document.lambda.json
}

resource "aws_iam_role_policy" "rebalancer" {
  name = "offsets"
  role = aws_iam_role.rebalancer.id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid      = "Offsets"
      Effect   = "Allow"
      Action   = ["dynamodb:GetItem", "dynamodb:PutItem"]
      Resource = aws_dynamodb_table.offsets.arn
    }]
  })
}

resource "aws_lambda_function" "rebalancer" {
  function_name = "kafka-rebalancer"
  role          = aws_iam_role.rebalancer.arn
  runtime       = "python3.12"
  handler       = "rebalancer.handler"
  filename      = "${path.module}/rebalancer.zip"
  memory_size   = 256
  timeout       = 30

  environment {
    variables = {
      OFFSETS = aws_dynamodb_table.offsets.name
    }
  }
}
