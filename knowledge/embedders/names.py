"""What each embedder is called in the indexes that it builds: model and backend."""

NAMES = {"minilm": "all-MiniLM-L6-v2 (sentence-transformers)", "onnx": "all-MiniLM-L6-v2 int8 (onnxruntime)"}
