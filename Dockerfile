# The service with the onnxruntime embedder; `--build-arg EMBEDDER=minilm` for sentence-transformers.
FROM python:3.11-slim

ARG EMBEDDER=onnx
ENV PYTHONUNBUFFERED=1 ANTIPHON_DATA_DIR=/data ANTIPHON_HOST=0.0.0.0 ANTIPHON_LOG_FORMAT=json
# Without a key nothing is served (docs/access.md): `docker run --rm -v DATA:/data IMAGE antiphon keys add NAME --tenant TENANT`
# makes the first; a port that is published on loopback only may do with ANTIPHON_ANYBODY_MAY, as docker-compose.yml has it.
# Whoever publishes the port under another name must say so; the health check below calls it 127.0.0.1.
ENV ANTIPHON_ALLOWED_HOSTS=localhost,127.0.0.1,[::1]

WORKDIR /app
COPY requirements.lock pyproject.toml README.md LICENSE ./
RUN pip install --no-cache-dir -c requirements.lock hatchling editables
COPY . .
RUN pip install --no-cache-dir --no-build-isolation -c requirements.lock ".[${EMBEDDER},documents]" \
    && useradd --create-home antiphon && mkdir /data && chown antiphon /data

USER antiphon
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/readyz', timeout=2)"]
# Indexing is incremental: courses already indexed cost a second.
CMD ["sh", "-c", "antiphon index samples/courses && exec antiphon serve"]
