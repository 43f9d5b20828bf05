# The app with its production packages, run by a user without rights. See docs/deploy.md#container.
# A tag can be moved. To pin the image, look its digest up with `docker buildx imagetools inspect node:24.21.0-bookworm-slim`, and build
# with --build-arg NODE=node:24.21.0-bookworm-slim@sha256:...
ARG NODE=node:24.21.0-bookworm-slim

FROM ${NODE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json vite.config.mjs ./
COPY src ./src
RUN npm run build

FROM ${NODE} AS packages
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --no-audit --no-fund

FROM ${NODE}
# In a container, other containers reach the app by its network address alone.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000
WORKDIR /app
COPY package.json ./
COPY --from=packages /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/src/start.mjs ./src/start.mjs
# The only folder that is written to: the SQLite file, and responses that a database could not take.
RUN install --directory --owner=node --group=node --mode=0700 data
VOLUME /app/data
# docker exec vps-slack vps-slack doctor
RUN ln -s /app/src/start.mjs /usr/local/bin/vps-slack
USER node
EXPOSE 3000
STOPSIGNAL SIGTERM
# /livez rather than /readyz: a restart does not bring back Slack, the database or the hosting API.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/livez`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "src/start.mjs"]
