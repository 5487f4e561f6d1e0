# Everything the site and its workers need; the commands are in docker-compose.yml.
FROM python:3.13-slim-bookworm AS build
# A mirror, if there is one, comes in through pip's own variables: --build-arg PIP_INDEX_URL=…
ARG PIP_INDEX_URL
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /opt/venv
COPY requirements/run.txt /tmp/run.txt
RUN /opt/venv/bin/pip install --require-hashes --requirement /tmp/run.txt

FROM python:3.13-slim-bookworm
ARG CODE_REVISION=unknown
ENV PATH=/opt/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    AML_VAR_DIR=/var/lib/aml AML_CODE_REVISION=$CODE_REVISION
RUN groupadd --gid 10001 aml && useradd --uid 10001 --gid aml --no-create-home --shell /usr/sbin/nologin aml \
    && install -d -o aml -g aml /var/lib/aml /var/lib/aml/bodies /var/lib/aml/files
COPY --from=build /opt/venv /opt/venv
WORKDIR /app
COPY . .
# The files of the site belong to the image, so that they always fit its code; only bodies and uploads are data.
RUN python -m compileall -q . && python scripts/production_env.py python manage.py collectstatic --noinput
USER 10001:10001
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=6s --start-period=40s CMD ["python", "scripts/health.py"]
CMD ["gunicorn", "aml.wsgi:application", "--bind", "0.0.0.0:8000", "--worker-class", "gthread", "--workers", "2", "--threads", "8", "--worker-tmp-dir", "/dev/shm", "--access-logfile", "-"]
