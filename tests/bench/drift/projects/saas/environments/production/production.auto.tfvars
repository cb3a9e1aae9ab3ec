function_defaults = {
  memory  = 128
  timeout = 10
}

queue_settings = {
  visibility = "45"
  wait       = "10"
}
