resource "aws_vpc" "this" {
  cidr_block = "10.40.0.0/16"
  tags       = merge(local.tags, { Name = local.name })
}

resource "aws_subnet" "private" {
  count = 2

  vpc_id            = aws_vpc.this.id
  cidr_block        = cidrsubnet(aws_vpc.this.cidr_block, 8, count.index)
  availability_zone = element(["eu-west-1a", "eu-west-1b"], count.index)
  tags              = merge(local.tags, { Name = "${local.name}-${count.index}" })
}

module "alb_sg" {
  source = "./vendor/security-group"

  name              = "${local.name}-alb"
  vpc_id            = aws_vpc.this.id
  ingress_with_cidr = { https = "10.0.0.0/8" }
  tags              = local.tags
}

module "database_sg" {
  source = "./vendor/security-group"

  name   = "${local.name}-database"
  vpc_id = aws_vpc.this.id

  ingress_rules = {
    app     = { port = 5432, cidr_ipv4 = "10.40.0.0/16", description = "Services" }
    analyst = { port = 5432, cidr_ipv4 = "10.9.0.0/16" }
  }
}

module "legacy_sg" {
  source = "./vendor/security-group"
  create = false

  vpc_id = aws_vpc.this.id
}

resource "aws_security_group" "bastion" {
  name        = "${local.name}-bastion"
  description = "Who may log in"
  vpc_id      = aws_vpc.this.id

  dynamic "ingress" {
    for_each = [{ port = 22, cidrs = ["192.0.2.0/28", "198.51.100.0/28"] }, { port = 8022, cidrs = ["192.0.2.0/28"] }]

    content {
      from_port   = ingress.value.port
      to_port     = ingress.value.port
      protocol    = "tcp"
      cidr_blocks = ingress.value.cidrs
    }
  }
}

module "alb" {
  source = "./vendor/alb"

  name                 = local.name
  vpc_id               = aws_vpc.this.id
  subnets              = aws_subnet.private[*].id
  security_groups      = [module.alb_sg.security_group_id]
  idle_timeout         = var.idle_timeout
  default_target_group = "storefront"

  target_groups = { for name, service in local.services : name => {
    port                 = try(service.port, local.service_defaults.port)
    deregistration_delay = lookup(service, "deregistration_delay", 120)
    health_check         = merge({ path = "/healthz", interval = 15 }, try(service.health_check, {}))
  } }

  tags = local.tags
}
