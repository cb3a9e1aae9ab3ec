module "a" {
  source = "./q"

  name       = "a"
  visibility = 90

  max_message_size = 2048

  options = {
    delay = 7
  }
}

module "b" {
  source = "./q"
  name   = "b"

  visibility = 45
}

module "c" {
  source = "./q"
  name   = "c"

  fifo_queue = true

  options = {
    fifo  = true
    delay = 5
  }
}

resource "aws_sqs_queue" "d" {
  delay_seconds = module.a.size
}
