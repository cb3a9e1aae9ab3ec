queues = {
  mail   = { visibility = 30 }
  report = { visibility = 300, delay = 5 }

  # The slow one.
  import = {
    visibility = 900
    alarm_at   = 50
    tags = {
      owner = "data"
    }
  }
}

teams = ["red", "blue", "green"]

doors = [
  {
    name  = "web"
    port  = 443
    cidrs = ["10.0.0.0/8"]
  },
  {
    name  = "metrics"
    port  = 9100
    cidrs = ["10.1.0.0/16", "10.2.0.0/16"]
  },
]
