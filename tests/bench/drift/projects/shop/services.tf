resource "aws_ecs_cluster" "this" {
  name = local.name
  tags = local.tags
}

module "service" {
  source   = "./vendor/ecs-service"
  for_each = local.services

  name                     = "${local.name}-${each.key}"
  cluster                  = aws_ecs_cluster.this.name
  subnet_ids               = aws_subnet.private[*].id
  desired_count            = try(each.value.desired_count, local.service_defaults.desired_count)
  enable_autoscaling       = lookup(each.value, "enable_autoscaling", true)
  autoscaling_max_capacity = coalesce(try(each.value.max, null), local.service_defaults.max)

  cloudwatch_log_group_retention_in_days = try(each.value.retention, var.retention)

  container_definitions = {
    app = { image = "shop/${each.key}:${var.image_tag}" }
  }
}

module "workers" {
  source   = "./vendor/autoscaling"
  for_each = { for name, size in var.worker_sizes : name => size if name != "spot" || var.create_spot_workers }

  name     = "${local.name}-${each.key}"
  min_size = each.value.min
  max_size = each.value.max
  subnets  = aws_subnet.private[*].id
}

resource "aws_sqs_queue" "this" {
  for_each = local.queues

  name                       = "${local.name}-${each.key}"
  visibility_timeout_seconds = try(each.value.visibility, 30)
  receive_wait_time_seconds  = coalesce(lookup(each.value, "wait", null), 20)
  tags                       = local.tags
}

resource "aws_iam_role" "task" {
  name = "${local.name}-task"
  assume_role_policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "ecs-tasks.amazonaws.com" } }]
  })
  tags = local.tags
}

module "task_policy" {
  source = "./vendor/iam-policy"

  name = "task"
  role = aws_iam_role.task.name

  statements = {
    Images = { actions = ["s3:GetObject", "s3:PutObject", "s3:DeleteObject"] }
    Queues = { actions = ["sqs:SendMessage"], resources = ["arn:aws:sqs:eu-west-1:123456789012:shop-*"] }
  }
}
