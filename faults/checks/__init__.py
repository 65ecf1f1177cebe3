"""The promises as rules over the results of a run, and the table that names them."""
