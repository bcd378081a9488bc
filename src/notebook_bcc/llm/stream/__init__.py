"""Objects from the growing text of an answer."""
