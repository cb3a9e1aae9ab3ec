bucket_actions = ["s3:GetObject"]

teams = {
  red  = ["sqs:SendMessage"]
  blue = ["sqs:SendMessage", "sqs:ReceiveMessage"]
}
