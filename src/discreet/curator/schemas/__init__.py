"""Schemas: all tables of a vault together: public ones beside the private, and registering them in one go."""
