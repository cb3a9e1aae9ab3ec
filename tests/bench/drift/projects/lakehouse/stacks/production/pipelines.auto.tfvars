pipelines = {
  sessions = {
    tier     = "large"
    schedule = "rate(1 hour)"
    queue    = { visibility = 600 }
  }
  invoices = {
    tier        = "medium"
    schedule    = "rate(1 day)"
    log_days    = 365
    environment = { CURRENCY = "EUR", ROUNDING = "half-even" }
    retry       = { attempts = 5, errors = ["States.Timeout", "States.TaskFailed"] }
  }
  stock = { environment = { WAREHOUSE = "north" } }
}
