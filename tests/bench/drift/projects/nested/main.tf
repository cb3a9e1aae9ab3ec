locals {
  prefix = "nested-${var.environment}"

  timeouts = {
    search = 20
    cart   = 10
  }

  events = {
    clicks = { visibility = 30, log_days = 7 }
    views  = { visibility = 45, log_days = 3 }
  }

  tags = {
    project = "nested"
  }
}

module "cart" {
  source = "./modules/service"

  name    = "${local.prefix}-cart"
  memory  = 256
  timeout = local.timeouts.cart
  tags    = local.tags
}

module "search" {
  source = "./modules/service"

  name     = "${local.prefix}-search"
  memory   = var.search_memory
  timeout  = local.timeouts["search"]
  log_days = 60
  tags     = merge(local.tags, { owner = "search" })
}

module "mail" {
  source = "./modules/queue"

  name       = "${local.prefix}-mail"
  visibility = var.mail_visibility
}

# One queue per kind of event.
module "events" {
  source   = "./modules/queue"
  for_each = local.events

  name       = "${local.prefix}-${each.key}"
  visibility = each.value.visibility
  log_days   = each.value.log_days
}

module "workers" {
  source = "./modules/worker"
  count  = 2

  index = count.index
  hours = count.index + 1
}

module "archive" {
  source = "./modules/archive"

  settings = var.archive
}
