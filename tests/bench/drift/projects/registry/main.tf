locals {
  event_queues = {
    clicks = { visibility = 30 }
    views = {
      visibility = 45
      settings   = { delay_seconds = 10 }
    }
  }

  tables = {
    carts = {
      read  = 10
      write = 5
    }
    sessions = { ttl = "expires" }
  }
}

module "orders" {
  source = "./vendor/queue"

  name                       = "registry-orders"
  visibility_timeout_seconds = var.orders_visibility

  create_dlq     = true
  redrive_policy = { max_receive_count = 3 }
  dlq_tags       = { alarm = "yes" }

  tags = var.tags
}

module "mail" {
  source = "./vendor/queue"

  name     = "registry-mail"
  settings = { receive_wait_time_seconds = 5 }
}

module "events" {
  source   = "./vendor/queue"
  for_each = local.event_queues

  name                       = "registry-${each.key}"
  visibility_timeout_seconds = each.value.visibility
  settings                   = try(each.value.settings, {})
}

module "function" {
  source   = "./vendor/function"
  for_each = var.functions

  function_name         = "registry-${each.key}"
  lambda_role           = module.lambda_role.arn
  memory_size           = try(each.value.memory, 128)
  timeout               = lookup(each.value, "timeout", 3)
  environment_variables = merge({ STAGE = "test" }, lookup(each.value, "environment", {}))

  cloudwatch_logs_retention_in_days = try(each.value.days, 30)
}

module "lambda_role" {
  source = "./vendor/role"

  name                  = "registry-lambda"
  trusted_role_services = ["lambda.amazonaws.com"]
  max_session_duration  = 3600

  inline_policy_statements = [
    {
      sid       = "Queues"
      actions   = ["sqs:SendMessage", "sqs:ReceiveMessage"]
      resources = ["arn:aws:sqs:*:*:registry-*"]
    },
    {
      sid     = "Logs"
      actions = ["logs:PutLogEvents"]
    },
  ]

  policies = {
    basic = "arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"
    xray  = "arn:aws:iam::aws:policy/AWSXRayDaemonWriteAccess"
  }
}

module "operator_role" {
  source = "./vendor/role"

  name                  = "registry-operator"
  trusted_role_services = ["ec2.amazonaws.com"]
  tags                  = merge(var.tags, { owner = "ops" })
}

module "table" {
  source   = "./vendor/table"
  for_each = local.tables

  name           = "registry-${each.key}"
  hash_key       = "id"
  read_capacity  = lookup(each.value, "read", 5)
  write_capacity = lookup(each.value, "write", 5)

  ttl_enabled        = can(each.value.ttl)
  ttl_attribute_name = try(each.value.ttl, "")

  attributes = [{ name = "id", type = "S" }]
}

resource "aws_vpc" "main" {
  cidr_block = "10.0.0.0/16"
}

module "api_sg" {
  source = "./vendor/security-group"

  name   = "registry-api"
  vpc_id = aws_vpc.main.id

  ingress_with_cidr_blocks = [
    {
      rule        = "https"
      description = "clients"
      cidr_blocks = "10.0.0.0/16,10.1.0.0/16"
    },
    {
      from_port   = 9100
      to_port     = 9100
      protocol    = "tcp"
      description = "metrics"
    },
  ]
}

module "db_sg" {
  source = "./vendor/security-group"

  name        = "registry-db"
  description = "Databases"
  vpc_id      = aws_vpc.main.id

  ingress_with_cidr_blocks = [
    {
      rule        = "postgresql"
      description = "apps"
      cidr_blocks = "10.0.4.0/24"
    },
  ]
}
