variable "name" {
  type = string
}

variable "vpc_id" {
  type = string
}

variable "rules" {
  type = set(object({
    port        = number
    cidrs       = list(string)
    description = optional(string, "")
  }))
  default = []
}

variable "tags" {
  type    = map(string)
  default = {}
}

resource "aws_security_group" "this" {
  name        = var.name
  description = "Managed by the firewall module"
  vpc_id      = var.vpc_id
  tags        = var.tags

  dynamic "ingress" {
    for_each = var.rules

    content {
      description = ingress.value.description
      from_port   = ingress.value.port
      to_port     = ingress.value.port
      protocol    = "tcp"
      cidr_blocks = ingress.value.cidrs
    }
  }
}
