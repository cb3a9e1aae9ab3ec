tables = {
  orders = {
    description = "One row an order"
    columns = [
      { name = "order_id" },
      { name = "amount", type = "decimal(10,2)" },
      { name = "placed_at", type = "timestamp" },
    ]
    partitions = ["day"]
    parameters = { owner = "sales" }
  }
  clicks = {
    format     = "json"
    columns    = [{ name = "session" }, { name = "page" }, { name = "at", type = "timestamp" }]
    partitions = ["day", "hour"]
  }
}
