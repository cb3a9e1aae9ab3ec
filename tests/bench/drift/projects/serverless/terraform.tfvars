origins = ["book.clinic.example", "desk.clinic.example"]
watched = ["book", "remind", "report"]

routes = {
  "GET /appointments"         = { function = "list" }
  "POST /appointments"        = { function = "book" }
  "DELETE /appointments/{id}" = { function = "cancel" }
  "GET /reports/{month}"      = { function = "report", authorization = "AWS_IAM" }
}

tables = {
  audit    = { read = 5, expires = "until" }
  sessions = { read = 10, write = 10 }
}

tags = {
  Application = "clinic"
  Team        = "patients"
}
