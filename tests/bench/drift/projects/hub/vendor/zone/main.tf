variable "create" {
  type    = bool
  default = true
}

variable "name" {
  type = string
}

variable "comment" {
  type    = string
  default = null
}

variable "records" {
  description = "A records by name: addresses, and ttl if it is not the usual one"
  type        = any
  default     = {}
}

variable "default_ttl" {
  type    = number
  default = 600
}

variable "tags" {
  type    = map(string)
  default = {}
}

resource "aws_route53_zone" "this" {
  count = var.create ? 1 : 0

  name    = var.name
  comment = coalesce(var.comment, "Managed by Terraform")
  tags    = var.tags
}

resource "aws_route53_record" "this" {
  for_each = { for name, record in var.records : name => record if var.create }

  zone_id = aws_route53_zone.this[0].zone_id
  name    = "${each.key}.${var.name}"
  type    = "A"
  ttl     = try(each.value.ttl, var.default_ttl)
  records = each.value.addresses
}

output "zone_id" {
  value = try(aws_route53_zone.this[0].zone_id, null)
}
