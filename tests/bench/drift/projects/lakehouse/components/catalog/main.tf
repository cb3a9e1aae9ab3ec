variable "database" {
  type = string
}

variable "bucket" {
  type = string
}

variable "tables" {
  type = map(object({
    description = optional(string, "")
    format      = optional(string, "parquet")
    columns = list(object({
      name = string
      type = optional(string, "string")
    }))
    partitions = optional(list(string), [])
    parameters = optional(map(string), {})
  }))
}

resource "aws_glue_catalog_database" "this" {
  name        = var.database
  description = "What analysts query"
}

resource "aws_glue_catalog_table" "this" {
  for_each = var.tables

  name          = each.key
  description   = each.value.description
  database_name = aws_glue_catalog_database.this.name
  table_type    = "EXTERNAL_TABLE"
  parameters    = merge({ classification = each.value.format }, each.value.parameters)

  storage_descriptor {
    location = "s3://${var.bucket}/${each.key}/"

    dynamic "columns" {
      for_each = each.value.columns

      content {
        name = columns.value.name
        type = columns.value.type
      }
    }
  }

  dynamic "partition_keys" {
    for_each = each.value.partitions

    content {
      name = partition_keys.value
      type = "string"
    }
  }
}
