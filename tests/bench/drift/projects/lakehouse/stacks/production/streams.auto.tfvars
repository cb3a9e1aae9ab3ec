streams = {
  orders = {
    shards          = 4
    retention_hours = 72
    metrics         = ["IncomingBytes", "OutgoingBytes"]
    alarm           = { age_ms = 30000 }
  }
  clicks = {
    shards = 2
    alarm  = { age_ms = 300000, periods = 5 }
    tags   = { Sensitive = "no" }
  }
  returns = {}
}
