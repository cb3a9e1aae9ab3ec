module "q" {
  source = "./q"
  name   = "q"

  visibility = 60
}

resource "aws_sqs_queue" "d" {
  delay_seconds = module.q.size
}
