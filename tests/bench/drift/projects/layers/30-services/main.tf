locals {
  tags = { Environment = var.environment, Layer = "services" }

  network = data.terraform_remote_state.network.outputs
  data    = data.terraform_remote_state.data.outputs

  # What differs from the standard of all queues, in the order of what was agreed last.
  alarm_standard = { threshold = 100, periods = 3 }
  alarm_override = {
    orders = { periods = 1 }
  }
}

data "terraform_remote_state" "network" {
  backend = "local"

  config = {
    path = "${path.module}/../10-network/terraform.tfstate"
  }
}

data "terraform_remote_state" "data" {
  backend = "local"

  config = {
    path = "${path.module}/../20-data/terraform.tfstate"
  }
}

module "queues" {
  source = "../vendor/sqs/wrappers"

  items = { for name, queue in var.queues : name => merge({ name = "${var.environment}-${name}" }, queue) }
  defaults = {
    receive_wait_time_seconds = 10
    message_retention_seconds = 345600
    tags                      = local.tags
  }
}

module "worker" {
  source   = "../modules/worker"
  for_each = var.workers

  name        = each.key
  memory      = each.value.memory
  timeout     = each.value.timeout
  environment = merge({ for name, table in local.data.table_names : "TABLE_${upper(name)}" => table }, each.value.environment)
  queue       = { arn = module.queues.wrapper[each.value.queue].queue_arn, batch = each.value.batch }
  log_days    = var.worker_log_days
  actions     = each.value.actions
  tags        = local.tags
}
