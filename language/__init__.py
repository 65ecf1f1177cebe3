"""Plain language work that several components share: sentences, words, our own markup, extraction."""
