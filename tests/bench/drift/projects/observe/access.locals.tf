locals {
  readers = {
    auditor = { service = "audit-manager.amazonaws.com", actions = ["logs:GetLogEvents", "logs:StartQuery"] }
    grafana = { service = "grafana.amazonaws.com", actions = ["cloudwatch:GetMetricData", "cloudwatch:ListMetrics"], hours = 4 }
  }

  blocked = ["198.51.100.0/24", "203.0.113.7/32"]

  roles = { for name, reader in local.readers : name => {
    service = reader.service
    session = 3600 * lookup(reader, "hours", 1)
    actions = reader.actions
  } if local.enabled }
}
