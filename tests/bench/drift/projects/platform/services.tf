resource "aws_ecs_cluster" "this" {
  name = local.name
}

resource "aws_lb" "this" {
  name            = local.name
  internal        = true
  idle_timeout    = var.idle_timeout
  security_groups = [module.alb_sg.security_group_id]
  subnets         = aws_subnet.private[*].id
}

resource "aws_lb_target_group" "service" {
  for_each = local.services

  name                 = "${local.name}-${each.key}"
  port                 = each.value.port
  protocol             = "HTTP"
  target_type          = "ip"
  vpc_id               = aws_vpc.this.id
  deregistration_delay = var.deregistration_delay

  health_check {
    path     = try(each.value.health_check.path, local.defaults.health_check.path)
    interval = try(each.value.health_check.interval, local.defaults.health_check.interval)
  }
}

resource "aws_lb_listener" "http" {
  load_balancer_arn = aws_lb.this.arn
  port              = 80
  protocol          = "HTTP"

  default_action {
    type             = "forward"
    target_group_arn = aws_lb_target_group.service["web"].arn
  }
}

# The old front end, until the last customer has moved.
resource "aws_lb_target_group" "legacy" {
  name        = "${local.name}-legacy"
  port        = 8000
  protocol    = "HTTP"
  target_type = "ip"
  vpc_id      = aws_vpc.this.id
}

resource "aws_lb_listener_rule" "legacy" {
  listener_arn = aws_lb_listener.http.arn
  priority     = 90

  action {
    type             = "forward"
    target_group_arn = aws_lb_target_group.legacy.arn
  }

  condition {
    path_pattern {
      values = ["/legacy/*"]
    }
  }
}

module "service" {
  source   = "./vendor/ecs-service"
  for_each = local.services

  name        = "${local.name}-${each.key}"
  cluster_arn = aws_ecs_cluster.this.arn
  subnet_ids  = aws_subnet.private[*].id

  desired_count = lookup(merge(local.defaults, each.value), "desired_count", 1)

  cloudwatch_log_group_retention_in_days = try(each.value.retention, local.defaults.retention)

  tags = merge(local.defaults.tags, try(each.value.tags, {}))
}

module "cron" {
  source = "./vendor/ecs-service"

  name        = "${local.name}-cron"
  cluster_arn = aws_ecs_cluster.this.arn
  subnet_ids  = aws_subnet.private[*].id
}

resource "aws_sqs_queue" "worker" {
  for_each = var.workers

  name                       = "${local.name}-${each.key}"
  visibility_timeout_seconds = each.value.visibility
}
