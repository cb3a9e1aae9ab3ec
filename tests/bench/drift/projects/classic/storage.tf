resource "aws_s3_bucket" "reports" {
  bucket = "${var.name}-reports"
  tags   = var.tags
}

resource "aws_s3_bucket_policy" "reports" {
  bucket = aws_s3_bucket.reports.id
  policy = templatefile("${path.module}/templates/reports.json.tpl", {
    bucket  = aws_s3_bucket.reports.arn
    readers = ["arn:aws:iam::123456789012:role/auditor", "arn:aws:iam::123456789012:role/controlling"]
  })
}

resource "aws_db_instance" "main" {
  identifier              = var.name
  engine                  = "postgres"
  instance_class          = "db.t3.medium"
  allocated_storage       = 100
  username                = "intranet"
  password                = "only-for-the-simulation"
  backup_retention_period = var.backup_days
  skip_final_snapshot     = true
  tags                    = var.tags
}
