"""PostgreSQL: tables that stay in their database, which computes over them."""
