locals {
  prefix = "ledgerly-staging"
}

module "tenant" {
  source   = "../../modules/tenant"
  for_each = toset(["demo"])

  name     = "${local.prefix}-${each.key}"
  settings = { visibility = 30 }
  tags     = { Tenant = each.key }
}
