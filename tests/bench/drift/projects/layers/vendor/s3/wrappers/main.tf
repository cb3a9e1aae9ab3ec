variable "defaults" {
  description = "What every item gets that says nothing else"
  type        = any
  default     = {}
}

variable "items" {
  description = "Calls of the module by name"
  type        = any
  default     = {}
}

module "wrapper" {
  source   = "../"
  for_each = var.items

  attach_public_policy    = try(each.value.attach_public_policy, var.defaults.attach_public_policy, true)
  block_public_acls       = try(each.value.block_public_acls, var.defaults.block_public_acls, true)
  block_public_policy     = try(each.value.block_public_policy, var.defaults.block_public_policy, false)
  bucket                  = try(each.value.bucket, var.defaults.bucket, null)
  cors_rule               = try(each.value.cors_rule, var.defaults.cors_rule, [])
  create_bucket           = try(each.value.create_bucket, var.defaults.create_bucket, true)
  ignore_public_acls      = try(each.value.ignore_public_acls, var.defaults.ignore_public_acls, true)
  restrict_public_buckets = try(each.value.restrict_public_buckets, var.defaults.restrict_public_buckets, true)
  tags                    = try(each.value.tags, var.defaults.tags, {})
  versioning              = try(each.value.versioning, var.defaults.versioning, {})
}

output "wrapper" {
  description = "What each call gives"
  value       = module.wrapper
}
