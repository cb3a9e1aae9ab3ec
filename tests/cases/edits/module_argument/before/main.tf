module "a" {
  source = "./q"

  name       = "a"
  visibility = 60
}

module "b" {
  source = "./q"
  name   = "b"
}

module "c" {
  source = "./q"
  name   = "c"
  options = {
    fifo = true
  }
}

resource "aws_sqs_queue" "d" {
  delay_seconds = module.a.size
}
