variable "create" {
  type    = bool
  default = true
}

variable "name" {
  type    = string
  default = null
}

variable "description" {
  type    = string
  default = "Security Group managed by Terraform"
}

variable "vpc_id" {
  type    = string
  default = null
}

variable "rules" {
  description = "Known rules: ports, protocol, description"
  type        = map(list(any))
  default = {
    https-443-tcp       = [443, 443, "tcp", "HTTPS"]
    postgresql-5432-tcp = [5432, 5432, "tcp", "PostgreSQL"]
    redis-6379-tcp      = [6379, 6379, "tcp", "Redis"]
  }
}

variable "ingress_rules" {
  type    = list(string)
  default = []
}

variable "ingress_cidr_blocks" {
  type    = list(string)
  default = []
}

variable "ingress_with_cidr_blocks" {
  type    = list(map(string))
  default = []
}

variable "tags" {
  type    = map(string)
  default = {}
}

resource "aws_security_group" "this" {
  count = var.create ? 1 : 0

  name        = var.name
  description = var.description
  vpc_id      = var.vpc_id
  tags        = merge({ Name = format("%s", var.name) }, var.tags)
}

resource "aws_security_group_rule" "ingress_rules" {
  count = var.create ? length(var.ingress_rules) : 0

  security_group_id = aws_security_group.this[0].id
  type              = "ingress"
  cidr_blocks       = var.ingress_cidr_blocks
  description       = var.rules[var.ingress_rules[count.index]][3]
  from_port         = var.rules[var.ingress_rules[count.index]][0]
  to_port           = var.rules[var.ingress_rules[count.index]][1]
  protocol          = var.rules[var.ingress_rules[count.index]][2]
}

resource "aws_security_group_rule" "ingress_with_cidr_blocks" {
  count = var.create ? length(var.ingress_with_cidr_blocks) : 0

  security_group_id = aws_security_group.this[0].id
  type              = "ingress"
  cidr_blocks       = compact(split(",", lookup(var.ingress_with_cidr_blocks[count.index], "cidr_blocks", join(",", var.ingress_cidr_blocks))))
  description       = lookup(var.ingress_with_cidr_blocks[count.index], "description", "Ingress Rule")
  from_port         = lookup(var.ingress_with_cidr_blocks[count.index], "from_port", 443)
  to_port           = lookup(var.ingress_with_cidr_blocks[count.index], "to_port", 443)
  protocol          = lookup(var.ingress_with_cidr_blocks[count.index], "protocol", "tcp")
}

output "id" {
  value = try(aws_security_group.this[0].id, "")
}
