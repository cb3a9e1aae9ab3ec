resource "aws_vpc" "main" {
  cidr_block = "10.40.0.0/16"
}

resource "aws_security_group" "inline" {
  name        = "catalog-inline"
  description = "Lists on one line"
  vpc_id      = aws_vpc.main.id

  ingress {
    description = "tls"
    from_port   = 443
    to_port     = 443
    protocol    = "tcp"
    cidr_blocks = ["10.1.0.0/16", "10.2.0.0/16"]
  }
}

resource "aws_security_group" "literal" {
  name        = "catalog-literal"
  description = "A dynamic block over a literal list"
  vpc_id      = aws_vpc.main.id

  dynamic "ingress" {
    for_each = [{ port = 80, cidr = "10.1.0.0/16" }, { port = 8080, cidr = "10.2.0.0/16" }]

    content {
      from_port   = ingress.value.port
      to_port     = ingress.value.port
      protocol    = "tcp"
      cidr_blocks = [ingress.value.cidr]
    }
  }
}

module "firewall" {
  source = "./vendor/firewall"
  name   = "catalog-firewall"
  vpc_id = aws_vpc.main.id
  rules  = [{ port = 22, cidrs = ["10.9.0.0/24"] }, { port = 5432, cidrs = ["10.1.0.0/16", "10.2.0.0/16"], description = "db" }]
}

resource "aws_s3_bucket" "exports" {
  bucket = "catalog-exports"
}

resource "aws_security_group" "rules" {
  name        = "catalog-rules"
  description = "Rules of their own"
  vpc_id      = aws_vpc.main.id
}

resource "aws_vpc_security_group_ingress_rule" "wide" {
  security_group_id = aws_security_group.rules.id
  ip_protocol       = "tcp"
  from_port         = 443
  to_port           = 443
  cidr_ipv4         = "10.0.0.0/8"
}
