# The service with the onnxruntime embedder; `--build-arg EMBEDDER=minilm` for sentence-transformers.
# Pin the base by its digest where you build: `--build-arg BASE=python:3.11-slim@sha256:…`.
ARG BASE=python:3.11-slim

FROM ${BASE} AS build
ARG EMBEDDER=onnx
WORKDIR /build
RUN python -m venv /opt/antiphon
COPY requirements.lock pyproject.toml README.md LICENSE ./
RUN /opt/antiphon/bin/pip install --no-cache-dir -c requirements.lock hatchling editables
COPY . .
# Every version is that of the lock.
RUN /opt/antiphon/bin/pip install --no-cache-dir --no-build-isolation -c requirements.lock \
    ".[${EMBEDDER},serve,documents,reports,telemetry,encryption,cluster,agui,mcp]"

FROM ${BASE}
# What is installed, the sample courses and the start: no build tools, no sources, no tests.
COPY --from=build /opt/antiphon /opt/antiphon
COPY samples/courses /app/samples/courses
COPY deploy/container/start.sh /app/start.sh
RUN useradd --uid 10001 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin antiphon \
    && mkdir /data && chown 10001:10001 /data

ENV PATH=/opt/antiphon/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 HOME=/tmp
ENV ANTIPHON_DATA_DIR=/data ANTIPHON_HOST=0.0.0.0 ANTIPHON_LOG_FORMAT=json
# Without a key nothing is served (docs/access.md): `docker run --rm -v DATA:/data IMAGE antiphon keys add NAME --tenant TENANT`
# makes the first; a port that is published on loopback only may do with ANTIPHON_ANYBODY_MAY, as docker-compose.yml has it.
# Whoever publishes the port under another name must say so; the health check below calls it 127.0.0.1.
ENV ANTIPHON_ALLOWED_HOSTS=localhost,127.0.0.1,[::1]

WORKDIR /app
# By number, so that a cluster can see that it is not root. Only /data and /tmp are written to.
USER 10001:10001
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/readyz', timeout=2)"]
CMD ["sh", "/app/start.sh"]
