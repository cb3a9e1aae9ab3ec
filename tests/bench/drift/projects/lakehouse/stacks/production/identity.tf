resource "aws_iam_role" "service" {
  for_each = {
    lambda   = { hours = 1 }
    states   = { hours = 1 }
    firehose = {}
  }

  name                 = "${local.prefix}-${each.key}"
  max_session_duration = 3600 * lookup(each.value, "hours", 1)
  assume_role_policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "${each.key}.amazonaws.com" } }]
  })
}

resource "aws_iam_role_policy" "lambda" {
  name = "access"
  role = aws_iam_role.service["lambda"].name
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      { Sid = "Read", Effect = "Allow", Action = ["s3:GetObject", "s3:ListBucket", "s3:PutObjectAcl"], Resource = "*" },
      { Sid = "Queues", Effect = "Allow", Action = ["sqs:ReceiveMessage", "sqs:DeleteMessage"], Resource = "*" },
    ]
  })
}

resource "aws_iam_role" "analyst" {
  name                 = "${local.prefix}-analyst"
  description          = "Who reads the lake"
  max_session_duration = 3600
  assume_role_policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { AWS = "arn:aws:iam::123456789012:root" } }]
  })
}

resource "aws_iam_role_policy_attachment" "analyst" {
  for_each = {
    query   = "arn:aws:iam::aws:policy/AmazonAthenaFullAccess"
    storage = "arn:aws:iam::aws:policy/AmazonS3FullAccess"
  }

  role       = aws_iam_role.analyst.name
  policy_arn = each.value
}
