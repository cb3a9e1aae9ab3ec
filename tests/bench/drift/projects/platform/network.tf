resource "aws_vpc" "this" {
  cidr_block = local.vpc_cidr
}

resource "aws_subnet" "private" {
  count             = length(local.azs)
  vpc_id            = aws_vpc.this.id
  cidr_block        = cidrsubnet(local.vpc_cidr, 8, count.index)
  availability_zone = local.azs[count.index]
}

module "alb_sg" {
  source      = "./vendor/security-group"
  name        = "${local.name}-alb"
  description = "Entry of the platform"
  vpc_id      = aws_vpc.this.id

  ingress_rules = {
    https = { port = 443, cidr_ipv4 = "10.0.0.0/8" }
  }
}

resource "aws_security_group" "nodes" {
  name        = "${local.name}-nodes"
  description = "Nodes of the cluster"
  vpc_id      = aws_vpc.this.id

  ingress {
    description = "kubelet"
    from_port   = 10250
    to_port     = 10250
    protocol    = "tcp"
    cidr_blocks = ["10.60.0.0/24", "10.60.1.0/24"]
  }
}

resource "aws_security_group" "admin" {
  name        = "${local.name}-admin"
  description = "What the office reaches"
  vpc_id      = aws_vpc.this.id

  dynamic "ingress" {
    for_each = var.admin_ports

    content {
      description = ingress.value.about
      from_port   = ingress.value.port
      to_port     = ingress.value.port
      protocol    = "tcp"
      cidr_blocks = ingress.value.cidrs
    }
  }
}

resource "aws_security_group" "metrics" {
  name        = "${local.name}-metrics"
  description = "What the collectors reach"
  vpc_id      = aws_vpc.this.id

  dynamic "ingress" {
    for_each = [
      { port = 9100, cidr = "10.60.0.0/24" },
      { port = 9102, cidr = "10.60.0.0/24" },
    ]

    content {
      from_port   = ingress.value.port
      to_port     = ingress.value.port
      protocol    = "tcp"
      cidr_blocks = [ingress.value.cidr]
    }
  }
}

resource "aws_security_group" "database" {
  name        = "${local.name}-database"
  description = "Rules of the database, one by one"
  vpc_id      = aws_vpc.this.id
}

resource "aws_vpc_security_group_ingress_rule" "database_wide" {
  security_group_id = aws_security_group.database.id
  description       = "Everything in the VPC"
  ip_protocol       = "tcp"
  from_port         = 5432
  to_port           = 5432
  cidr_ipv4         = local.vpc_cidr
}

resource "aws_wafv2_ip_set" "partners" {
  name               = "${local.name}-partners"
  scope              = "REGIONAL"
  ip_address_version = "IPV4"
  addresses          = ["192.0.2.10/32", "192.0.2.11/32"]
}
