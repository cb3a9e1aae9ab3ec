queues = {
  orders = { visibility = 30, delay = 3 }
  mail = {
    visibility = 60
    delay      = 2
  }
  "old.one" = { delay = 4 }
}
