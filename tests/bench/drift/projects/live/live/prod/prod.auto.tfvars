namespace = "acme"
stage     = "prod"
tags      = { CostCenter = "42", Team = "core" }
