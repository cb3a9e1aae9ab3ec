module "a" {
  source = "./queue"

  name = "a"
}

module "b" {
  source = "./queue"

  name = "b"
  tags = local.tags
}

module "c" {
  source   = "./queue"
  for_each = toset(["x", "y"])

  name = each.key
  tags = local.tags
}

locals {
  tags = { stage = "test" }
}

output "stage" {
  value = local.tags.stage
}
