resource "aws_security_group" "edge" {
  name        = "edge"
  description = "What the internet reaches"
  vpc_id      = aws_vpc.this.id
  tags        = local.tags

  dynamic "ingress" {
    for_each = var.edge

    content {
      description = lookup(ingress.value, "about", null)
      from_port   = ingress.value.port
      to_port     = ingress.value.port
      protocol    = "tcp"
      cidr_blocks = [ingress.value.from]
    }
  }
}

resource "aws_security_group" "inside" {
  name        = "inside"
  description = "What only the network reaches"
  vpc_id      = aws_vpc.this.id
  tags        = local.tags
}

resource "aws_vpc_security_group_ingress_rule" "inside" {
  for_each = var.inside

  security_group_id = aws_security_group.inside.id
  description       = each.value.why
  ip_protocol       = "tcp"
  from_port         = each.value.port
  to_port           = each.value.port
  cidr_ipv4         = each.value.cidr
}

resource "aws_ec2_managed_prefix_list" "offices" {
  name           = "offices"
  address_family = "IPv4"
  max_entries    = 10
  tags           = local.tags

  dynamic "entry" {
    for_each = var.offices

    content {
      cidr        = entry.value.cidr
      description = entry.value.name
    }
  }
}
