queues = {
  orders = { visibility = 30 }
  mail = {
    visibility = 60
    delay      = 1
  }
  "old.one" = {}
}
