# Millrace as an image: docs/deployment.md. Needs no BuildKit, and of the network only Debian's and npm's registries.

FROM node:24-bookworm-slim AS packages
WORKDIR /millrace
COPY package.json package-lock.json .npmrc ./
COPY dev/setup dev/setup
# The Kafka client comes as a prebuilt binary; where none can be fetched, this installs a compiler and builds it.
RUN node --input-type=module -e "import('./dev/setup/packages.mjs').then(({ providePackages }) => providePackages())"

FROM packages AS build
COPY tsconfig.json tsconfig.build.json ./
COPY src src
RUN npm run --silent build && chmod +x dist/millrace.cjs

FROM packages AS production
# Of the client remain its code, its binary and the libraries built with it: without sources and objects, and without the
# packages that installed it.
RUN cd node_modules/@confluentinc/kafka-javascript \
 && find . -mindepth 1 -maxdepth 1 ! -name package.json ! -name 'LICENSE*' ! -name librdkafka.js ! -name lib ! -name build \
      -exec rm -r {} + \
 && rm -rf build/Release/obj.target \
 && find build ! -type d ! -name '*.node' ! -name '*.so.1' -delete \
 && { ! command -v strip >/dev/null || find build -type f -exec strip --strip-unneeded {} +; } \
 && npm pkg delete dependencies.nan dependencies.tar 'dependencies.@mapbox/node-pre-gyp'
# The lock file would keep them. Types are for editors.
RUN rm package-lock.json node_modules/.package-lock.json && npm prune --omit=dev --ignore-scripts --offline \
 && rm -rf node_modules/@types node_modules/undici-types \
 && find node_modules -type d -empty -delete

FROM node:24-bookworm-slim
COPY --from=production /millrace/node_modules /usr/local/lib/millrace/node_modules
# tini, because nothing, not even SIGKILL of its own, ends a process with the pid 1; certificates for brokers with public ones.
# The other libraries are what a client that was built here is linked to.
RUN apt-get update -q \
 && apt-get install -y -q --no-install-recommends ca-certificates tini $( \
      ldd /usr/local/lib/millrace/node_modules/@confluentinc/kafka-javascript/build/Release/*.node | grep -q 'not found' \
      && echo libcurl4 libsasl2-2 libssl3 libzstd1) \
 && apt-get clean && rm -rf /var/lib/apt/lists/*
COPY --from=build /millrace/dist /usr/local/lib/millrace/dist
COPY package.json LICENSE /usr/local/lib/millrace/
# The client's libraries are all there, or this fails.
RUN ln -s ../lib/millrace/dist/millrace.cjs /usr/local/bin/millrace && millrace --version

ENV NODE_ENV=production
# By number: Kubernetes can not tell that a name is not root's.
USER 1000:1000
# Where the user's folder with the configuration and the transforms is mounted, as config.
WORKDIR /app
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s CMD ["millrace", "health"]
ENTRYPOINT ["tini", "-s", "--", "millrace"]
CMD ["--help"]

ARG VERSION
ARG REVISION
LABEL org.opencontainers.image.title="Millrace" \
      org.opencontainers.image.description="Exactly-once Kafka-to-Kafka stream processing in TypeScript" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
