environment = "production"

queues = {
  orders   = { visibility_timeout_seconds = 180, create_dlq = true }
  invoices = { visibility_timeout_seconds = 300, create_dlq = true, redrive_policy = { maxReceiveCount = 3 } }
  mails    = {}
  exports  = { message_retention_seconds = 86400 }
}

workers = {
  orders   = { queue = "orders", memory = 512, actions = ["dynamodb:GetItem", "dynamodb:PutItem"] }
  invoices = { queue = "invoices", timeout = 120, environment = { PROVIDER = "paybridge" } }
  mails    = { queue = "mails", batch = 1 }
}

fleet = { type = "m5.large", min = 1, max = 4, desired = 2 }

thresholds = { orders = 500 }
