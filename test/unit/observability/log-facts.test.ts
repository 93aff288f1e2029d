import { describe, expect, it } from 'vitest';
import type { Failure } from '../../../src/pipeline/observer.ts';
import { combineObservers } from '../../../src/observability/combine-observers.ts';
import { logFacts } from '../../../src/observability/log-facts.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { LogLines } from './log-lines.ts';

const FAILURE: Failure = { topic: 'flights', partition: 2, offset: 41, attempt: 3, error: new TypeError('no origin') };
const COMMIT = {
  records: new Map([['flights', 10]]),
  produced: new Map([['on-time', 9]]),
  filtered: 1,
  deadLettered: new Map<string, number>(),
  timestamps: [],
  at: 0,
  durationMs: 12,
};

function observed(level: 'debug' | 'info' = 'info') {
  const lines = new LogLines();
  const clock = { ms: 0 };
  const log = { level, format: 'json' } as const;
  const logger = createLogger({ application: 'a', instance: 'i', log, secrets: [] }, { destination: lines });
  const observer = combineObservers(logFacts(logger, () => clock.ms));
  return { observer, clock, lines };
}

class ClientError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

describe('the log of facts', () => {
  it('says nothing while records flow and transactions commit', () => {
    const { observer, lines } = observed();
    for (let i = 0; i < 1000; i++) {
      observer.consumed('flights', 10);
      observer.transformed(0.01);
      observer.committed(COMMIT);
    }
    expect(lines.written).toEqual([]);
  });

  it('shows transactions at debug level', () => {
    const { observer, lines } = observed('debug');
    observer.committed(COMMIT);
    expect(lines.parsed()).toMatchObject([
      { level: 'debug', records: { flights: 10 }, produced: { 'on-time': 9 }, durationMs: 12 },
    ]);
  });

  it('tells each change of the assignment, with the partitions by topic', () => {
    const { observer, lines } = observed();
    const partitions = [
      { topic: 'flights', partition: 0 },
      { topic: 'airports', partition: 1 },
      { topic: 'flights', partition: 3 },
    ];
    observer.assigned(partitions);
    observer.revoked(partitions);
    observer.lost(partitions);
    expect(lines.parsed()).toMatchObject([
      { level: 'info', msg: 'partitions assigned', partitions: { flights: [0, 3], airports: [1] } },
      { level: 'info', msg: 'partitions revoked', partitions: { flights: [0, 3], airports: [1] } },
      { level: 'warn', msg: expect.stringContaining('lost') as string, partitions: { flights: [0, 3], airports: [1] } },
    ]);
  });

  it('names record and error of a failure', () => {
    const { observer, lines } = observed();
    observer.retried({ ...FAILURE, delayMs: 500 });
    observer.deadLettered(FAILURE);
    observer.held(FAILURE);
    const record = {
      topic: 'flights',
      partition: 2,
      offset: 41,
      attempt: 3,
      err: { type: 'TypeError', message: 'no origin' },
    };
    expect(lines.parsed()).toMatchObject([
      { level: 'warn', delayMs: 500, ...record },
      { level: 'warn', ...record },
      { level: 'error', ...record },
    ]);
  });

  it("shows where in the user's code an error and its cause were thrown, and nothing of what called it", () => {
    const { observer, lines } = observed();
    const ours = import.meta.dirname.replace('/test/unit/', '/src/');
    const at = (error: Error, place: string): Error => {
      error.stack = [
        `TypeError: ${error.message}`,
        `    at route (${place})`,
        `    at run (${ours}/log-facts.ts:1:1)`,
        '    at parse (/app/node_modules/some/index.js:5:1)',
        '    at node:internal/process/task_queues:95:5',
      ].join('\n');
      return error;
    };
    const cause = Object.assign(at(new Error('refused'), '/app/client.ts:7:1'), { code: 'ECONNREFUSED' });
    const error = at(new TypeError('no origin', { cause }), '/app/transforms/route.ts:3:9');
    cause.cause = error;
    observer.retried({ ...FAILURE, error, delayMs: 500 });
    expect(lines.parsed()[0]?.['err']).toMatchObject({
      type: 'TypeError',
      message: 'no origin',
      stack: 'at route (/app/transforms/route.ts:3:9)',
      cause: { type: 'Error', message: 'refused', code: 'ECONNREFUSED', stack: 'at route (/app/client.ts:7:1)' },
    });
  });

  it('writes one line of a kind in 30 seconds, and how many were left out with the next', () => {
    const { observer, clock, lines } = observed();
    for (let i = 0; i < 1000; i++) observer.deadLettered(FAILURE);
    clock.ms = 29_999;
    observer.deadLettered(FAILURE);
    expect(lines.parsed()).toHaveLength(1);
    expect(lines.parsed()[0]).not.toHaveProperty('suppressed');

    clock.ms = 30_000;
    observer.deadLettered(FAILURE);
    observer.deadLettered(FAILURE);
    clock.ms = 60_000;
    observer.deadLettered(FAILURE);
    expect(lines.parsed().map(({ suppressed }) => suppressed)).toEqual([undefined, 1000, 1]);
  });

  it('thins the complaints of the client that differ in numbers only, each kind on its own', () => {
    const { observer, lines } = observed();
    for (let i = 0; i < 100; i++) {
      observer.clientError('consumer', new ClientError(-195, `broker ${i} is down`));
      observer.clientError('consumer', new ClientError(-193, 'cannot resolve'));
      observer.clientError('producer', new ClientError(-195, `broker ${i} is down`));
    }
    expect(lines.parsed().map(({ client, msg }) => [client, msg])).toEqual([
      ['consumer', 'Kafka client: broker 0 is down'],
      ['consumer', 'Kafka client: cannot resolve'],
      ['producer', 'Kafka client: broker 0 is down'],
    ]);
  });

  it('reports each held partition, and its release', () => {
    const { observer, lines } = observed();
    observer.held(FAILURE);
    observer.held({ ...FAILURE, partition: 3 });
    observer.released({ topic: 'flights', partition: 2 });
    expect(lines.parsed()).toMatchObject([
      { level: 'error', partition: 2 },
      { level: 'error', partition: 3 },
      { level: 'info', msg: 'partition released', partition: 2 },
    ]);
  });

  it('warns of aborts and recycled producers by reason, and takes an abort at shutdown as normal', () => {
    const { observer, lines } = observed();
    observer.aborted('stale', new Error('generation 4 is over'));
    observer.aborted('shutdown', null);
    observer.recycled('unknown-commit', null);
    expect(lines.parsed()).toMatchObject([
      { level: 'warn', reason: 'stale', msg: 'transaction aborted, its records are read again: generation 4 is over' },
      { level: 'info', reason: 'shutdown' },
      { level: 'warn', reason: 'unknown-commit' },
    ]);
  });

  it('stays within bounds when every error has a name of its own', () => {
    const { observer, lines } = observed();
    for (let i = 0; i < 1000; i++) {
      observer.deadLettered({ ...FAILURE, error: Object.assign(new Error('unique'), { name: `Error${i}` }) });
    }
    expect(lines.written.length).toBeLessThanOrEqual(101);
  });
});
