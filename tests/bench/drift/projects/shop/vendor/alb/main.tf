variable "create" {
  type    = bool
  default = true
}

variable "name" {
  type = string
}

variable "vpc_id" {
  type = string
}

variable "subnets" {
  type = list(string)
}

variable "security_groups" {
  type = list(string)
}

variable "idle_timeout" {
  type    = number
  default = null
}

variable "enable_deletion_protection" {
  type    = bool
  default = false
}

variable "drop_invalid_header_fields" {
  type    = bool
  default = true
}

variable "target_groups" {
  type    = any
  default = {}
}

variable "default_target_group" {
  type = string
}

variable "tags" {
  type    = map(string)
  default = {}
}

resource "aws_lb" "this" {
  count = var.create ? 1 : 0

  name                       = var.name
  internal                   = true
  security_groups            = var.security_groups
  subnets                    = var.subnets
  idle_timeout               = coalesce(var.idle_timeout, 60)
  enable_deletion_protection = var.enable_deletion_protection
  drop_invalid_header_fields = var.drop_invalid_header_fields
  tags                       = var.tags
}

resource "aws_lb_target_group" "this" {
  for_each = { for name, group in var.target_groups : name => group if var.create }

  name                 = try(each.value.name, "${var.name}-${each.key}")
  port                 = try(each.value.port, 80)
  protocol             = try(each.value.protocol, "HTTP")
  target_type          = try(each.value.target_type, "ip")
  vpc_id               = var.vpc_id
  deregistration_delay = try(each.value.deregistration_delay, 300)

  dynamic "health_check" {
    for_each = try([each.value.health_check], [{}])

    content {
      path     = try(health_check.value.path, "/")
      interval = try(health_check.value.interval, 30)
      matcher  = try(health_check.value.matcher, "200")
    }
  }
}

resource "aws_lb_listener" "http" {
  count = var.create ? 1 : 0

  load_balancer_arn = aws_lb.this[0].arn
  port              = 80
  protocol          = "HTTP"

  default_action {
    type             = "forward"
    target_group_arn = aws_lb_target_group.this[var.default_target_group].arn
  }
}

output "target_groups" {
  value = { for name, group in aws_lb_target_group.this : name => group.arn }
}
