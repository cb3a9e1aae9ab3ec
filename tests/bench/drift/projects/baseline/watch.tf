locals {
  watched = {
    finding_days = 7
    findings = {
      threats  = { source = "aws.guardduty" }
      exposure = { source = "aws.access-analyzer" }
      config   = { source = "aws.config", kinds = ["Config Rules Compliance Change"] }
    }
  }
}

module "workloads" {
  source = "./modules/watch"

  providers = { aws = aws.workloads }

  account  = "workloads"
  settings = local.watched
}

module "sandbox" {
  source = "./modules/watch"

  providers = { aws = aws.sandbox }

  account  = "sandbox"
  settings = local.watched
}
