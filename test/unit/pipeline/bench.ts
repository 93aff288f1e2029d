import type { FlowConfig } from '../../../src/config/compiled.ts';
import { combineObservers } from '../../../src/observability/combine-observers.ts';
import type { Completed, LaneContext, LaneStart } from '../../../src/pipeline/lane.ts';
import type { InputRecord, OutputRecord, RecordTransform } from '../../../src/pipeline/ports.ts';
import { TransformLane } from '../../../src/pipeline/transform-lane.ts';
import { Verdicts } from '../../../src/pipeline/verdicts.ts';

/** What the tests of the loop put in: one topic, and limits that no test meets by chance. */
export const FLOW: FlowConfig = {
  kind: 'pipeline',
  name: 'p',
  workers: 1,
  worker: 0,
  groupId: 'a.p',
  transactionalId: 'a.p.i.0',
  input: { topics: ['t'], key: { type: 'bytes' }, value: { type: 'bytes' }, startAt: 'earliest', onDataLoss: 'stop' },
  transaction: { commitIntervalMs: 10, maxRecords: 1_000, maxBytes: 1 << 30, timeoutMs: 60_000 },
  retry: { attempts: 3, minDelayMs: 10, maxDelayMs: 100 },
  deadLetter: null,
  onError: 'hold',
  group: {
    protocol: 'classic',
    assignor: 'cooperative-sticky',
    sessionTimeoutMs: 10_000,
    maxPollIntervalMs: 60_000,
    instanceId: null,
  },
  provenance: false,
  consumerProperties: {},
  producerProperties: {},
};

export const record = (offset: number, value: Buffer | null = null): InputRecord => ({
  topic: 't',
  partition: 0,
  offset,
  timestamp: 0,
  key: null,
  value,
});

export const output = (bytes = 0, topic = 'out'): OutputRecord => ({
  output: topic,
  topic,
  key: null,
  value: Buffer.alloc(bytes),
  timestamp: 0,
});

/** A context that keeps what lanes complete. */
export function laneContext(completed: Completed[] = []): LaneContext {
  return {
    retry: FLOW.retry,
    observer: combineObservers(),
    verdicts: new Verdicts(),
    maxPollIntervalMs: FLOW.group.maxPollIntervalMs,
    stopsOnError: false,
    maxRecordBytes: () => 1_000_000,
    deadLetter: () => null,
    hasRoom: () => true,
    complete: (entry) => void completed.push(entry),
    wake: () => undefined,
    stop: () => undefined,
  };
}

/** A lane of partition 0 whose records give nothing, where the test says nothing else. */
export function transformLane(
  context: LaneContext = laneContext(),
  start: Partial<LaneStart> = {},
  transform: RecordTransform = () => [],
): TransformLane {
  return new TransformLane({ topic: 't', partition: 0, offset: 0, pinned: true, ...start }, context, transform);
}

/** A record that is done with. */
export function completed(offset: number, outputs: readonly OutputRecord[] = [], lane = transformLane()): Completed {
  return { lane, offset, timestamp: 0, outputs, deadLetter: null, alone: false };
}
