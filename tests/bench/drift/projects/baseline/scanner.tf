resource "aws_vpc" "scanner" {
  cidr_block = "10.70.0.0/24"
  tags       = merge(var.tags, { Name = "scanner" })
}

resource "aws_subnet" "scanner" {
  count = 2

  vpc_id            = aws_vpc.scanner.id
  availability_zone = "eu-west-1${["a", "b"][count.index]}"
  cidr_block        = cidrsubnet(aws_vpc.scanner.cidr_block, 2, count.index)
  tags              = var.tags
}

resource "aws_security_group" "scanner" {
  name        = "scanner"
  description = "Who reaches the scanner"
  vpc_id      = aws_vpc.scanner.id
  tags        = var.tags
}

resource "aws_vpc_security_group_ingress_rule" "scanner" {
  for_each = toset(var.scanners)

  security_group_id = aws_security_group.scanner.id
  ip_protocol       = "tcp"
  from_port         = 8834
  to_port           = 8834
  cidr_ipv4         = each.value
}

resource "aws_security_group" "desk" {
  name        = "desk"
  description = "Who reaches the desk of the security team"
  vpc_id      = aws_vpc.scanner.id
  tags        = var.tags

  dynamic "ingress" {
    for_each = [{ port = 443, from = ["192.0.2.0/25"] }, { port = 22, from = ["192.0.2.0/28"] }]

    content {
      from_port   = ingress.value.port
      to_port     = ingress.value.port
      protocol    = "tcp"
      cidr_blocks = ingress.value.from
    }
  }
}

resource "aws_launch_template" "scanner" {
  name                   = "scanner"
  image_id               = "ami-12c6146b"
  instance_type          = "c5.large"
  update_default_version = true
}

resource "aws_autoscaling_group" "scanner" {
  name                = "scanner"
  min_size            = 0
  max_size            = 4
  desired_capacity    = 1
  vpc_zone_identifier = aws_subnet.scanner[*].id

  launch_template {
    id      = aws_launch_template.scanner.id
    version = "$Latest"
  }
}
