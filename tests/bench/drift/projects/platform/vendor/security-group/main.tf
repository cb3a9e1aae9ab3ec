variable "name" {
  type = string
}

variable "description" {
  type    = string
  default = "Managed by Terraform"
}

variable "vpc_id" {
  type = string
}

variable "ingress_rules" {
  type    = any
  default = {}
}

variable "tags" {
  type    = map(string)
  default = {}
}

resource "aws_security_group" "this" {
  name        = var.name
  description = var.description
  vpc_id      = var.vpc_id
  tags        = merge({ Name = var.name }, var.tags)
}

resource "aws_vpc_security_group_ingress_rule" "this" {
  for_each = var.ingress_rules

  security_group_id = aws_security_group.this.id
  ip_protocol       = try(each.value.ip_protocol, "tcp")
  from_port         = try(each.value.from_port, each.value.port)
  to_port           = try(each.value.to_port, each.value.port)
  cidr_ipv4         = try(each.value.cidr_ipv4, null)
  description       = try(each.value.description, null)
}

output "security_group_id" {
  value = aws_security_group.this.id
}
