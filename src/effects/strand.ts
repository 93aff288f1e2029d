import type { Observer } from '../pipeline/observer.ts';
import type { InputRecord } from '../pipeline/ports.ts';
import type { RetryConfig } from '../config/compiled.ts';
import { retryDelay } from '../pipeline/retry.ts';
import { isPoisonRecord } from '../transform/poison-record.ts';
import { toError } from '../transform/errors.ts';
import { type Adapter, type Applied, EffectFailure, type EffectRecord } from './adapter.ts';
import type { Tries } from './read-record.ts';

/** What a strand asks of its lane. */
export interface StrandContext {
  readonly adapter: Adapter;
  readonly maxRecords: number;
  readonly maxWaitMs: number;
  readonly retry: RetryConfig;
  readonly observer: Observer;
  read(record: InputRecord, tries: Tries): EffectRecord;
  /** Whether this process, or maybe another one, has tried the record. */
  isRedelivered(record: InputRecord): boolean;
  /** Why the record is given up without a try, if it is. */
  verdict(record: InputRecord): { error: Error; attempts: number } | undefined;
  applied(record: InputRecord): void;
  /** Ends the record in a dead letter. Returns why it can't, or null. */
  giveUp(record: InputRecord, error: Error, attempts: number): string | null;
  /** Something ended or is due: look again. */
  wake(): void;
}

interface Entry {
  readonly record: InputRecord;
  /** `performance.now()` when it came. */
  readonly arrived: number;
  attempts: number;
}

/**
 * A part of a partition's records that are applied in order, batch by batch. Records with the same key share one.
 *
 *                          ┌───────────── confirmed ─────────────┐
 *                          ▼                                     │
 *   record ──▶ idle ── batch is full or has waited ──▶ applying ─┤
 *                ▲                                               │
 *                └─ time is up ── waiting ◀── transient, denied ─┘
 *
 * A batch that fails because of one of its records is applied again in halves, down to the culprit, so that only that
 * one is given up. `drop()` leads out of every state but `applying`: an apply that is under way can't be stopped, and the next one
 * waits for it, for else it might overtake it at the target.
 */
export class Strand {
  readonly #context: StrandContext;
  #state: 'idle' | 'applying' | 'waiting' = 'idle';
  #queue: Entry[] = [];
  /** So many records at the head of the queue have one among them that made a batch fail; 0 where none is known. */
  #suspects = 0;
  #epoch = 0;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;
  #held: string | null = null;

  constructor(context: StrandContext) {
    this.#context = context;
  }

  /** Why it can't go on, or null. */
  get held(): string | null {
    return this.#held;
  }

  /** What is under way at the target; never rejects. */
  get running(): Promise<void> | null {
    return this.#running;
  }

  accept(record: InputRecord): void {
    this.#queue.push({ record, arrived: performance.now(), attempts: 0 });
  }

  /** Begins what can be begun; with `last`, what is left up to that offset, without waiting for more. */
  pump(last = Infinity): void {
    while (this.#state === 'idle' && this.#queue.length > 0) {
      const batch = this.#next(last);
      if (batch === null) return;
      if (batch.length > 0) this.#apply(batch);
    }
  }

  /** Forgets its records; what is under way is not counted any more. */
  drop(): void {
    this.#epoch++;
    this.#queue = [];
    this.#suspects = 0;
    this.#held = null;
    this.#clearTimer();
    if (this.#state === 'waiting') this.#state = 'idle';
  }

  /** The batch to apply now: null where it has to wait for more, empty where the head was given up without a try. */
  #next(last: number): { entry: Entry; effect: EffectRecord }[] | null {
    const { maxRecords, maxWaitMs } = this.#context;
    const limit = this.#suspects > 0 ? Math.ceil(this.#suspects / 2) : maxRecords;
    const head = this.#queue[0];
    if (!head || head.record.offset > last) return null;
    const due = head.arrived + maxWaitMs;
    if (last === Infinity && head.attempts === 0 && this.#queue.length < limit && performance.now() < due) {
      this.#wakeAt(due);
      return null;
    }
    const batch: { entry: Entry; effect: EffectRecord }[] = [];
    for (const entry of this.#queue.slice(0, limit)) {
      if (entry.record.offset > last) break;
      const read = this.#read(entry);
      if ('effect' in read) {
        batch.push({ entry, effect: read.effect });
        continue;
      }
      // Those before it go first.
      if (batch.length === 0) this.#giveUp(entry, read.error, read.attempts);
      break;
    }
    return batch;
  }

  #read(entry: Entry): { effect: EffectRecord } | { error: Error; attempts: number } {
    const { record, attempts } = entry;
    const verdict = this.#context.verdict(record);
    if (verdict) return verdict;
    const redelivered = attempts > 0 || this.#context.isRedelivered(record);
    try {
      return { effect: this.#context.read(record, { attempt: attempts + 1, redelivered }) };
    } catch (thrown) {
      return { error: toError(thrown), attempts: 1 };
    }
  }

  #apply(batch: readonly { entry: Entry; effect: EffectRecord }[]): void {
    const { adapter, observer } = this.#context;
    const epoch = this.#epoch;
    const started = performance.now();
    const entries = batch.map(({ entry }) => entry);
    this.#clearTimer();
    for (const entry of entries) entry.attempts++;
    this.#state = 'applying';
    this.#running = Promise.resolve(batch.map(({ effect }) => effect))
      .then((effects) => adapter.apply(effects))
      .then((outcomes) => {
        checkOutcomes(outcomes, entries.length);
        observer.applied(count(outcomes), performance.now() - started);
        return null;
      })
      .catch(toError)
      .then((failure) => {
        this.#running = null;
        this.#state = 'idle';
        // Rewound or given up meanwhile: the records come again, here or elsewhere.
        if (epoch !== this.#epoch) return;
        if (failure) this.#failed(entries, failure);
        else this.#confirmed(entries);
      })
      .finally(() => {
        this.#context.wake();
      });
  }

  #confirmed(entries: readonly Entry[]): void {
    this.#released(entries[0]);
    this.#suspects = Math.max(0, this.#suspects - entries.length);
    this.#queue.splice(0, entries.length);
    for (const { record } of entries) this.#context.applied(record);
  }

  #failed(entries: readonly Entry[], error: Error): void {
    const [head] = entries;
    if (!head) return;
    const { retry } = this.#context;
    const isPoison = isPoisonRecord(error) || (error instanceof EffectFailure && error.kind === 'poison');
    if (error instanceof EffectFailure && !isPoison) {
      const isHeld = error.kind === 'denied' || head.attempts >= retry.attempts;
      const pause = error.kind === 'denied' ? retry.maxDelayMs : retryDelay(retry, head.attempts);
      this.#retry(head, error, Math.max(pause, error.retryAfterMs ?? 0), isHeld ? error.message : null);
    } else if (entries.length > 1) {
      this.#suspects = entries.length;
      // What a batch failed of is not held against each of its records: they have been tried once, however it is halved.
      for (const entry of entries) entry.attempts = 1;
    } else if (isPoison || head.attempts >= retry.attempts) {
      this.#giveUp(head, error, head.attempts);
    } else {
      this.#retry(head, error, retryDelay(retry, head.attempts), null);
    }
  }

  #giveUp(entry: Entry, error: Error, attempts: number): void {
    const reason = this.#context.giveUp(entry.record, error, attempts);
    if (reason !== null) {
      entry.attempts = Math.max(1, entry.attempts);
      this.#retry(entry, error, this.#context.retry.maxDelayMs, reason);
      return;
    }
    this.#released(entry);
    this.#suspects = 0;
    this.#queue.shift();
  }

  #released(entry: Entry | undefined): void {
    if (this.#held === null || !entry) return;
    const { topic, partition } = entry.record;
    this.#held = null;
    this.#context.observer.released({ topic, partition });
  }

  /** Waits before the next try; `held` says why that is not expected to help by itself, or not soon. */
  #retry({ record, attempts }: Entry, error: Error, delayMs: number, held: string | null): void {
    const { topic, partition, offset } = record;
    const failure = { topic, partition, offset, attempt: attempts, error };
    const { observer } = this.#context;
    observer.retried({ ...failure, delayMs });
    if (held !== null && this.#held === null) observer.held(failure);
    if (held !== null) this.#held = `offset ${offset}: ${held}`;
    this.#state = 'waiting';
    this.#wakeAt(performance.now() + delayMs);
  }

  #wakeAt(time: number): void {
    this.#clearTimer();
    this.#timer = setTimeout(
      () => {
        this.#timer = null;
        if (this.#state === 'waiting') this.#state = 'idle';
        this.#context.wake();
      },
      Math.max(0, time - performance.now()),
    );
  }

  #clearTimer(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }
}

function checkOutcomes(outcomes: readonly Applied[], records: number): void {
  if (outcomes.length === records) return;
  throw new Error(`the effect told ${outcomes.length} outcomes for ${records} records`);
}

function count(outcomes: readonly Applied[]): Record<Applied, number> {
  const counts = { applied: 0, repeat: 0, stale: 0 };
  for (const outcome of outcomes) counts[outcome]++;
  return counts;
}
