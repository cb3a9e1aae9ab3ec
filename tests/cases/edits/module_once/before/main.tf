module "q" {
  source = "./q"
  name   = "q"
}

resource "aws_sqs_queue" "d" {
  delay_seconds = module.q.size
}
