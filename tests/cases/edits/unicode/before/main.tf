resource "aws_sqs_queue" "a" {
  name = "größe" # ü
  tags = {
    "größe" = "x"     # eins
    b       = "längst" # zwei
  }
}
