"""Adapters to engines, each imported only when its name is asked for."""
