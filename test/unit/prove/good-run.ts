import type { Evidence, Expectation } from '../../../src/prove/checker/evidence.ts';
import { partitionId } from '../../../src/pipeline/ports.ts';
import { headerText, recordId, type Header, type LogRecord } from '../../../src/prove/log-record.ts';

/** A record that has not got its offset yet: logs are laid out after a fault was planted in them. */
export type Draft = Omit<LogRecord, 'offset'>;

const bytes = (text: string): Buffer => Buffer.from(text);
const INPUT = 'input';
const DEAD_LETTERS = 'dead-letters';
const PER_PARTITION = 20;
const PER_TRANSACTION = 4;

const sources: LogRecord[] = [0, 1].flatMap((partition) =>
  Array.from({ length: PER_PARTITION }, (_, offset) => ({
    topic: INPUT,
    partition,
    offset,
    timestamp: 1_000 + offset,
    key: bytes(`k${partition}${offset % 3}`),
    value: bytes(`v${offset}`),
    headers: [['trace', bytes(`t${offset}`)]] as Header[],
  })),
);

/** Of ten records the third is poison, the sixth filtered, the others become two outputs in two topics. */
function expect(source: LogRecord): Expectation {
  if (source.offset % 10 === 2) return { kind: 'dead-letter' };
  if (source.offset % 10 === 5) return { kind: 'filtered' };
  const { key, headers, timestamp } = source;
  return {
    kind: 'outputs',
    outputs: [
      { topic: 'left', key, value: source.offset % 10 === 7 ? bytes('') : source.value, headers, timestamp },
      { topic: 'right', key, value: source.offset % 10 === 8 ? null : source.value, headers, timestamp },
    ],
  };
}

const attempt = (source: LogRecord, index: number, count: number): Header => {
  const transaction = Math.floor(source.offset / PER_TRANSACTION);
  return ['millrace-attempt', bytes(`host-${source.partition}/3/${transaction}/${index}/${count}`)];
};

function written(source: LogRecord): Draft[] {
  const expected = expect(source);
  const coordinates = recordId(source);
  const provenance = (index: number, count: number): Header[] => [
    ['millrace-source', bytes(coordinates)],
    attempt(source, index, count),
    ['event-id', bytes(`${coordinates}/${index}`)],
  ];
  if (expected.kind === 'dead-letter') {
    const headers: Header[] = [...source.headers, ['__millrace.errors.message', bytes('no')], ...provenance(0, 1)];
    return [{ ...source, topic: DEAD_LETTERS, partition: 0, headers }];
  }
  if (expected.kind !== 'outputs') return [];
  return expected.outputs.map(({ topic, ...content }, index) => ({
    ...content,
    topic,
    partition: source.partition,
    headers: [...content.headers, ...provenance(index, expected.outputs.length)],
  }));
}

/** The partition and offset of the source that a draft was written for. */
export function sourceOf(draft: Draft): readonly [partition: number, offset: number] {
  const [, partition, offset] = (headerText(draft, 'millrace-source') ?? '').split('/');
  return [Number(partition), Number(offset)];
}

/** What a faultless processor writes. */
export const goodDrafts = (): Draft[] => sources.flatMap(written);

/** Gives each record its place behind the earlier ones of its partition. */
export function layOut(drafts: readonly Draft[]): LogRecord[] {
  const ends = new Map<string, number>();
  return drafts.map((draft) => {
    const offset = ends.get(partitionId(draft)) ?? 0;
    ends.set(partitionId(draft), offset + 1);
    return { ...draft, offset };
  });
}

/** The evidence of a run that left these records: everybody saw the same, everything is committed, nothing hangs. */
export function evidenceOf(drafts: readonly Draft[]): Evidence {
  const visible = layOut(drafts);
  return {
    sources,
    expect,
    deadLetterTopic: DEAD_LETTERS,
    visible,
    online: visible,
    uncommitted: visible,
    committed: new Map([
      [`${INPUT}/0`, PER_PARTITION],
      [`${INPUT}/1`, PER_PARTITION],
    ]),
    heldAt: new Map(),
    ends: [{ topic: 'left', partition: 0, lastStable: 30, highWatermark: 30 }],
    openTransactions: [],
    lag: new Map([[`${INPUT}/0`, 0]]),
  };
}
