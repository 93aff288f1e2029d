import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { type Adapter, type Applied, EffectFailure, type EffectRecord } from '../../../src/effects/adapter.ts';
import { effectLanes } from '../../../src/effects/lane.ts';
import { readRecord } from '../../../src/effects/read-record.ts';
import { eventIdFrom } from '../../../src/effects/event-id.ts';
import { combineObservers } from '../../../src/observability/combine-observers.ts';
import type { Completed, Lane, LaneContext } from '../../../src/pipeline/lane.ts';
import type { InputRecord, OutputRecord } from '../../../src/pipeline/ports.ts';
import { Verdicts } from '../../../src/pipeline/verdicts.ts';
import { stringSerde } from '../../../src/serde/string.ts';
import { PoisonRecord } from '../../../src/transform/poison-record.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type Apply = (values: readonly string[]) => Promise<void> | void;

/** An effect's lane whose target is a function of the test's, which throws to fail. */
class Bench {
  readonly calls: string[][] = [];
  readonly seen: EffectRecord[] = [];
  readonly completed: Completed[] = [];
  readonly facts: string[] = [];
  hasRoom = true;
  lane!: Lane;
  readonly #apply: Apply;
  #create: ReturnType<typeof effectLanes>;
  #context: LaneContext;

  constructor(apply: Apply, { maxRecords = 3, maxWaitMs = 0, concurrency = 1, letters = true, logEnd = 0 } = {}) {
    this.#apply = apply;
    const adapter: Adapter = {
      open: async () => undefined,
      close: async () => undefined,
      apply: (batch) => this.#applied(batch),
    };
    this.#create = effectLanes({
      config: { batch: { maxRecords, maxWaitMs }, concurrency },
      adapter,
      read: readRecord({ key: stringSerde, value: stringSerde }, eventIdFrom({ from: 'coordinates' })),
      log: async (partition) => ({ ...partition, logStart: 0, lastStable: logEnd }),
    });
    this.#context = {
      retry: { attempts: 3, minDelayMs: 10, maxDelayMs: 100 },
      observer: combineObservers({
        held: ({ error }) => this.facts.push(`held: ${error.message}`),
        released: () => this.facts.push('released'),
        applied: ({ applied, repeat, stale }) => this.facts.push(`${applied}/${repeat}/${stale}`),
      }),
      verdicts: new Verdicts(),
      maxPollIntervalMs: 60_000,
      stopsOnError: false,
      maxRecordBytes: () => 1_000_000,
      deadLetter: (record) => (letters ? letterOf(record) : null),
      hasRoom: () => this.hasRoom,
      complete: (completed) => void this.completed.push(completed),
      wake: () => this.lane.pump(),
      stop: () => undefined,
    };
  }

  async open(): Promise<this> {
    this.lane = await this.#create({ topic: 't', partition: 0, offset: 0, pinned: true }, this.#context);
    return this;
  }

  async #applied(batch: readonly EffectRecord[]): Promise<readonly Applied[]> {
    this.calls.push(batch.map(({ value }) => String(value)));
    this.seen.push(...batch);
    await this.#apply(batch.map(({ value }) => String(value)));
    return batch.map(() => 'applied');
  }

  /** One record a letter; what stands before a colon is its key. */
  async send(...values: string[]): Promise<void> {
    for (const text of values) {
      const [key, value] = text.includes(':') ? text.split(':') : [null, text];
      const record = { topic: 't', partition: 0, offset: this.lane.lastRead + 1, timestamp: 0 };
      this.lane.accept({ ...record, key: key == null ? null : Buffer.from(key), value: Buffer.from(value ?? '') });
    }
    this.lane.pump();
    await this.pass(0);
  }

  pass(ms: number): Promise<unknown> {
    return vi.advanceTimersByTimeAsync(ms);
  }

  get endings(): string[] {
    return this.completed.map(({ offset, deadLetter }) => (deadLetter ? `${offset} ${deadLetter}` : String(offset)));
  }
}

const letterOf = ({ key, value }: InputRecord): OutputRecord => ({
  output: 'dead-letter',
  topic: 'dead',
  key,
  value,
  timestamp: 0,
});

const lane = (apply: Apply, options?: ConstructorParameters<typeof Bench>[1]) => new Bench(apply, options).open();

/** A target that confirms when the test says so. */
function heldBack() {
  const waiting: (() => void)[] = [];
  return { apply: () => new Promise<void>((confirm) => waiting.push(confirm)), confirm: () => waiting.shift()?.() };
}

describe('an effect lane', () => {
  it('applies full batches at once and completes in order', async () => {
    const bench = await lane(() => undefined, { maxWaitMs: 500 });
    await bench.send('a', 'b', 'c', 'd');
    expect(bench.calls).toEqual([['a', 'b', 'c']]);
    expect(bench.endings).toEqual(['0', '1', '2']);
    await bench.pass(499);
    expect(bench.calls).toHaveLength(1);
    await bench.pass(1);
    expect(bench.calls[1]).toEqual(['d']);
  });

  it('completes nothing before the target has confirmed', async () => {
    const { apply, confirm } = heldBack();
    const bench = await lane(apply);
    await bench.send('a', 'b');
    expect(bench.endings).toEqual([]);
    confirm();
    await bench.pass(0);
    expect(bench.endings).toEqual(['0', '1']);
  });

  it('tries for as long as the target can not be reached, and counts as held meanwhile', async () => {
    let isDown = true;
    const bench = await lane(() => {
      if (isDown) throw new EffectFailure('transient', 'nobody answers');
    });
    await bench.send('a', 'b');
    expect(bench.lane.held).toBeNull();
    await bench.pass(60_000);
    expect(bench.calls.length).toBeGreaterThan(100);
    expect(bench.lane.held).toBe('offset 0: nobody answers');
    expect(bench.endings).toEqual([]);
    isDown = false;
    await bench.pass(100);
    expect(bench.endings).toEqual(['0', '1']);
    expect(bench.lane.held).toBeNull();
    expect(bench.facts).toEqual(['held: nobody answers', '2/0/0', 'released']);
  });

  it('comes back no sooner than the target asks for', async () => {
    let tries = 0;
    const bench = await lane(() => {
      if (++tries === 1) throw new EffectFailure('transient', 'later', { retryAfterMs: 5_000 });
    });
    await bench.send('a');
    await bench.pass(4_999);
    expect(tries).toBe(1);
    await bench.pass(1);
    expect(bench.endings).toEqual(['0']);
  });

  it('dead-letters only the record that is poison', async () => {
    const bench = await lane((values) => {
      if (values.includes('b')) throw new EffectFailure('poison', 'no b');
    });
    await bench.send('a', 'b', 'c', 'd');
    await bench.pass(10);
    expect(bench.calls).toEqual([['a', 'b', 'c'], ['a', 'b'], ['a'], ['b'], ['c', 'd']]);
    expect(bench.endings).toEqual(['0', '1 EffectFailure', '2', '3']);
  });

  it('finds two poison records among a hundred in some twenty tries', async () => {
    const values = Array.from({ length: 100 }, (_, index) => `v${index}`);
    const bench = await lane(
      (batch) => {
        if (batch.includes('v37') || batch.includes('v62')) throw new EffectFailure('poison', 'bad');
      },
      { maxRecords: 100 },
    );
    await bench.send(...values);
    await bench.pass(100);
    expect(bench.endings).toEqual(
      values.map((value, offset) => (value === 'v37' || value === 'v62' ? `${offset} EffectFailure` : `${offset}`)),
    );
    expect(bench.calls.length).toBeLessThan(25);
  });

  it('tries a record that throws as often as configured, however often its batch was halved', async () => {
    const bench = await lane(
      (batch) => {
        if (batch.includes('h')) throw new TypeError('oops');
      },
      { maxRecords: 8 },
    );
    await bench.send('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
    await bench.pass(1_000);
    expect(bench.calls.filter((call) => call.length === 1 && call[0] === 'h')).toHaveLength(2);
    expect(bench.endings.at(-1)).toBe('7 TypeError');
  });

  it('takes a PoisonRecord for poison, and tries what else is thrown as often as configured', async () => {
    const bench = await lane(
      ([value]) => {
        if (value === 'a') throw new PoisonRecord('bad');
        if (value === 'b') throw new TypeError('oops');
      },
      { maxRecords: 1 },
    );
    await bench.send('a');
    bench.lane.settled(1, 1);
    await bench.send('b');
    await bench.pass(1_000);
    expect(bench.calls).toEqual([['a'], ['b'], ['b'], ['b']]);
    expect(bench.endings).toEqual(['0 PoisonRecord', '1 TypeError']);
  });

  it('holds the partition where a permission is missing, and dead-letters nothing', async () => {
    let isDenied = true;
    const bench = await lane(() => {
      if (isDenied) throw new EffectFailure('denied', '401');
    });
    await bench.send('a');
    expect(bench.lane.held).toBe('offset 0: 401');
    isDenied = false;
    await bench.pass(100);
    expect(bench.endings).toEqual(['0']);
    expect(bench.facts).toEqual(['held: 401', '1/0/0', 'released']);
  });

  it('holds at poison where there is no topic for dead letters', async () => {
    const bench = await lane(
      () => {
        throw new EffectFailure('poison', 'never');
      },
      { letters: false },
    );
    await bench.send('a');
    expect(bench.lane.held).toBe('offset 0: never (no deadLetter topic is configured)');
    await bench.pass(1_000);
    expect(bench.endings).toEqual([]);
  });

  it('dead-letters what it can not decode without asking the target', async () => {
    const bench = await lane(() => undefined);
    bench.lane.accept({ topic: 't', partition: 0, offset: 0, timestamp: 0, key: null, value: Buffer.from([0xff]) });
    await bench.send('b');
    expect(bench.calls).toEqual([['b']]);
    expect(bench.endings).toEqual(['0 DecodeError', '1']);
  });

  it('with batches of one record begins the next one when the last one is committed', async () => {
    const bench = await lane(() => undefined, { maxRecords: 1 });
    await bench.send('a', 'b');
    expect(bench.calls).toEqual([['a']]);
    bench.lane.settled(1, 1);
    bench.lane.pump();
    await bench.pass(0);
    expect(bench.calls).toEqual([['a'], ['b']]);
  });
});

describe('an effect lane with concurrency', () => {
  it('applies records of other keys meanwhile, those of one key in order, and completes in the order of offsets', async () => {
    const confirms = new Map<string, () => void>();
    const bench = await lane(([value = '']) => new Promise<void>((confirm) => void confirms.set(value, confirm)), {
      maxRecords: 1,
      concurrency: 2,
    });
    // The keys' bytes are even and odd.
    await bench.send('b:b1', 'a:a1');
    expect(bench.calls).toEqual([['b1'], ['a1']]);
    confirms.get('a1')?.();
    await bench.pass(0);
    expect(bench.endings).toEqual([]);
    confirms.get('b1')?.();
    await bench.pass(0);
    expect(bench.endings).toEqual(['0', '1']);
  });
});

describe('an effect lane that loses its records', () => {
  it('drops what is confirmed late, and begins nothing before that', async () => {
    const { apply, confirm } = heldBack();
    const bench = await lane(apply);
    await bench.send('a');
    bench.lane.rewind(0, true);
    await bench.send('a', 'b');
    expect(bench.calls).toEqual([['a']]);
    confirm();
    await bench.pass(0);
    expect(bench.endings).toEqual([]);
    expect(bench.calls).toEqual([['a'], ['a', 'b']]);
    expect(bench.seen.map(({ redelivered }) => redelivered)).toEqual([false, true, false]);
  });

  it('is quiet when what is under way has ended, and begins nothing more', async () => {
    const { apply, confirm } = heldBack();
    const bench = await lane(apply, { maxRecords: 2 });
    await bench.send('a', 'b', 'c');
    let isQuiet = false;
    void bench.lane.quiet().then(() => (isQuiet = true));
    await bench.pass(10);
    expect(isQuiet).toBe(false);
    confirm();
    await bench.pass(10);
    expect(isQuiet).toBe(true);
    expect(bench.endings).toEqual(['0', '1']);
    expect(bench.calls).toHaveLength(1);
  });

  it('lets a key that lags catch up, so that what others have confirmed can be committed, and no further', async () => {
    const { apply, confirm } = heldBack();
    const isEven = ([value = '']: readonly string[]) => value.startsWith('b');
    const bench = await lane((values) => (isEven(values) ? apply() : undefined), {
      maxRecords: 2,
      concurrency: 2,
    });
    await bench.send('b:b1');
    await bench.send('b:b2', 'a:a1', 'b:b3');
    expect(bench.endings).toEqual([]);
    void bench.lane.quiet();
    confirm();
    await bench.pass(10);
    confirm();
    await bench.pass(10);
    expect(bench.calls).toEqual([['b1'], ['a1'], ['b2']]);
    expect(bench.endings).toEqual(['0', '1', '2']);
  });

  it('waits, when the partition comes back, for what its former lane has under way', async () => {
    const { apply, confirm } = heldBack();
    const bench = await lane(apply);
    await bench.send('a');
    bench.lane.close();
    await bench.open();
    await bench.send('a');
    expect(bench.calls).toHaveLength(1);
    confirm();
    await bench.pass(0);
    expect(bench.calls).toHaveLength(2);
    expect(bench.endings).toEqual([]);
  });

  it('tells that records may have been tried which stood there when the partition came', async () => {
    const bench = await lane(() => undefined, { logEnd: 1 });
    await bench.send('a', 'b');
    expect(bench.seen.map(({ redelivered }) => redelivered)).toEqual([true, false]);
  });
});
