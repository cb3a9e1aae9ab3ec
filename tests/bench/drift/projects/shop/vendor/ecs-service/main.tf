variable "create" {
  type    = bool
  default = true
}

variable "name" {
  type = string
}

variable "cluster" {
  type = string
}

variable "desired_count" {
  type    = number
  default = 1
}

variable "container_definitions" {
  type    = any
  default = {}
}

variable "subnet_ids" {
  type = list(string)
}

variable "enable_autoscaling" {
  type    = bool
  default = false
}

variable "autoscaling_min_capacity" {
  type    = number
  default = 1
}

variable "autoscaling_max_capacity" {
  type    = number
  default = 10
}

variable "create_cloudwatch_log_group" {
  type    = bool
  default = true
}

variable "cloudwatch_log_group_retention_in_days" {
  type    = number
  default = 30
}

variable "tags" {
  type    = map(string)
  default = {}
}

resource "aws_cloudwatch_log_group" "this" {
  count = var.create && var.create_cloudwatch_log_group ? 1 : 0

  name              = "/aws/ecs/${var.name}"
  retention_in_days = var.cloudwatch_log_group_retention_in_days
  tags              = var.tags
}

resource "aws_ecs_task_definition" "this" {
  count = var.create ? 1 : 0

  family                   = var.name
  requires_compatibilities = ["FARGATE"]
  network_mode             = "awsvpc"
  cpu                      = 256
  memory                   = 512
  container_definitions = jsonencode([for name, container in var.container_definitions : {
    name      = name
    image     = container.image
    essential = try(container.essential, true)
  }])
}

resource "aws_ecs_service" "this" {
  count = var.create ? 1 : 0

  name            = var.name
  cluster         = var.cluster
  task_definition = aws_ecs_task_definition.this[0].arn
  desired_count   = var.desired_count
  launch_type     = "FARGATE"

  network_configuration {
    subnets = var.subnet_ids
  }
}

resource "aws_appautoscaling_target" "this" {
  count = var.create && var.enable_autoscaling ? 1 : 0

  min_capacity       = min(var.autoscaling_min_capacity, var.desired_count)
  max_capacity       = max(var.autoscaling_max_capacity, var.desired_count)
  resource_id        = "service/${var.cluster}/${aws_ecs_service.this[0].name}"
  scalable_dimension = "ecs:service:DesiredCount"
  service_namespace  = "ecs"
}
