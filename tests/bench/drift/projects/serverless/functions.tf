locals {
  timeout = 10

  functions = {
    book   = { timeout = 15, actions = ["dynamodb:PutItem", "dynamodb:GetItem"], environment = { SLOT_MINUTES = "20" } }
    cancel = { actions = ["dynamodb:DeleteItem"] }
    list   = { actions = ["dynamodb:Query"], memory = 512 }
    remind = { timeout = 60, actions = ["dynamodb:Query", "sns:Publish"], concurrency = 5 }
    report = { timeout = 300, actions = ["dynamodb:Scan"], memory = 1024, log_days = 90 }
  }

  owners = {
    remind = { Owner = "messaging" }
    report = { Owner = "billing", Data = "personal" }
  }

  # What a function is fed by, beside the API and the bus
  sources = {
    remind = { reminders = { event_source_arn = aws_sqs_queue.reminders.arn, batch_size = var.reminders.batch } }
  }
}

module "function" {
  source   = "./vendor/lambda"
  for_each = local.functions

  function_name = "${var.name}-${each.key}"
  description   = "Clinic: ${each.key}"
  handler       = "${each.key}.handler"
  runtime       = "python3.12"
  package       = "${path.module}/code.zip"

  memory_size                    = lookup(each.value, "memory", var.memory)
  timeout                        = try(each.value.timeout, local.timeout)
  reserved_concurrent_executions = lookup(each.value, "concurrency", -1)
  environment_variables          = merge({ TABLE = module.appointments.id, LOG_LEVEL = "info" }, try(each.value.environment, {}))

  cloudwatch_logs_retention_in_days = try(each.value.log_days, var.log_days)

  policy_statements    = { table = { actions = each.value.actions, resources = ["${module.appointments.arn}*"] } }
  event_source_mapping = lookup(local.sources, each.key, {})

  tags = merge(var.tags, lookup(local.owners, each.key, {}))
}
