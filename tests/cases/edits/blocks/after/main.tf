variable "doors" {
  type = list(object({
    name  = string
    port  = number
    cidrs = list(string)
  }))
  default = [
    { name = "web", port = 443, cidrs = ["10.0.0.0/8"] },
    { name = "ssh", port = 22, cidrs = ["10.4.0.0/16"] },
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
    cidr_blocks = ["10.1.0.0/16", "10.9.0.0/16"]
  }

  ingress {
    from_port   = 0
    to_port     = 65535
    protocol    = "tcp"
    cidr_blocks = ["10.3.0.0/16"]
  }

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_security_group" "first" {
  name = "first"

  ingress {
    description = "ssh"
    from_port   = 22
    to_port     = 22
    protocol    = "tcp"
    cidr_blocks = ["10.1.0.0/16"]
  }

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
    {
      description      = "ssh"
      from_port        = 22
      to_port          = 22
      protocol         = "tcp"
      cidr_blocks      = ["10.4.0.0/16"]
      ipv6_cidr_blocks = []
    },
  ]
}
