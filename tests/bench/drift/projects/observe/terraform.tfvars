context = {
  namespace = "hb"
  stage     = "prod"
  name      = "watch"
  tags      = { Team = "sre", CostCenter = "4410" }
}

intakes = {
  changes = {
    sources   = ["aws.config"]
    details   = ["Config Rules Compliance Change"]
    keep_days = 7
  }
  findings = {
    sources = ["aws.guardduty", "aws.securityhub"]
    tries   = 3
  }
  logins = {
    sources     = ["aws.signin"]
    details     = ["AWS Console Sign In via CloudTrail"]
    dead_letter = false
  }
}

capacity = { read = 10 }

settings = {
  sample-rate = "0.05"
}
