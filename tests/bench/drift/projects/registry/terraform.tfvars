functions = {
  resize = {
    memory  = 512
    timeout = 30
    environment = {
      QUALITY = "80"
    }
  }
  notify = {
    timeout = 10
    days    = 14
  }
}
