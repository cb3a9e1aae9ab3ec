locals {
  name = "shop"

  tags = {
    Project   = "shop"
    Terraform = "true"
  }

  service_defaults = {
    port          = 8080
    desired_count = 2
    max           = 6
  }

  services = {
    storefront = { port = 80, desired_count = 3, health_check = { path = "/ready" } }
    checkout   = { deregistration_delay = 60, retention = 90 }
    search     = { enable_autoscaling = false }
  }

  queues = {
    orders    = { visibility = 120 }
    emails    = {}
    thumbnail = { wait = 5 }
  }

  alarm_defaults = {
    threshold          = 80
    evaluation_periods = 3
  }

  alarms = {
    database-cpu = { namespace = "AWS/RDS", metric_name = "CPUUtilization", dimensions = { DBInstanceIdentifier = "shop" } }
    cache-cpu    = { namespace = "AWS/ElastiCache", metric_name = "CPUUtilization", threshold = 70, dimensions = { CacheClusterId = "shop" } }
    orders-lost  = { namespace = "Shop", metric_name = "OrdersLost", statistic = "Sum", threshold = 0 }
  }
}
