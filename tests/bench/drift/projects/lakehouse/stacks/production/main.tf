locals {
  prefix = "lake-${local.short[var.environment]}"
  short  = { production = "prod", staging = "stg" }
}

module "ingest" {
  source = "../../components/ingest"

  prefix       = local.prefix
  streams      = var.streams
  alarm_topics = [aws_sns_topic.alerts.arn]

  delivery = {
    stream     = "orders"
    bucket_arn = module.lake.arn
    role_arn   = aws_iam_role.service["firehose"].arn
    buffer     = { seconds = 120 }
  }
}

module "pipeline" {
  source   = "../../components/pipeline"
  for_each = var.pipelines

  name = "${local.prefix}-${each.key}"

  roles = {
    function = aws_iam_role.service["lambda"].arn
    machine  = aws_iam_role.service["states"].arn
  }

  settings = merge(each.value, {
    memory      = coalesce(each.value.memory, var.tiers[each.value.tier].memory)
    timeout     = coalesce(each.value.timeout, var.tiers[each.value.tier].timeout)
    concurrency = try(coalesce(var.tiers[each.value.tier].concurrency), -1)
    log_days    = coalesce(each.value.log_days, var.log_days)
  })
}

module "catalog" {
  source = "../../components/catalog"

  database = replace(local.prefix, "-", "_")
  bucket   = module.lake.id
  tables   = var.tables
}

module "lake" {
  source = "../../vendor/bucket"

  bucket     = "${local.prefix}-data"
  versioning = { enabled = true }
}

module "landing" {
  source = "../../vendor/bucket"

  bucket                     = "${local.prefix}-landing"
  attach_public_access_block = false
}

module "checkpoint" {
  source   = "../../vendor/checkpoint"
  for_each = toset(["orders", "clicks"])

  name = "${local.prefix}-${each.key}-checkpoint"
}

module "leases" {
  source = "../../vendor/checkpoint"

  name     = "${local.prefix}-leases"
  capacity = { read = 10 }
}
