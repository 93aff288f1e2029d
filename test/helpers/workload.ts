import type { ExpectedOutput, Expectation } from '../../src/prove/checker/evidence.ts';
import type { Header, LogRecord } from '../../src/prove/log-record.ts';
import type { Seed } from './seeder.ts';

/**
 * The records that most fault tests send through: of 20 ids one is no JSON and one throws a PoisonRecord on every second
 * turn (together about 5 %), one is filtered, the others fan out to two topics, every tenth to three records.
 */
const KEYS = 16;
const UNREADABLE = 3;
const FILTERED = 11;
const POISON = 23;

/** The transform under test. What it must yield is computed apart from it, by `expectationOf`. */
export const TRANSFORM = `import { defineTransform, PoisonRecord } from 'millrace';

interface Input { id: number; p: number; seq: number }
interface Output { id: number; seq: number; side: string }

export default defineTransform<Input, Output>(({ value: { id, p, seq } }) => {
  if (id % 20 === ${FILTERED}) return;
  if (id % 40 === ${POISON}) throw new PoisonRecord('id ' + id + ' is poison');
  return [
    { to: 'left', value: { id, seq, side: 'left' } },
    { to: 'right', key: 'shared-' + (p % 3), value: { id, seq, side: 'right' } },
    ...(id % 10 === 0 ? [{ to: 'left', value: { id, seq, side: 'second' } }] : []),
  ];
});
`;

/** Numbered records, on and on; some keys come from several partitions' records once they are transformed. */
export function workload(): () => Seed {
  let id = 0;
  const sequences = new Array<number>(KEYS).fill(0);
  return () => {
    const p = (id * 7) % KEYS;
    const seq = sequences[p] ?? 0;
    sequences[p] = seq + 1;
    const json = JSON.stringify({ id, p, seq });
    const seed: Seed = {
      key: Buffer.from(`key-${p}`),
      value: Buffer.from(id % 40 === UNREADABLE ? json.slice(0, -1) : json),
      ...(id % 4 === 0 ? { headers: [{ trace: Buffer.from(`t${id}`) }, { raw: Buffer.from([0x00, 0xff]) }] } : {}),
    };
    id++;
    return seed;
  };
}

export interface OutputTopics {
  readonly left: string;
  readonly right: string;
}

/** What must become of a record of the workload. */
export function expectationOf({ left, right }: OutputTopics): (source: LogRecord) => Expectation {
  return (source) => {
    const record = readRecord(source);
    if (record === null || record.id % 40 === POISON) return { kind: 'dead-letter' };
    const { id, p, seq } = record;
    if (id % 20 === FILTERED) return { kind: 'filtered' };
    const { headers, timestamp } = source;
    const output = (topic: string, key: Buffer | null, side: string): ExpectedOutput => ({
      topic,
      key,
      value: Buffer.from(`{"id":${id},"seq":${seq},"side":"${side}"}`),
      headers: headers satisfies readonly Header[],
      timestamp,
    });
    const outputs = [output(left, source.key, 'left'), output(right, Buffer.from(`shared-${p % 3}`), 'right')];
    if (id % 10 === 0) outputs.push(output(left, source.key, 'second'));
    return { kind: 'outputs', outputs };
  };
}

function readRecord({ value }: LogRecord): { id: number; p: number; seq: number } | null {
  const [, id, p, seq] = /^\{"id":(\d+),"p":(\d+),"seq":(\d+)\}$/.exec(value?.toString() ?? '') ?? [];
  return id === undefined ? null : { id: Number(id), p: Number(p), seq: Number(seq) };
}
