module "tenant" {
  source   = "../../modules/tenant"
  for_each = local.tenants

  name     = "${local.prefix}-${each.key}"
  settings = merge(local.tiers[each.value.tier], lookup(each.value, "overrides", {}))
  tags     = merge({ Tenant = each.key, Tier = each.value.tier }, lookup(each.value, "tags", {}))
}

module "function" {
  source   = "../../modules/function"
  for_each = local.functions

  name        = "${local.prefix}-${each.key}"
  role_arn    = aws_iam_role.function.arn
  memory      = coalesce(lookup(each.value, "memory", null), var.function_defaults.memory)
  timeout     = try(each.value.timeout, var.function_defaults.timeout)
  concurrency = lookup(each.value, "concurrency", -1)
}

module "webhook" {
  source = "../../modules/function"

  name        = "${local.prefix}-webhook"
  role_arn    = aws_iam_role.function.arn
  timeout     = var.webhook_timeout
  environment = { LOG_LEVEL = "info", QUEUE = aws_sqs_queue.ingest.name }
}

module "sessions" {
  source = "../../vendor/table"

  name      = "${local.prefix}-sessions"
  hash_key  = "id"
  ttl_field = "expires"
}

module "audit" {
  source = "../../vendor/table"

  name     = "${local.prefix}-audit"
  hash_key = "id"
  capacity = { read = 10, write = 10 }
}

module "bus" {
  source = "../../vendor/event-bus"

  name = "${local.prefix}-events"
  rules = {
    orders  = { sources = ["shop.orders"] }
    refunds = { sources = ["shop.refunds", "shop.disputes"] }
  }
}
