"""Steps of a question in SQL: what is found out before it is asked itself."""
