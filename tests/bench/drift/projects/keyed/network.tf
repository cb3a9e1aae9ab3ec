resource "aws_vpc" "main" {
  cidr_block = "10.0.0.0/16"
}

resource "aws_subnet" "net" {
  for_each = local.networks

  vpc_id                  = aws_vpc.main.id
  cidr_block              = each.value.cidr
  availability_zone       = each.value.zone
  map_public_ip_on_launch = each.value.public

  tags = merge(local.tags, { Name = "net-${each.key}" })
}

resource "aws_security_group" "server" {
  name        = "keyed-server"
  description = "Servers"
  vpc_id      = aws_vpc.main.id

  dynamic "ingress" {
    for_each = var.doors

    content {
      description = ingress.value.name
      from_port   = ingress.value.port
      to_port     = ingress.value.port
      protocol    = "tcp"
      cidr_blocks = ingress.value.cidrs
    }
  }
}

resource "aws_vpc_security_group_ingress_rule" "peer" {
  for_each = {
    ssh  = 22
    data = 5432
  }

  security_group_id = aws_security_group.peer.id
  ip_protocol       = "tcp"
  from_port         = each.value
  to_port           = each.value
  cidr_ipv4         = "10.9.0.0/16"
}

resource "aws_security_group" "peer" {
  name        = "keyed-peer"
  description = "Peers"
  vpc_id      = aws_vpc.main.id
}
