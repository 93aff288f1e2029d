import { isRetriable, toError } from '../transform/errors.ts';
import { RecordTooLarge, TransformTooSlow } from './errors.ts';
import { Lane, type LaneContext, type LaneStart } from './lane.ts';
import type { InputRecord, OutputRecord, RecordTransform } from './ports.ts';
import { retryDelay } from './retry.ts';
import { wireSize } from './size.ts';

/** How long a lane may keep the event loop in one go: the other lanes, the commits and the signals wait meanwhile. */
const TURN_MS = 20;

/**
 * A pipeline's lane: one record at a time through the transform.
 *
 *                 ┌────────── result ──────────┐
 *                 ▼                            │
 *   record ──▶  idle ──── returns a promise ─▶ running
 *                 │ ▲                            │
 *          throws │ │ time is up                 │ rejects
 *                 ▼ │                            │
 *               waiting ◀────────────────────────┘
 *
 * `waiting` is also where a held lane stays between its tries: its record failed for good and no dead letter can be
 * written. A rewind or the end of the assignment leads out of every state; a promise that settles later finds
 * another epoch and is dropped.
 */
export class TransformLane extends Lane {
  readonly #transform: RecordTransform;
  /** When the last record ended: where the next begins. Looked at once for each record. */
  #clock = 0;

  constructor(start: LaneStart, context: LaneContext, transform: RecordTransform) {
    super(start, context);
    this.#transform = transform;
  }

  pump(): void {
    if (this.state !== 'idle') return;
    if (this.head > 0) this.compact();
    const { queue } = this;
    this.#clock = performance.now();
    const turnEnds = this.#clock + TURN_MS;
    while (this.head < queue.length && this.context.hasRoom()) {
      if (this.#clock > turnEnds) {
        this.context.wake();
        return;
      }
      const record = queue[this.head];
      if (!record || !this.#step(record)) return;
    }
  }

  /** Returns whether the next record may be taken. */
  #step(record: InputRecord): boolean {
    const { context, failing } = this;
    let attempt = 1;
    if (failing?.offset === record.offset) {
      if (performance.now() < failing.notBefore) {
        this.wait(failing.notBefore);
        return false;
      }
      attempt = failing.attempt;
    }
    const verdict = context.verdicts.get(this, record.offset);
    if (verdict) return this.#giveUp(record, verdict.error, verdict.attempts);
    const started = this.#clock;
    let result: readonly OutputRecord[] | Promise<readonly OutputRecord[]>;
    try {
      result = this.#transform(record, attempt);
    } catch (thrown) {
      context.observer.transformed(this.#ran(record, started));
      return this.#failed(record, thrown, attempt);
    }
    const heldMs = this.#ran(record, started);
    if (!(result instanceof Promise)) {
      context.observer.transformed(heldMs);
      return this.#finish(record, result, attempt);
    }
    this.#await(record, result, attempt, started);
    return false;
  }

  /** Apart from #step: a function that closures are made in allocates for them at every call. */
  #await(record: InputRecord, result: Promise<readonly OutputRecord[]>, attempt: number, started: number): void {
    const { context, epoch } = this;
    this.state = 'running';
    const ended = (next: () => void) => {
      if (epoch !== this.epoch) return; // rewound or given up meanwhile: the record comes again, here or elsewhere
      this.state = 'idle';
      context.observer.transformed(performance.now() - started);
      next();
      this.pump();
      context.wake();
    };
    result.then(
      (outputs) => {
        ended(() => this.#finish(record, outputs, attempt));
      },
      (thrown: unknown) => {
        ended(() => this.#failed(record, thrown, attempt));
      },
    );
  }

  /**
   * After the transform gave the event loop back, with a result or a promise. One that keeps it longer than the group
   * waits makes the group take the partition away, and the next owner runs into the same: such tries are counted
   * across assignments. Returns for how many ms it kept the event loop.
   */
  #ran(record: InputRecord, started: number): number {
    const { verdicts, maxPollIntervalMs, retry } = this.context;
    this.#clock = performance.now();
    const heldMs = this.#clock - started;
    if (heldMs < maxPollIntervalMs) return heldMs;
    const attempts = verdicts.strike(this, record.offset);
    if (attempts < retry.attempts) return heldMs;
    const message =
      `the transform kept the event loop busy for ${(heldMs / 1000).toFixed(1)} s, longer than consumer.maxPollInterval allows, ` +
      `${attempts} times: let it wait with await, make it faster, or raise consumer.maxPollInterval`;
    verdicts.set(this, record.offset, { error: new TransformTooSlow(message), attempts });
    return heldMs;
  }

  #finish(record: InputRecord, outputs: readonly OutputRecord[], attempt: number): boolean {
    const limit = this.context.maxRecordBytes();
    for (const output of outputs) {
      const size = (output.value?.length ?? 0) + (output.key?.length ?? 0) + 1_000 < limit ? 0 : wireSize(output);
      if (size > limit) {
        const message = `an output of ${size} bytes for topic ${output.topic} is larger than message.max.bytes (${limit}) of the producer`;
        return this.#giveUp(record, new RecordTooLarge(message), attempt);
      }
    }
    this.complete(record, outputs, null);
    return true;
  }

  #failed(record: InputRecord, thrown: unknown, attempt: number): boolean {
    const { observer, retry } = this.context;
    const error = toError(thrown);
    const held = this.failing?.offset === record.offset ? this.failing.held : null;
    if (attempt >= retry.attempts || !isRetriable(error) || held !== null) {
      return this.#giveUp(record, error, attempt);
    }
    const delayMs = retryDelay(retry, attempt);
    const notBefore = performance.now() + delayMs;
    this.failing = { offset: record.offset, attempt: attempt + 1, notBefore, held: null };
    observer.retried({ ...this.place(record), attempt, error, delayMs });
    this.wait(notBefore);
    return false;
  }

  #giveUp(record: InputRecord, error: Error, attempts: number): boolean {
    const given = this.letterFor(record, error, attempts);
    if ('letter' in given) {
      this.complete(record, [given.letter], given.type);
      return true;
    }
    if (!this.stops(record, error, given.held)) this.hold(record.offset, error, attempts, given.held);
    return false;
  }
}
