resource "aws_sqs_queue" "a" {
  name = "größer als größe" # ü
  tags = {
    "größe" = "y"     # eins
    b       = "é" # zwei
  }
}
