output "table_names" {
  value = { for name, table in aws_dynamodb_table.this : name => table.name }
}

output "stream_arns" {
  description = "Streams of the tables that have one"
  value       = { for name, table in aws_dynamodb_table.this : name => table.stream_arn if var.tables[name].stream != null }
}

output "buckets" {
  value = { for name, bucket in module.buckets.wrapper : name => bucket.s3_bucket_id }
}
