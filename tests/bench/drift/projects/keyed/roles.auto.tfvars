extra_roles = {
  audit = { hours = 1 }
}
