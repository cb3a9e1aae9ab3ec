locals {
  name   = "platform"
  region = "eu-west-1"

  vpc_cidr = "10.60.0.0/16"
  azs      = ["eu-west-1a", "eu-west-1b"]

  # What a service has unless it says otherwise.
  defaults = {
    desired_count = 1
    retention     = 14
    health_check = {
      path     = "/healthz"
      interval = 30
    }
    tags = { Tier = "app" }
  }

  services = {
    web = {
      port         = 8080
      health_check = { path = "/ping" }
      tags         = { Team = "front" }
    }

    orders = {
      port          = 8081
      desired_count = 2
      retention     = 30
    }

    billing = { port = 8082 }
  }

  capacity = {
    on_demand = { min = 1, max = 4, desired = 2 }
    spot      = { min = 0, max = 6, desired = 1 }
  }
}
