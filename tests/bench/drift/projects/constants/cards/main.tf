module "org" {
  source = "../vendor/org"
}

data "aws_ssm_parameter" "alarms" {
  name = "/org/ledger/alarms"
}

locals {
  stack = "cards"
  tags  = merge(module.org.tags, lookup(module.org.owners, local.stack, {}), { Stack = local.stack })
}

resource "aws_cloudwatch_log_group" "this" {
  for_each = var.services

  name              = "/${local.stack}/${each.key}"
  retention_in_days = module.org.log_days.default
  tags              = local.tags
}

resource "aws_ecs_cluster" "this" {
  name = local.stack
  tags = local.tags
}

resource "aws_ecs_task_definition" "this" {
  for_each = var.services

  family                   = "${local.stack}-${each.key}"
  requires_compatibilities = ["FARGATE"]
  network_mode             = "awsvpc"
  cpu                      = 256
  memory                   = 512
  container_definitions    = jsonencode([{ name = each.key, image = each.value.image, essential = true }])
}

resource "aws_ecs_service" "this" {
  for_each = var.services

  name            = each.key
  cluster         = aws_ecs_cluster.this.arn
  task_definition = aws_ecs_task_definition.this[each.key].arn
  desired_count   = each.value.count
  launch_type     = "FARGATE"

  network_configuration {
    subnets = [aws_subnet.cards.id]
  }
}

resource "aws_secretsmanager_secret" "scheme" {
  name        = "${local.stack}/scheme"
  description = "Key of the card scheme"
  tags        = local.tags
}

resource "aws_dynamodb_table" "tokens" {
  name           = "${local.stack}-tokens"
  hash_key       = "token"
  read_capacity  = 10
  write_capacity = 5
  tags           = local.tags

  attribute {
    name = "token"
    type = "S"
  }
}

resource "aws_sqs_queue" "disputes" {
  name                       = "${local.stack}-disputes"
  visibility_timeout_seconds = module.org.queue.visibility
  message_retention_seconds  = module.org.queue.keep_days * 86400
  tags                       = local.tags
}

resource "aws_sqs_queue" "chargebacks" {
  name                       = "${local.stack}-chargebacks"
  visibility_timeout_seconds = module.org.queue.visibility
  message_retention_seconds  = module.org.queue.keep_days * 86400
  tags                       = local.tags
}
