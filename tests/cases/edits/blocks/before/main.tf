variable "doors" {
  type = list(object({
    name  = string
    port  = number
    cidrs = list(string)
  }))
  default = [
    { name = "web", port = 443, cidrs = ["10.0.0.0/8"] },
    { name = "old", port = 80, cidrs = ["10.0.0.0/8"] },
  ]
}

resource "aws_security_group" "static" {
  name = "static"

  # TLS from the office
  ingress {
    description = "tls"
    from_port   = 443
    to_port     = 443
    protocol    = "tcp"
    cidr_blocks = ["10.1.0.0/16"]
  }

  # Nobody needs it.
  ingress {
    description = "metrics"
    from_port   = 9100
    to_port     = 9100
    protocol    = "tcp"
    cidr_blocks = ["10.2.0.0/16"]
  }

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_security_group" "first" {
  name = "first"

  # Replaced in place.
  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_security_group" "dynamic" {
  name = "dynamic"

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

resource "aws_security_group" "attribute" {
  name = "attribute"
  ingress = [
    {
      description      = "tls"
      from_port        = 443
      to_port          = 443
      protocol         = "tcp"
      cidr_blocks      = ["10.1.0.0/16"]
      ipv6_cidr_blocks = []
    },
  ]
}
