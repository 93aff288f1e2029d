/**
 * Client properties that a configuration can not set: those on which the guarantee rests, those that have a field of
 * their own, and those that the loop needs as they are. The first matching group gives the reason.
 */
interface RefusedProperties {
  readonly names: readonly string[];
  /** Why, and what to do instead; a clause that can follow the name. */
  readonly reason: string;
}

export const REFUSED_PROPERTIES: readonly RefusedProperties[] = [
  {
    names: ['bootstrap.servers', 'metadata.broker.list'],
    reason: 'is set by kafka.bootstrapServers',
  },
  { names: ['security.protocol'], reason: 'follows from kafka.tls and kafka.sasl' },
  { names: ['ssl.ca.location', 'ssl.ca.pem'], reason: 'is set by kafka.tls.ca' },
  { names: ['ssl.certificate.location', 'ssl.certificate.pem'], reason: 'is set by kafka.tls.certificate' },
  { names: ['ssl.key.location', 'ssl.key.pem'], reason: 'is set by kafka.tls.key' },
  { names: ['ssl.key.password'], reason: 'is set by kafka.tls.keyPassword' },
  { names: ['sasl.mechanism', 'sasl.mechanisms'], reason: 'is set by kafka.sasl.mechanism' },
  { names: ['sasl.username'], reason: 'is set by kafka.sasl.username' },
  { names: ['sasl.password'], reason: 'is set by kafka.sasl.password' },
  {
    names: ['sasl.oauthbearer.client.id', 'sasl.oauthbearer.client.credentials.client.id'],
    reason: 'is set by kafka.sasl.oauth.clientId',
  },
  {
    names: ['sasl.oauthbearer.client.secret', 'sasl.oauthbearer.client.credentials.client.secret'],
    reason: 'is set by kafka.sasl.oauth.clientSecret',
  },
  { names: ['sasl.oauthbearer.token.endpoint.url'], reason: 'is set by kafka.sasl.oauth.tokenEndpoint' },
  { names: ['sasl.oauthbearer.scope'], reason: 'is set by kafka.sasl.oauth.scope' },
  { names: ['https.ca.location', 'https.ca.pem'], reason: 'is set by kafka.sasl.oauth.ca' },
  { names: ['client.id'], reason: 'is made from application, pipeline and instance' },
  { names: ['group.id'], reason: 'is set by pipelines.<name>.group' },
  {
    names: ['group.instance.id'],
    reason:
      'is made from application, pipeline, instance and worker; pipelines.<name>.consumer.staticMembership: false ' +
      'does without it',
  },
  { names: ['group.protocol'], reason: 'is set by pipelines.<name>.consumer.protocol' },
  { names: ['group.protocol.type'], reason: 'has only one value that works' },
  { names: ['partition.assignment.strategy'], reason: 'is set by pipelines.<name>.consumer.assignor' },
  { names: ['session.timeout.ms'], reason: 'is set by pipelines.<name>.consumer.sessionTimeout' },
  { names: ['max.poll.interval.ms'], reason: 'is set by pipelines.<name>.consumer.maxPollInterval' },
  {
    names: ['auto.offset.reset'],
    reason:
      'is set by pipelines.<name>.input.startAt for a new group; later a position that no longer exists must stop ' +
      'the pipeline, not be skipped',
  },
  {
    names: ['isolation.level'],
    reason: 'is always read_committed: records of transactions that were aborted must not be read',
  },
  {
    names: [
      'enable.auto.commit',
      'auto.commit.enable',
      'auto.commit.interval.ms',
      'enable.auto.offset.store',
      'offset.store.method',
      'offset.store.path',
      'offset.store.sync.interval.ms',
    ],
    reason: 'is not used: offsets move only in the transaction that holds their outputs',
  },
  {
    names: ['transactional.id'],
    reason: 'is made from application, pipeline and instance, so that a restarted process fences what it left behind',
  },
  {
    names: ['transaction.timeout.ms', 'message.timeout.ms', 'delivery.timeout.ms', 'request.timeout.ms'],
    reason: 'follows from pipelines.<name>.transaction.timeout: records are delivered within it, or not at all',
  },
  {
    names: ['socket.timeout.ms', 'socket.max.fails'],
    reason:
      'follows from pipelines.<name>.transaction.timeout: a request that may have been sent twice must be noticed ' +
      'before the next transaction begins',
  },
  {
    names: ['enable.idempotence', 'enable.gapless.guarantee'],
    reason: 'is not a choice: a transaction needs the idempotent producer as it is',
  },
  {
    names: ['acks', 'request.required.acks'],
    reason: 'is always all: a record that one broker alone holds can be lost',
  },
  {
    names: ['retries', 'message.send.max.retries'],
    reason: 'is not a choice: records are sent again until the transaction ends, so that none is lost on the way',
  },
  {
    names: ['max.in.flight', 'max.in.flight.requests.per.connection', 'queuing.strategy'],
    reason: 'is not a choice: the idempotent producer keeps the order of records only as it is',
  },
  {
    names: ['partitioner'],
    reason: 'is always murmur2_random, as in Java producers: a key stays in its partition whoever writes it',
  },
  {
    names: ['allow.auto.create.topics'],
    reason: 'is always false: a misspelt topic must be an error, not a new topic',
  },
  {
    names: ['batch.size'],
    reason: "follows from the output topics' max.message.bytes: one large record must not take others with it",
  },
  { names: ['topic.blacklist'], reason: 'would hide topics that a pipeline reads or writes' },
  {
    names: ['api.version.request', 'api.version.fallback.ms', 'broker.version.fallback'],
    reason: 'is for brokers older than transactions',
  },
  {
    names: ['statistics.interval.ms', 'enable.partition.eof', 'delivery.report.only.error', 'enabled_events'],
    reason: 'is needed as it is: progress is measured with it',
  },
  {
    names: ['log.queue', 'enable.random.seed', 'internal.termination.signal', 'builtin.features'],
    reason: 'belongs to how the client is built into Millrace',
  },
  {
    names: ['ssl.ca.certificate.stores'],
    reason: 'is for Windows, on which Millrace does not run: use kafka.tls.ca',
  },
  {
    names: ['plugin.library.paths'],
    reason: 'would run code inside the client, which could change what it does',
  },
  {
    names: ['max.poll.records', 'share.acknowledgement.mode'],
    reason: 'is for share consumers, which have no transactions',
  },
  {
    names: ['ssl.truststore.location', 'ssl.truststore.password', 'ssl.truststore.type', 'ssl.truststore.certificates'],
    reason: 'is of the Java clients: use kafka.tls.ca',
  },
  {
    names: ['sasl.jaas.config'],
    reason: 'is of the Java clients: use kafka.sasl',
  },
];

const REASONS = new Map(REFUSED_PROPERTIES.flatMap(({ names, reason }) => names.map((name) => [name, reason])));

export function refusalReason(name: string): string | undefined {
  return REASONS.get(name);
}
