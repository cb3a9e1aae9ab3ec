resource "aws_iam_role" "function" {
  name                 = "${local.prefix}-function"
  max_session_duration = local.settings.session_hours * 3600
  assume_role_policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "lambda.amazonaws.com" } }]
  })
}

resource "aws_iam_role_policy" "function" {
  name = "access"
  role = aws_iam_role.function.name
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      { Effect = "Allow", Action = ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Scan"], Resource = "*" },
      { Effect = "Allow", Action = ["sqs:SendMessage"], Resource = "*" },
    ]
  })
}

resource "aws_iam_role" "support" {
  name                 = "${local.prefix}-support"
  max_session_duration = local.settings.session_hours * 3600
  assume_role_policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { AWS = "arn:aws:iam::123456789012:root" } }]
  })
}

resource "aws_iam_role_policy_attachment" "support" {
  for_each = toset([
    "arn:aws:iam::aws:policy/ReadOnlyAccess",
    "arn:aws:iam::aws:policy/AmazonSQSFullAccess",
  ])

  role       = aws_iam_role.support.name
  policy_arn = each.value
}

resource "aws_iam_role" "migration" {
  name = "${local.prefix}-migration"
  assume_role_policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "ec2.amazonaws.com" } }]
  })
}

resource "aws_iam_role_policy" "migration" {
  name = "copy"
  role = aws_iam_role.migration.name
  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = "s3:*", Resource = "*" }]
  })
}

resource "aws_iam_role_policy_attachment" "migration" {
  role       = aws_iam_role.migration.name
  policy_arn = "arn:aws:iam::aws:policy/AmazonDynamoDBFullAccess"
}
