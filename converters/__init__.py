"""What joins the formats: finding the right one, converting between them, and the command line."""
