account  = "payments"
scanners = ["10.0.0.0/8", "192.0.2.128/25"]
tags     = { Account = "payments", ManagedBy = "baseline" }

roles = {
  operator   = { trusted = ["arn:aws:iam::123456789012:root"], policies = ["operate", "read-logs"] }
  auditor    = { trusted = ["arn:aws:iam::123456789012:root", "arn:aws:iam::210987654321:root"], policies = ["read-logs"], tags = { Audience = "external" } }
  contractor = { trusted = ["arn:aws:iam::210987654321:root"], policies = ["read-logs"], hours = 1 }
  break-glass = {
    trusted  = ["arn:aws:iam::123456789012:root"]
    policies = ["operate"]
    hours    = 2
  }
}
