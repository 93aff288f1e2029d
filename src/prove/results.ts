import { type InputRecord, type OutputRecord, type RecordTransform, partitionId } from '../pipeline/ports.ts';
import { wireSize } from '../pipeline/size.ts';
import { isRetriable, toError } from '../transform/errors.ts';
import { EVENT_ID } from '../transform/event-id.ts';
import { contentFault } from './checker/content.ts';
import type { Expectation, ExpectedOutput } from './checker/evidence.ts';
import { flatHeaders, groupBy, recordId } from './log-record.ts';

export interface ResultRules {
  readonly transform: RecordTransform;
  /** Tries in all of a record that fails. */
  readonly attempts: number;
  /** What the producer takes at most. */
  readonly maxRecordBytes: number;
}

/** What becomes of each record, by its coordinates. */
export type Results = ReadonlyMap<string, Expectation>;

/** Computes in this process what the workers are to write: a partition's records one after the other, as they do. */
export async function resultsOf(sources: readonly InputRecord[], rules: ResultRules): Promise<Results> {
  const results = new Map<string, Expectation>();
  const partitions = [...groupBy(sources, partitionId).values()];
  await Promise.all(
    partitions.map(async (log) => {
      for (const source of log) results.set(recordId(source), await resultOf(source, rules));
    }),
  );
  return results;
}

async function resultOf(
  source: InputRecord,
  { transform, attempts, maxRecordBytes }: ResultRules,
): Promise<Expectation> {
  let outputs: readonly OutputRecord[];
  for (let attempt = 1; ; attempt++) {
    try {
      outputs = await transform(source, attempt);
      break;
    } catch (thrown) {
      if (attempt >= attempts || !isRetriable(toError(thrown))) return { kind: 'dead-letter' };
    }
  }
  if (outputs.length === 0) return { kind: 'filtered' };
  if (outputs.some((output) => wireSize(output) > maxRecordBytes)) return { kind: 'dead-letter' };
  return { kind: 'outputs', outputs: outputs.map(expectedOutput) };
}

function expectedOutput({ topic, key, value, timestamp, headers, eventId }: OutputRecord): ExpectedOutput {
  const own = flatHeaders(headers);
  // To the client a timestamp of 0 means "now": 1 is written instead.
  return {
    topic,
    key,
    value,
    timestamp: timestamp === 0 ? 1 : timestamp,
    headers: eventId === undefined ? own : [...own, [EVENT_ID, Buffer.from(eventId)]],
  };
}

/** Of two computations: what both of them gave; where they differ, any result may be right. */
export function agreed(first: Results, second: Results): Results {
  return new Map(
    [...second].map(([source, result]): [string, Expectation] => {
      const other = first.get(source);
      return [source, other && isSame(other, result) ? result : { kind: 'undetermined' }];
    }),
  );
}

function isSame(a: Expectation, b: Expectation): boolean {
  if (a.kind !== 'outputs' || b.kind !== 'outputs') return a.kind === b.kind;
  return (
    a.outputs.length === b.outputs.length &&
    a.outputs.every((output, index) => {
      const other = b.outputs[index];
      return other?.topic === output.topic && contentFault(output, other) === null;
    })
  );
}
