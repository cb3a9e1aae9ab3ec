module "a" {
  source = "./queue"

  name          = "a"
  delay_seconds = 5

  retention_in_days = {
    in = 30
  }
}

module "b" {
  source = "./queue"

  name = "b"
  tags = merge(local.tags, { owner = "ada" })

  queue_name = "b-work"

  point_in_time_recovery = [
    {
      enabled = true
    },
  ]
}

module "c" {
  source   = "./queue"
  for_each = toset(["x", "y"])

  name = each.key
  tags = merge(local.tags, each.key == "x" ? { owner = "bob" } : {})

  delay_seconds = each.key == "y" ? 9 : 0
}

locals {
  tags = { stage = "test" }
}

output "stage" {
  value = local.tags.stage
}
