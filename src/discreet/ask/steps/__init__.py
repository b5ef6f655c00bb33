"""Steps of a question in SQL: as a text, and what is found out before it is asked itself."""
