variable "account" {
  type    = string
  default = "123456789012"
}

locals {
  extra = {
    Sid      = "Extra"
    Effect   = "Allow"
    Action   = "s3:List*"
    Resource = "*"
  }
}

resource "aws_iam_role" "heredoc" {
  path = "/${var.account}/"

  assume_role_policy = <<-EOT
    {
      "Version": "2012-10-17",
      "Statement": [
        {
          "Sid": "People",
          "Effect": "Allow",
          "Action": "sts:AssumeRole",
          "Principal": { "AWS": "arn:aws:iam::210987654321:root" },
          "Condition": {
            "Bool": { "aws:MultiFactorAuthPresent": "true" },
            "StringEquals": { "aws:username": "$${aws:username}" }
          }
        },
        {
          "Sid": "Old",
          "Effect": "Allow",
          "Action": ["sts:SetSourceIdentity", "sts:AssumeRole"],
          "Principal": { "Service": "ec2.amazonaws.com" }
        },
        {
          "Sid": "New",
          "Effect": "Deny",
          "Principal": "*",
          "Action": "sts:*"
        }
      ]
    }
  EOT
}

resource "aws_iam_policy" "encoded" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      local.extra,
      {
        Sid      = "More"
        Effect   = "Allow"
        Action   = ["sqs:ListQueues"]
        Resource = "*"
      },
    ]
  })
}

resource "aws_sqs_queue" "inline" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "Send"
      Effect    = "Allow"
      Principal = { AWS = var.account }
      Action    = ["sqs:SendMessage"]
      Resource  = "arn:aws:sqs:eu-west-1:${var.account}:jobs"
    }]
  })
}

resource "aws_ecs_task_definition" "t" {
  container_definitions = jsonencode([
    { name = "web", image = "shop/web:2", essential = true },
    { name = "log", image = "log:1", essential = false },
  ])
}

resource "aws_sqs_queue" "one" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "Send"
      Effect    = "Allow"
      Principal = "*"
      Action    = "sqs:SendMessage"
      Resource  = "*"
      }, {
      Sid       = "Two"
      Effect    = "Allow"
      Principal = "*"
      Action    = "sqs:GetQueueUrl"
      Resource  = "*"
    }]
  })
}
