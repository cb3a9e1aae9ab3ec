resource "aws_iam_role" "app" {
  name = "services-app"

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "lambda.amazonaws.com" }
    }]
  })
}

resource "aws_iam_role_policy" "app_read" {
  name = "read"
  role = aws_iam_role.app.name

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "s3:GetObject"
      Resource = "${aws_s3_bucket.media.arn}/*"
    }]
  })
}

resource "aws_iam_user" "deployer" {
  name = "services-deployer"
}

resource "aws_iam_group" "operators" {
  name = "services-operators"
}

resource "aws_iam_policy" "push" {
  name = "services-push"

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "ecr:PutImage"
      Resource = "*"
    }]
  })
}

resource "aws_kms_key" "main" {
  description             = "Data of the services"
  deletion_window_in_days = 7
}

resource "aws_kms_alias" "purpose" {
  count = length(var.key_purposes)

  name          = "alias/services-${var.key_purposes[count.index]}"
  target_key_id = aws_kms_key.main.key_id
}

resource "aws_cognito_user_pool" "customers" {
  name = "services-customers"
}
