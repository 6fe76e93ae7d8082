"""What is measured, as pure functions of texts, spans and ranks."""
