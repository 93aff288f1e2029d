/** Kafka's API keys of the requests that tests do something to. */
export const API_KEYS = {
  Produce: 0,
  Metadata: 3,
  OffsetFetch: 9,
  JoinGroup: 11,
  Heartbeat: 12,
  LeaveGroup: 13,
  SyncGroup: 14,
  InitProducerId: 22,
  AddPartitionsToTxn: 24,
  AddOffsetsToTxn: 25,
  EndTxn: 26,
  TxnOffsetCommit: 28,
} as const;

export type Api = keyof typeof API_KEYS;

/** From these versions on a request ends in tagged fields. */
const END_TXN_FLEXIBLE = 3;

export interface KafkaRequest {
  readonly apiKey: number;
  readonly version: number;
  readonly correlationId: number;
  /** Of the product: `application.pipeline.instance`. */
  readonly clientId: string;
  /** The whole frame. */
  readonly frame: Buffer;
}

export type RequestFilter = (request: KafkaRequest) => boolean;

/** Reads the header (KIP-511: the first fields are the same in all versions). */
export function parseRequest(frame: Buffer): KafkaRequest {
  const clientIdLength = Math.max(0, frame.readInt16BE(12));
  return {
    apiKey: frame.readInt16BE(4),
    version: frame.readInt16BE(6),
    correlationId: frame.readInt32BE(8),
    clientId: frame.toString('utf8', 14, 14 + clientIdLength),
    frame,
  };
}

export const anyRequestOf =
  (...apis: readonly Api[]): RequestFilter =>
  ({ apiKey }) =>
    apis.some((api) => apiKey === API_KEYS[api]);

/** The same of the Kafka client alone, without what repeats the end of a last transaction. */
export const requestOf = (...apis: readonly Api[]): RequestFilter => {
  const isOf = anyRequestOf(...apis);
  return (request) => !request.clientId.endsWith('.last-end') && isOf(request);
};

/** What the clients ask of the two coordinators; each has a connection of its own in them. */
export const toTransactionCoordinator = anyRequestOf(
  'InitProducerId',
  'AddPartitionsToTxn',
  'AddOffsetsToTxn',
  'EndTxn',
);
export const toGroupCoordinator = requestOf(
  'OffsetFetch',
  'JoinGroup',
  'Heartbeat',
  'LeaveGroup',
  'SyncGroup',
  'TxnOffsetCommit',
);

export const commits: RequestFilter = (request) => endsTransaction(request) && isCommit(request);
export const aborts: RequestFilter = (request) => endsTransaction(request) && !isCommit(request);

const endsTransaction = requestOf('EndTxn');

/** The last field of EndTxn says it; behind it there may be the number of tagged fields, which is 0. */
const isCommit = ({ version, frame }: KafkaRequest): boolean => frame.at(version < END_TXN_FLEXIBLE ? -1 : -2) === 1;

/** The client itself asks in a later version. */
export const topicIds: RequestFilter = (request) => requestOf('Metadata')(request) && request.version === 12;

/** Requests of this instance of the product only. */
export const from =
  (instance: string, filter: RequestFilter): RequestFilter =>
  (request) =>
    request.clientId.endsWith(`.${instance}`) && filter(request);
