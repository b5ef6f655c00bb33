"""DuckDB: the embedded engine, which reads files and rows from memory."""
