resource "aws_vpc" "main" {
  cidr_block           = "10.30.0.0/16"
  enable_dns_hostnames = true
  tags                 = merge(var.tags, { Name = var.name })
}

resource "aws_subnet" "public" {
  count = length(split(",", var.zones))

  vpc_id                  = aws_vpc.main.id
  cidr_block              = cidrsubnet(aws_vpc.main.cidr_block, 8, count.index)
  availability_zone       = element(split(",", var.zones), count.index)
  map_public_ip_on_launch = true
  tags                    = merge(var.tags, { Name = format("%s-public-%d", var.name, count.index + 1) })
}

resource "aws_security_group" "web" {
  name        = "${var.name}-web"
  description = "Web servers"
  vpc_id      = aws_vpc.main.id
  tags        = var.tags

  ingress {
    description = "offices"
    from_port   = 443
    to_port     = 443
    protocol    = "tcp"
    cidr_blocks = split(",", var.office_networks)
  }

  dynamic "ingress" {
    for_each = [9100, 9113]

    content {
      from_port   = ingress.value
      to_port     = ingress.value
      protocol    = "tcp"
      cidr_blocks = ["10.30.0.0/16"]
    }
  }
}
