module "q" {
  source   = "./q"
  for_each = local.queues

  name       = each.key == "orders" ? "x" : each.key
  visibility = each.value.visibility
}

locals {
  queues = {
    orders = { visibility = 30 }
    mail   = { visibility = 90 } # slow
  }
}
