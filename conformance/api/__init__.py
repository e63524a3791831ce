"""What users do: check, compare, merge, diff, strength; with expected failures and floors."""
