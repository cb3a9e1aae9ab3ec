locals {
  stage = "staging"
}

module "web" {
  source = "../../modules/app"

  stage     = local.stage
  name      = "web"
  instances = var.web
}

module "api" {
  source = "../../modules/app"

  stage = local.stage
  name  = "api"
  size  = "t3.medium"

  instances = {
    min     = 1
    max     = 4
    desired = 2
  }

  error_limit = 500
}

module "store" {
  source = "../../modules/store"

  stage = local.stage
  buckets = {
    uploads = "web"
    reports = "api"
  }
}

resource "aws_iam_role" "operator" {
  name                 = "staging-operator"
  max_session_duration = var.session_hours * 3600

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "ec2.amazonaws.com" }
    }]
  })
}

# Only here: production has its own.
resource "aws_cloudwatch_log_group" "debug" {
  name              = "/staging/debug"
  retention_in_days = 3
}
