resource "aws_s3_bucket" "data" {
  bucket = "policies-data"
}

resource "aws_s3_bucket_policy" "data" {
  bucket = aws_s3_bucket.data.id
  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [local.deny_insecure]
  })
}

resource "aws_iam_role" "worker" {
  name                 = "worker"
  max_session_duration = local.session_seconds
  assume_role_policy   = data.aws_iam_policy_document.trust.json
}

resource "aws_iam_role_policy" "worker" {
  name   = "data"
  role   = aws_iam_role.worker.id
  policy = data.aws_iam_policy_document.worker.json
}

resource "aws_iam_role" "reader" {
  name = "reader"

  assume_role_policy = <<-EOT
    {
      "Version": "2012-10-17",
      "Statement": [
        {
          "Sid": "People",
          "Effect": "Allow",
          "Action": "sts:AssumeRole",
          "Principal": {
            "AWS": "arn:aws:iam::${var.account}:root"
          },
          "Condition": {
            "Bool": { "aws:MultiFactorAuthPresent": "false" }
          }
        }
      ]
    }
  EOT
}

resource "aws_iam_policy" "operate" {
  name        = "operate"
  description = "What operators do every day"

  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = concat(local.statements, [{ Sid = "Alarms", Effect = "Allow", Action = ["cloudwatch:SetAlarmState"], Resource = "*" }])
  })
}

resource "aws_iam_policy" "team" {
  for_each = var.teams

  name = "team-${each.key}"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid      = "Queues"
      Effect   = "Allow"
      Action   = each.value
      Resource = "arn:aws:sqs:*:${var.account}:${each.key}-*"
    }]
  })
}

resource "aws_iam_policy" "reports" {
  name = "reports"
  policy = templatefile("${path.module}/templates/reports.json.tftpl", {
    account = var.account
    readers = var.readers
  })
}

resource "aws_iam_role_policy" "reader" {
  name = "describe"
  role = aws_iam_role.reader.name

  policy = <<-EOT
    {
      "Version": "2012-10-17",
      "Statement": [
        {
          "Sid": "Describe",
          "Effect": "Allow",
          "Action": [
            "ec2:DescribeInstances",
            "ec2:DescribeVolumes"
          ],
          "Resource": "*"
        },
        {
          "Sid": "Metrics",
          "Effect": "Allow",
          "Action": "cloudwatch:GetMetricData",
          "Resource": "*"
        }
      ]
    }
  EOT
}

resource "aws_iam_role_policy_attachment" "reader" {
  role       = aws_iam_role.reader.name
  policy_arn = aws_iam_policy.operate.arn
}

resource "aws_sqs_queue" "events" {
  name   = "policies-events"
  policy = data.aws_iam_policy_document.events.json
}

resource "aws_sqs_queue" "audit" {
  name = "policies-audit"

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "Send"
      Effect    = "Allow"
      Principal = { AWS = local.root }
      Action    = ["sqs:SendMessage"]
      Resource  = "arn:aws:sqs:eu-west-1:${var.account}:policies-audit"
    }]
  })
}

resource "aws_kms_key" "data" {
  description             = "Data"
  deletion_window_in_days = 7
  enable_key_rotation     = false

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid       = "Root"
        Effect    = "Allow"
        Principal = { AWS = local.root }
        Action    = "kms:*"
        Resource  = "*"
      }
    ]
  })
}

resource "aws_iam_account_password_policy" "strict" {
  minimum_password_length        = 12
  require_symbols                = true
  require_numbers                = true
  require_uppercase_characters   = true
  require_lowercase_characters   = true
  allow_users_to_change_password = true
}
