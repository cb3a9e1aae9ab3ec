locals {
  name           = "shop-${var.environment}"
  production     = var.environment == "production"
  visibility     = 60
  alarm_limit    = local.production ? 50 : 100
  session_hours  = 2
  log_retention  = 14
  lock_wait      = 15
  display_name   = "Shop orders"
  parameter_tier = "Standard"
}
