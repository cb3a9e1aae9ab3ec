locals {
  environment = "production"
  product     = "Ledgerly"
  prefix      = "ledgerly-prod"

  # What each environment has, over what all of them have.
  common = {
    api_retention  = 30
    session_hours  = 1
    receive_wait   = 5
    retry_attempts = 3
  }

  environments = {
    staging    = { api_retention = 7 }
    production = { api_retention = 90, receive_wait = 10 }
  }

  settings = merge(local.common, lookup(local.environments, local.environment, {}))

  tiers = {
    basic = {
      visibility = 60
      retention  = 345600
      read       = 5
      write      = 5
    }
    premium = {
      visibility = 120
      retention  = 1209600
      read       = 20
      write      = 10
    }
  }

  tenants = {
    acme     = { tier = "basic" }
    globex   = { tier = "basic", overrides = { read = 8 } }
    initech  = { tier = "premium" }
    umbrella = { tier = "premium", overrides = { visibility = 240 }, tags = { Region = "apac" } }
  }

  schedules = {
    invoice = { expression = "rate(1 day)", enabled = true }
    cleanup = { expression = "rate(7 days)", enabled = true }
    digest  = { expression = "rate(1 hour)", enabled = true }
  }

  functions = {
    signup  = { memory = 256 }
    billing = { memory = 512, timeout = 30, concurrency = 10 }
    export  = {}
  }
}
