/** Each field once: the reference shows it in parts, and a test loads it. */
export const EXAMPLE = `application: flights
instance: \${HOSTNAME:-local}
kafka:
  bootstrapServers: \${KAFKA_BOOTSTRAP_SERVERS:-localhost:9092}
  properties:
    security.protocol: sasl_ssl
    sasl.mechanisms: SCRAM-SHA-512
    sasl.username: \${KAFKA_USER:-flights}
    sasl.password: \${KAFKA_PASSWORD:-change-me}
pipelines:
  route-flights:
    group: flights.route-flights
    input:
      topics: [flights]
      key: string
      value: json
      startAt: earliest
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
      properties:
        fetch.max.bytes: 10485760
    producer:
      properties:
        compression.type: zstd
    provenance: false
http: { host: 0.0.0.0, port: 8080 }
log: { level: info, format: auto }
shutdown: { grace: 30s }
`;
