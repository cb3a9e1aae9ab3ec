pipelines = {
  sessions = { memory = 128 }
}
