resource "aws_vpc" "main" {
  cidr_block           = "10.40.0.0/16"
  enable_dns_hostnames = true
  tags                 = merge(local.tags, { Name = "teams" })
}

resource "aws_security_group" "service" {
  for_each = { for name, service in local.services : name => service if can(service.open) }

  name        = each.key
  description = "Who reaches ${each.key}"
  vpc_id      = aws_vpc.main.id
  tags        = local.tags
}

resource "aws_vpc_security_group_ingress_rule" "this" {
  for_each = local.rules

  security_group_id = aws_security_group.service[each.value.service].id
  ip_protocol       = "tcp"
  from_port         = each.value.port
  to_port           = each.value.port
  cidr_ipv4         = each.value.cidr
}

resource "aws_security_group" "support" {
  name        = "support"
  description = "What the support desk reaches"
  vpc_id      = aws_vpc.main.id
  tags        = local.tags

  dynamic "ingress" {
    for_each = var.support

    content {
      from_port   = ingress.value.port
      to_port     = ingress.value.port
      protocol    = "tcp"
      cidr_blocks = ingress.value.cidrs
    }
  }
}
