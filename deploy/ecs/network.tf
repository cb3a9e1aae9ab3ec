resource "aws_security_group" "load_balancer" {
  name_prefix = "${var.name}-lb-"
  description = "Clients of the gateway"
  vpc_id      = var.vpc_id
  tags        = var.tags

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_vpc_security_group_ingress_rule" "clients" {
  for_each = toset(var.client_cidrs)

  security_group_id = aws_security_group.load_balancer.id
  description       = "HTTPS of clients"
  cidr_ipv4         = each.value
  ip_protocol       = "tcp"
  from_port         = 443
  to_port           = 443
}

resource "aws_vpc_security_group_ingress_rule" "reconciler" {
  security_group_id            = aws_security_group.load_balancer.id
  description                  = "The reconciler reads live values through the gateway"
  referenced_security_group_id = aws_security_group.programs.id
  ip_protocol                  = "tcp"
  from_port                    = 443
  to_port                      = 443
}

resource "aws_vpc_security_group_egress_rule" "load_balancer" {
  security_group_id            = aws_security_group.load_balancer.id
  description                  = "Gateways"
  referenced_security_group_id = aws_security_group.programs.id
  ip_protocol                  = "tcp"
  from_port                    = 8484
  to_port                      = 8484
}

resource "aws_security_group" "programs" {
  name_prefix = "${var.name}-"
  description = "Gateways and reconciler"
  vpc_id      = var.vpc_id
  tags        = var.tags

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_vpc_security_group_ingress_rule" "programs" {
  security_group_id            = aws_security_group.programs.id
  description                  = "The load balancer"
  referenced_security_group_id = aws_security_group.load_balancer.id
  ip_protocol                  = "tcp"
  from_port                    = 8484
  to_port                      = 8484
}

resource "aws_vpc_security_group_egress_rule" "aws" {
  security_group_id = aws_security_group.programs.id
  description       = "AWS, the git remote, receivers of webhooks"
  cidr_ipv4         = "0.0.0.0/0"
  ip_protocol       = "tcp"
  from_port         = 443
  to_port           = 443
}

resource "aws_vpc_security_group_egress_rule" "database" {
  security_group_id            = aws_security_group.programs.id
  description                  = "The ledger"
  referenced_security_group_id = aws_security_group.database.id
  ip_protocol                  = "tcp"
  from_port                    = 5432
  to_port                      = 5432
}

resource "aws_vpc_security_group_egress_rule" "checkpoints" {
  security_group_id            = aws_security_group.programs.id
  description                  = "The checkpoints"
  referenced_security_group_id = aws_security_group.checkpoints.id
  ip_protocol                  = "tcp"
  from_port                    = 2049
  to_port                      = 2049
}

resource "aws_security_group" "database" {
  name_prefix = "${var.name}-db-"
  description = "The ledger"
  vpc_id      = var.vpc_id
  tags        = var.tags

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_vpc_security_group_ingress_rule" "database" {
  security_group_id            = aws_security_group.database.id
  description                  = "Gateways and reconciler"
  referenced_security_group_id = aws_security_group.programs.id
  ip_protocol                  = "tcp"
  from_port                    = 5432
  to_port                      = 5432
}

resource "aws_security_group" "checkpoints" {
  name_prefix = "${var.name}-efs-"
  description = "The checkpoints"
  vpc_id      = var.vpc_id
  tags        = var.tags

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_vpc_security_group_ingress_rule" "checkpoints" {
  security_group_id            = aws_security_group.checkpoints.id
  description                  = "Gateways and reconciler"
  referenced_security_group_id = aws_security_group.programs.id
  ip_protocol                  = "tcp"
  from_port                    = 2049
  to_port                      = 2049
}

resource "aws_lb" "gateway" {
  name                       = var.name
  internal                   = var.internal
  load_balancer_type         = "application"
  security_groups            = [aws_security_group.load_balancer.id]
  subnets                    = var.load_balancer_subnet_ids
  drop_invalid_header_fields = false # signatures cover every header that the client signed
  desync_mitigation_mode     = "strictest"
  enable_deletion_protection = true
  preserve_host_header       = true # signatures cover the host
  # Longer than upstream.reply_seconds.
  idle_timeout = 960
  tags         = var.tags
}

resource "aws_lb_target_group" "gateway" {
  name        = var.name
  vpc_id      = var.vpc_id
  port        = 8484
  protocol    = "HTTP"
  target_type = "ip"
  # How long requests may still run on a gateway that is being replaced.
  deregistration_delay = 60
  tags                 = var.tags

  health_check {
    # 503 while the ledger does not answer: then every change is refused there.
    path                = "/readyz"
    matcher             = "200"
    interval            = 5
    timeout             = 4
    healthy_threshold   = 2
    unhealthy_threshold = 2
  }
}

resource "aws_lb_listener" "https" {
  load_balancer_arn = aws_lb.gateway.arn
  port              = 443
  protocol          = "HTTPS"
  ssl_policy        = "ELBSecurityPolicy-TLS13-1-2-2021-06"
  certificate_arn   = var.certificate_arn
  tags              = var.tags

  default_action {
    type             = "forward"
    target_group_arn = aws_lb_target_group.gateway.arn
  }
}
