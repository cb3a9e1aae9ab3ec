environment = "production"
backup_days = 14

tables = {
  orders   = { team = "orders", stream = "NEW_IMAGE" }
  carts    = { team = "orders", key = "session", recovery = false, expires = "until" }
  invoices = { team = "billing", tags = { Data = "confidential" } }
}

buckets = {
  invoices = { versioning = { status = true } }
  exports = {
    cors_rule = [{ allowed_methods = ["GET", "HEAD"], allowed_origins = ["https://desk.example.com"] }]
  }
  scratch = {}
}

settings = {
  "orders/currency"   = "EUR"
  "orders/max-items"  = "50"
  "billing/dunning"   = "14"
  "billing/provider"  = "paybridge"
  "billing/tolerance" = "2"
}
