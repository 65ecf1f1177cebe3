"""The quality of the answers: `make eval` asks the sample questions and grades the answers."""
