"""The promises as rules over what a run left, and the table that names them."""
