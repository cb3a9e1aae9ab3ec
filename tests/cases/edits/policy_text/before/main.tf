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
          "Principal": { "AWS": "arn:aws:iam::${var.account}:root" },
          "Condition": {
            "Bool": { "aws:MultiFactorAuthPresent": "false" }
          }
        },
        {
          "Sid": "Old",
          "Effect": "Allow",
          "Action": ["sts:TagSession", "sts:SetSourceIdentity"],
          "Principal": { "Service": "ec2.amazonaws.com" }
        }
      ]
    }
  EOT
}

resource "aws_iam_policy" "encoded" {
  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [local.extra]
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
      Resource  = "arn:aws:sqs:eu-west-1:${var.account}:*"
      }, {
      Sid       = "Gone"
      Effect    = "Allow"
      Principal = "*"
      Action    = "sqs:ReceiveMessage"
      Resource  = "*"
    }]
  })
}

resource "aws_ecs_task_definition" "t" {
  container_definitions = jsonencode([
    { name = "web", image = "shop/web:1", essential = true },
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
    }]
  })
}
