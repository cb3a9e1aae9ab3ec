resource "aws_iam_role" "app" {
  name                 = "app"
  max_session_duration = local.session_hours * 3600

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid       = "Services"
        Effect    = "Allow"
        Action    = "sts:AssumeRole"
        Principal = { Service = "lambda.amazonaws.com" }
      }
    ]
  })
}

resource "aws_iam_role_policy" "app" {
  name = "read"
  role = aws_iam_role.app.id

  policy = <<-EOT
    {
      "Version": "2012-10-17",
      "Statement": [
        {
          "Sid": "Read",
          "Effect": "Allow",
          "Action": ["s3:GetObject"],
          "Resource": "*"
        }
      ]
    }
  EOT
}

resource "aws_iam_policy" "deploy" {
  name = "deploy"

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid      = "Push"
        Effect   = "Allow"
        Action   = ["ecr:PutImage"]
        Resource = "*"
      }
    ]
  })
}

resource "aws_iam_role_policy_attachment" "deploy" {
  role       = aws_iam_role.app.name
  policy_arn = aws_iam_policy.deploy.arn
}

resource "aws_kms_key" "main" {
  description             = "Data of the shop"
  deletion_window_in_days = 7
  enable_key_rotation     = false
}
