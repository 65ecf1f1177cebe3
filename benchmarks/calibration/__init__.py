"""How far the built-in reasoner's confidence can be relied on: fitted on one half of a set, shown on the other."""
