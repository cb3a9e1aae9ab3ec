# What all stacks of the company share: numbers, networks, owners. No resource stands here; a stack reads the outputs.

output "tags" {
  value = { Company = "acme", ManagedBy = "terraform" }
}

output "owners" {
  value = {
    ledger = { Owner = "accounting", CostCenter = "410" }
    cards  = { Owner = "payments", CostCenter = "420" }
  }
}

output "networks" {
  value = {
    ledger  = "10.40.0.0/16"
    cards   = "10.41.0.0/16"
    vpn     = "10.8.0.0/16"
    offices = ["192.0.2.0/27", "198.51.100.0/27"]
  }
}

output "log_days" {
  value = { default = 30, audit = 400 }
}

output "queue" {
  value = { visibility = 60, keep_days = 7, receives = 5 }
}

output "alarm" {
  value = { period = 300, periods = 2, statistic = "Sum" }
}

output "session_hours" {
  value = 2
}
