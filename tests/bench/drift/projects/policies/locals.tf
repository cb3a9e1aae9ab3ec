locals {
  root = "arn:aws:iam::${var.account}:root"

  deny_insecure = {
    Sid       = "TlsOnly"
    Effect    = "Deny"
    Principal = "*"
    Action    = "s3:*"
    Resource  = "arn:aws:s3:::policies-data/*"
    Condition = { Bool = { "aws:SecureTransport" = "false" } }
  }

  statements = [
    {
      Sid      = "Describe"
      Effect   = "Allow"
      Action   = ["ec2:DescribeInstances"]
      Resource = "*"
    },
    {
      Sid      = "Logs"
      Effect   = "Allow"
      Action   = ["logs:GetLogEvents", "logs:FilterLogEvents"]
      Resource = "arn:aws:logs:*:${var.account}:*"
    },
  ]

  session_seconds = 3600
}
