locals {
  tags = {
    project = "keyed"
    stage   = var.environment
  }

  logs = {
    "/keyed/app"   = 30
    "/keyed/audit" = 365
    "/keyed/web"   = 14 # asked for by the web team
  }

  team_days = {
    red = 60
  }

  base_roles = {
    deploy = { hours = 2 }
    read   = { hours = 4 }
  }
  roles = merge(local.base_roles, var.extra_roles)

  networks = {
    a = { cidr = "10.0.1.0/24", zone = "eu-west-1a", public = true }
    b = { cidr = "10.0.2.0/24", zone = "eu-west-1b", public = false }
  }

  services = {
    cart = {
      streams = { access = 7, errors = 90 }
    }
    search = {
      streams = { access = 3 }
    }
  }
  streams = flatten([
    for service, settings in local.services : [
      for stream, days in settings.streams : {
        key  = "${service}-${stream}"
        name = "/service/${service}/${stream}"
        days = days
      }
    ]
  ])

  tables = [
    { name = "carts", read = 5, write = 5 },
    { name = "visits", read = 10, write = 2 },
  ]

  worker_memory = [128, 256]
}
