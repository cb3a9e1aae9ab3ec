module "duty" {
  source = "./vendor/alerting"

  name  = "platform-duty"
  topic = { display_name = "Platform duty" }
  tags  = local.tags
}

module "audit" {
  source = "./vendor/alerting"

  name      = "audit"
  retention = 1209600
}

resource "aws_iam_role" "deploy" {
  name                 = "deploy"
  max_session_duration = lookup(var.session_seconds, var.environment, 3600)
  tags                 = local.tags

  assume_role_policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { AWS = "arn:aws:iam::123456789012:root" } }]
  })
}
