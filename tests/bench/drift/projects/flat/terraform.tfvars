# What differs from the defaults in this environment.
fleet_desired = 2
fleet_max     = 6
worker_memory = 256

web_tags = {
  Name = "web"
  team = "shop"
}
