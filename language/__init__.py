"""Text processing that several components share: sentences, words, our own markup, extraction."""
