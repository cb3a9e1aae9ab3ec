variable "create" {
  type    = bool
  default = true
}

variable "name" {
  type    = string
  default = ""
}

variable "description" {
  type    = string
  default = "Security group managed by Terraform"
}

variable "vpc_id" {
  type = string
}

variable "rules" {
  description = "Rules by name: port, description"
  type        = any
  default = {
    http  = { port = 80, description = "HTTP" }
    https = { port = 443, description = "HTTPS" }
    mysql = { port = 3306, description = "MySQL" }
    redis = { port = 6379, description = "Redis" }
  }
}

variable "ingress_with_cidr" {
  description = "Rules with the blocks that may use them"
  type        = map(string)
  default     = {}
}

variable "ingress_rules" {
  description = "Further rules, as maps"
  type        = any
  default     = {}
}

variable "tags" {
  type    = map(string)
  default = {}
}

locals {
  named = { for name, cidr in var.ingress_with_cidr : name => merge(lookup(var.rules, name, {}), { cidr_ipv4 = cidr }) }
  rules = var.create ? merge(local.named, var.ingress_rules) : {}
}

resource "aws_security_group" "this" {
  count = var.create ? 1 : 0

  name        = var.name
  description = var.description
  vpc_id      = var.vpc_id
  tags        = merge({ Name = var.name }, var.tags)
}

resource "aws_vpc_security_group_ingress_rule" "this" {
  for_each = local.rules

  security_group_id            = aws_security_group.this[0].id
  ip_protocol                  = try(each.value.ip_protocol, "tcp")
  from_port                    = try(each.value.from_port, each.value.port)
  to_port                      = try(each.value.to_port, each.value.port)
  cidr_ipv4                    = lookup(each.value, "cidr_ipv4", null)
  referenced_security_group_id = try(each.value.referenced_security_group_id, null)
  description                  = try(each.value.description, null)
}

output "security_group_id" {
  value = try(aws_security_group.this[0].id, "")
}
