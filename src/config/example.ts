/** Each field once: the reference shows it in parts, and a test loads it. */
export const EXAMPLE = `application: flights
instance: \${HOSTNAME:-local}
kafka:
  bootstrapServers: \${KAFKA_BOOTSTRAP_SERVERS:-localhost:9092}
  tls: { ca: ./ca.pem, certificate: ./client.pem, key: ./client.key, keyPassword: '\${KEY_PASSWORD:-change-me}' }
  sasl:
    mechanism: OAUTHBEARER # the others take username and password instead of oauth
    oauth:
      tokenEndpoint: https://identity.example/token
      clientId: flights
      clientSecret: \${CLIENT_SECRET:-change-me}
      scope: kafka
      ca: ./identity-ca.pem
  properties:
    client.rack: \${ZONE:-eu-central-1a}
pipelines:
  route-flights:
    group: flights.route-flights
    workers: 2
    input:
      topics: [flights]
      key: string
      value: json
      startAt: earliest
      onDataLoss: stop
    transform: ./transforms/route-flight.ts
    outputs:
      on-time: { topic: flights.on-time, key: string, value: json }
      delayed: { topic: flights.delayed, key: string, value: { avro: ./schemas/delayed-flight.avsc } }
    transaction: { commitInterval: 100ms, maxRecords: 10000, maxBytes: 16MiB, timeout: 60s }
    retry: { attempts: 3, minDelay: 1s, maxDelay: 10s }
    deadLetter: { topic: flights.dead-letters, format: headers }
    onError: hold
    consumer:
      protocol: classic
      assignor: cooperative-sticky
      sessionTimeout: 10s
      maxPollInterval: 5m
      staticMembership: true
      properties:
        fetch.max.bytes: 10485760
    producer:
      properties:
        compression.type: zstd
    provenance: false
effects:
  store-delays:
    group: flights.store-delays
    input:
      topics: [flights.delayed]
      key: string
      value: { avro: ./schemas/delayed-flight.avsc }
      startAt: earliest
      onDataLoss: stop
    eventId: { header: event-id }
    postgres:
      url: \${DATABASE_URL:-postgres://flights@localhost:5432/flights}
      connections: 4
      connectTimeout: 10s
      statementTimeout: 30s
      lockTimeout: 10s
      processedEvents:
        table: processed_events
        consumer: flights.store-delays
        pruneAfter: 720h
        statements:
          - INSERT INTO delays (flight, minutes) VALUES ({key}, {value.delay})
          - UPDATE totals SET minutes = minutes + {value.delay} WHERE origin = {value.origin}
    batch: { maxRecords: 100, maxWait: 500ms }
    concurrency: 1
    transaction: { commitInterval: 100ms, timeout: 60s }
    retry: { attempts: 3, minDelay: 1s, maxDelay: 10s }
    deadLetter: { topic: flights.store-delays.dead-letters, format: headers }
    onError: hold
    consumer:
      protocol: classic
      assignor: cooperative-sticky
      sessionTimeout: 10s
      maxPollInterval: 5m
      staticMembership: true
      properties:
        fetch.max.bytes: 10485760
    producer:
      properties:
        compression.type: zstd
  latest-delays:
    input: { topics: [flights.delayed], key: string, value: { avro: ./schemas/delayed-flight.avsc } }
    postgres:
      url: \${DATABASE_URL:-postgres://flights@localhost:5432/flights}
      upsert:
        table: latest_delays
        key: { flight: key }
        columns: { minutes: value.delay, event_id: eventId }
        version: { column: updated_at, from: timestamp }
  tell-desk:
    input: { topics: [flights.delayed], key: string, value: { avro: ./schemas/delayed-flight.avsc } }
    http:
      url: https://desk.example/delays/{key}
      method: POST
      headers: { x-origin: '{value.origin}' }
      body: { flight: '{key}', minutes: '{value.delay}' }
      timeout: 10s
      done: [409]
      connections: 8
      bearerToken: \${DESK_TOKEN:-change-me}
      tls: { ca: ./ca.pem, certificate: ./client.pem, key: ./client.key }
worker:
  maxMemory: 1GiB
  restart: { attempts: 10, minDelay: 200ms, maxDelay: 30s, resetAfter: 5m }
http: { host: 0.0.0.0, port: 8080 }
log: { level: info, format: auto }
shutdown: { grace: 30s }
`;
