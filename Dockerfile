# syntax=docker/dockerfile:1
# The service with LibreOffice, Chromium and fonts, on Ubuntu 24.04, for amd64 and arm64.
#   docker build -t ofd-server .
ARG NODE_VERSION=20.20.2
ARG PLAYWRIGHT_VERSION=1.65.1

FROM node:${NODE_VERSION}-bookworm-slim AS node

FROM ubuntu:24.04 AS base
COPY --from=node /usr/local/bin/node /usr/local/bin/node

# Native modules are compiled here, against the headers that came with this very node.
FROM base AS build
COPY --from=node /usr/local/include/node /usr/local/include/node
COPY --from=node /usr/local/lib/node_modules /usr/local/lib/node_modules
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm \
    && ln -s ../lib/node_modules/npm/bin/npx-cli.js /usr/local/bin/npx
# hadolint ignore=DL3008
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends build-essential ca-certificates python3 \
    && rm -rf /var/lib/apt/lists/*
ENV npm_config_nodedir=/usr/local
WORKDIR /opt/ofd-server
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
RUN npm run build && npm prune --omit=dev --no-audit --no-fund

# Ubuntu's own Chromium is a stub for a snap. The version of this installer fixes the build, the same for both machines.
FROM build AS chromium
ARG PLAYWRIGHT_VERSION
ENV PLAYWRIGHT_BROWSERS_PATH=/opt/chromium
RUN npx -y "playwright-core@${PLAYWRIGHT_VERSION}" install chromium-headless-shell \
    && ln -s "$(find /opt/chromium -type f \( -name headless_shell -o -name chrome-headless-shell \) -print -quit)" /opt/chromium/chromium \
    && test -x /opt/chromium/chromium

FROM base
LABEL org.opencontainers.image.title="ofd-server" \
      org.opencontainers.image.description="Converts OFD, PDF, Office, HTML and pictures" \
      org.opencontainers.image.licenses="Apache-2.0"
# Fonts are no ballast: without them Chinese text is blank. The libraries from libasound2t64 on are Chromium's.
# hadolint ignore=DL3008
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
        ca-certificates tini fontconfig \
        libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui \
        fonts-noto-cjk fonts-wqy-microhei fonts-wqy-zenhei fonts-arphic-uming fonts-arphic-ukai \
        fonts-liberation fonts-dejavu-core \
        libasound2t64 libatk-bridge2.0-0t64 libatk1.0-0t64 libatspi2.0-0t64 libcairo2 libcups2t64 libdbus-1-3 libdrm2 \
        libgbm1 libglib2.0-0t64 libnspr4 libnss3 libpango-1.0-0 libx11-6 libxcb1 libxcomposite1 libxdamage1 libxext6 \
        libxfixes3 libxkbcommon0 libxrandr2 \
    && rm -rf /var/lib/apt/lists/* \
    && fc-cache -s
COPY --from=chromium /opt/chromium /opt/chromium
COPY --from=build /opt/ofd-server/package.json /opt/ofd-server/package.json
COPY --from=build /opt/ofd-server/node_modules /opt/ofd-server/node_modules
COPY --from=build /opt/ofd-server/dist /opt/ofd-server/dist
COPY docker-config.json /etc/ofd-server/config.json
# Group 0 may write, so that any uid of that group can run the service.
RUN useradd --uid 10001 --gid 0 --home-dir /var/lib/ofd-server --no-create-home --shell /usr/sbin/nologin ofd \
    && ln -s /opt/chromium/chromium /usr/local/bin/chromium \
    && printf '#!/bin/sh\nexec node /opt/ofd-server/dist/main.js "$@"\n' > /usr/local/bin/ofd-server \
    && chmod 0755 /usr/local/bin/ofd-server \
    && install -d -o 10001 -g 0 -m 0770 /var/lib/ofd-server /var/log/ofd-server /var/tmp/ofd-server
# Files, DNS and zlib share libuv's pool: a volume that hangs must not take all of it. What conversions give back goes
# back to the system and is not kept for each thread apart.
ENV NODE_ENV=production UV_THREADPOOL_SIZE=16 \
    MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=262144 MALLOC_TRIM_THRESHOLD_=1048576
USER 10001:0
EXPOSE 9705
VOLUME ["/var/lib/ofd-server", "/var/log/ofd-server", "/var/tmp/ofd-server"]
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 CMD ["ofd-server", "healthcheck"]
ENTRYPOINT ["tini", "--", "ofd-server"]
CMD ["-c", "/etc/ofd-server/config.json"]
