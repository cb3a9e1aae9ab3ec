variable "pipelines" {
  type = any
}

resource "aws_iam_role" "service" {
  name = "lake-stg-service"
  assume_role_policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "lambda.amazonaws.com" } }]
  })
}

module "pipeline" {
  source   = "../../components/pipeline"
  for_each = var.pipelines

  name     = "lake-stg-${each.key}"
  roles    = { function = aws_iam_role.service.arn, machine = aws_iam_role.service.arn }
  settings = each.value
}
