mail_visibility = 60
