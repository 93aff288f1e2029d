import { describe, expect, it } from 'vitest';
import type { Evidence } from '../../../src/prove/checker/evidence.ts';
import { check } from '../../../src/prove/checker.ts';
import { assertExactlyOnce } from '../../helpers/checker.ts';
import { headerText, type Header, type LogRecord } from '../../../src/prove/log-record.ts';
import { evidenceOf, goodDrafts, sourceOf, type Draft } from './good-run.ts';

const good = evidenceOf(goodDrafts());

/** Coordinates and invariants of what the checker finds. */
const verdict = (evidence: Evidence): string[] => check(evidence).map(({ invariant, at }) => `${invariant} ${at}`);

const find = (drafts: readonly Draft[], eventId: string): number => {
  const position = drafts.findIndex((draft) => headerText(draft, 'event-id') === eventId);
  if (position < 0) throw new Error(`no ${eventId} in the good run`);
  return position;
};

const withHeader = (draft: Draft, name: string, value: string): Draft => ({
  ...draft,
  headers: draft.headers.map((header): Header => (header[0] === name ? [name, Buffer.from(value)] : header)),
});

/** The run with one output of the source changed. */
function changed(eventId: string, change: (draft: Draft) => Draft): Evidence {
  const drafts = goodDrafts();
  const position = find(drafts, eventId);
  return evidenceOf(drafts.map((draft, at) => (at === position ? change(draft) : draft)));
}

const without = (match: (draft: Draft) => boolean): Evidence => {
  const drafts = goodDrafts();
  const position = drafts.findIndex(match);
  return evidenceOf(drafts.filter((_, at) => at !== position));
};

const hasEventId = (eventId: string) => (draft: Draft) => headerText(draft, 'event-id') === eventId;

/** The run with nothing written for one input partition's sources from the offset on. */
const upTo = (inputPartition: number, end: number): Evidence =>
  evidenceOf(
    goodDrafts().filter((draft) => {
      const [partition, offset] = sourceOf(draft);
      return partition !== inputPartition || offset < end;
    }),
  );

const isOf = (draft: Draft, source: string): boolean => `input/${sourceOf(draft).join('/')}` === source;

const indexOf = (draft: Draft): string => (draft.topic === 'left' ? '0' : '1');

/** A record of a transaction that was aborted, as the `read_uncommitted` reader finds it behind the others. */
function aborted(attempt: string): LogRecord {
  const copy = good.visible.find(hasEventId('input/0/19/0')) as LogRecord;
  return { ...withHeader(copy, 'millrace-attempt', attempt), offset: 900 };
}

describe('the checker', () => {
  it('passes a good run', () => {
    expect(verdict(good)).toEqual([]);
    expect(() => assertExactlyOnce(good)).not.toThrow();
  });

  it('passes a run whose online reader stopped early and whose aborted records nobody saw', () => {
    const online = good.online.slice(0, 11);
    const uncommitted = [...good.uncommitted, aborted('host-0/3/99/0/2')];
    expect(verdict({ ...good, online, uncommitted })).toEqual([]);
  });

  it('passes a held partition of which nothing from the held record on was touched', () => {
    const committed = new Map(good.committed).set('input/0', 12);
    expect(verdict({ ...upTo(0, 12), committed, heldAt: new Map([['input/0', 12]]) })).toEqual([]);
  });
});

describe('a planted fault turns its own invariant red:', () => {
  it('one output deleted', () => {
    expect(verdict(without(hasEventId('input/0/3/1')))).toEqual(['I1 input/0/3']);
  });

  it('all outputs of a source deleted', () => {
    const drafts = goodDrafts().filter((draft) => !isOf(draft, 'input/0/3'));
    expect(verdict(evidenceOf(drafts))).toEqual(['I1 input/0/3']);
  });

  it('one output doubled', () => {
    const drafts = goodDrafts();
    const position = find(drafts, 'input/1/4/0');
    expect(verdict(evidenceOf([...drafts, ...drafts.slice(position, position + 1)]))).toEqual(['I1 input/1/4']);
  });

  it('an output of a filtered source', () => {
    const drafts = goodDrafts();
    const invented = withHeader(drafts[find(drafts, 'input/0/19/0')] as Draft, 'millrace-source', 'input/0/15');
    const own = withHeader(invented, 'millrace-attempt', 'host-0/3/3/0/1');
    const position = find(drafts, 'input/0/16/0');
    expect(verdict(evidenceOf([...drafts.slice(0, position), own, ...drafts.slice(position)]))).toEqual([
      'I1 input/0/15',
    ]);
  });

  it('an output in the wrong topic', () => {
    expect(verdict(changed('input/0/3/1', (draft) => ({ ...draft, topic: 'left' })))).toEqual(['I1 input/0/3']);
  });

  it('an output of a record that is not in the input', () => {
    const run = changed('input/0/19/1', (draft) => withHeader(draft, 'millrace-source', 'input/0/20'));
    expect(verdict(run)).toEqual(['I1 input/0/20', 'I1 input/0/19']);
  });

  it('one dead letter dropped', () => {
    expect(verdict(without((draft) => draft.topic === 'dead-letters'))).toEqual(['I1 input/0/2']);
  });

  it('a dead letter beside the outputs', () => {
    const drafts = goodDrafts();
    const letter = drafts.findIndex((draft) => draft.topic === 'dead-letters');
    const { key, value, timestamp } = good.sources[3] as LogRecord;
    const content = { ...(drafts[letter] as Draft), key, value, timestamp };
    const named = withHeader(withHeader(content, 'event-id', 'input/0/3/0'), 'millrace-source', 'input/0/3');
    const own = withHeader(named, 'trace', 't3');
    expect(verdict(evidenceOf([...drafts.slice(0, letter + 1), own, ...drafts.slice(letter + 1)]))).toEqual([
      'I1 input/0/3',
    ]);
  });

  it('one attempt changed', () => {
    const run = changed('input/0/3/1', (draft) => withHeader(draft, 'millrace-attempt', 'host-0/4/1/1/2'));
    expect(verdict(run)).toEqual(['I2 input/0/3']);
  });

  it('a transaction whose sources are not one run', () => {
    const drafts = goodDrafts().map((draft) =>
      isOf(draft, 'input/0/6') ? withHeader(draft, 'millrace-attempt', `host-0/3/9/${indexOf(draft)}/2`) : draft,
    );
    expect(verdict(evidenceOf(drafts))).toEqual(['I2 input/0/7']);
  });

  it('a transaction that is visible in part and aborted in part', () => {
    const uncommitted = [...good.uncommitted, aborted('host-0/3/4/0/2')];
    expect(verdict({ ...good, uncommitted })).toEqual(['I2 left/0/900']);
  });

  it('a record without its attempt', () => {
    const run = changed('input/0/6/0', (draft) => ({
      ...draft,
      headers: draft.headers.filter(([name]) => name !== 'millrace-attempt'),
    }));
    expect(verdict(run)).toEqual(['I2 left/0/4', 'I1 input/0/6']);
  });

  it('two records of one key swapped', () => {
    const drafts = goodDrafts();
    const [first, second] = [find(drafts, 'input/0/3/0'), find(drafts, 'input/0/6/0')];
    const [a, b] = [drafts[first] as Draft, drafts[second] as Draft];
    expect(verdict(evidenceOf(drafts.with(first, b).with(second, a)))).toEqual(['I3 left/0/4']);
  });

  it('an offset committed past a record that is not settled', () => {
    const held = { ...upTo(1, 18), heldAt: new Map([['input/1', 18]]) };
    const committed = (offset: number): Evidence => ({
      ...held,
      committed: new Map(held.committed).set('input/1', offset),
    });
    expect(verdict(committed(18))).toEqual([]);
    expect(verdict(committed(19))).toEqual(['I4 input/1/18']);
  });

  it('an offset that stayed behind visible outputs', () => {
    const committed = new Map(good.committed).set('input/0', 19);
    expect(verdict({ ...good, committed })).toEqual(['I4 input/0/19']);
  });

  it('an offset that stayed behind a filtered record', () => {
    const sources = good.sources.filter(({ partition, offset }) => partition === 1 || offset <= 15);
    const committed = new Map(good.committed).set('input/0', 15);
    expect(verdict({ ...upTo(0, 16), sources, committed })).toEqual(['I4 input/0/15']);
  });

  it('a last stable offset that does not reach the high watermark', () => {
    const ends = [{ topic: 'left', partition: 0, lastStable: 29, highWatermark: 30 }];
    expect(verdict({ ...good, ends })).toEqual(['I5 left/0']);
  });

  it('a transaction that is still open', () => {
    expect(verdict({ ...good, openTransactions: ['app.pipeline.a.0'] })).toEqual(['I5 app.pipeline.a.0']);
  });

  it('a lag gauge that is not 0', () => {
    expect(verdict({ ...good, lag: new Map([['input/1', 1]]) })).toEqual(['I5 input/1']);
  });

  it('one aborted record in the online log', () => {
    const online = [...good.online.slice(0, 4), aborted('host-0/3/99/0/2'), ...good.online.slice(4)];
    expect(verdict({ ...good, online })).toEqual(['I6 left/0/900']);
  });

  it('a record that was read online and is not there any more', () => {
    const online = [...good.online, aborted('host-0/3/99/0/2')];
    expect(verdict({ ...good, online })).toEqual(['I6 left/0/900']);
  });

  it('a record that the online reader never got', () => {
    const online = good.online.filter((_, position) => position !== 5);
    expect(check({ ...good, online }).map(({ invariant }) => invariant)).toEqual(['I6']);
  });

  it('an online record with other bytes', () => {
    const online = good.online.with(0, { ...(good.online[0] as LogRecord), value: Buffer.from('v0 ') });
    expect(verdict({ ...good, online })).toEqual(['I6 left/0/0']);
  });

  it.each<[string, string, Partial<Draft>]>([
    ['altered value', 'input/0/3/0', { value: Buffer.from('V3') }],
    ['altered key', 'input/0/3/0', { key: Buffer.from('k9') }],
    ['null value where an empty one is promised', 'input/0/7/0', { value: null }],
    ['empty value where null is promised', 'input/0/8/1', { value: Buffer.alloc(0) }],
    ['altered timestamp', 'input/0/3/0', { timestamp: 1_004 }],
    ['invalid UTF-8 that decodes alike', 'input/0/3/0', { value: Buffer.from([0xff]) }],
  ])('%s', (_, eventId, change) => {
    const run = changed(eventId, (draft) => ({ ...draft, ...change }));
    expect(check(run).map(({ invariant }) => invariant)).toEqual(['I9']);
  });

  it('an event id that is not its own', () => {
    const run = changed('input/0/3/0', (draft) => withHeader(draft, 'event-id', 'input/0/4/0'));
    expect(verdict(run)).toEqual(['I9 left/0/2']);
  });

  it.each<[string, (header: Header) => Header[]]>([
    ['header dropped', () => []],
    ['header doubled', (header) => [header, header]],
    ['header altered', ([name]) => [[name, Buffer.from([0x00, 0xff])]]],
  ])('%s', (_, change) => {
    const run = changed('input/0/3/0', (draft) => ({
      ...draft,
      headers: draft.headers.flatMap((header) => (header[0] === 'trace' ? change(header) : [header])),
    }));
    expect(check(run).map(({ invariant }) => invariant)).toEqual(['I9']);
  });

  it('a dead letter with an altered value', () => {
    const drafts = goodDrafts();
    const letter = drafts.findIndex((draft) => draft.topic === 'dead-letters');
    const run = evidenceOf(drafts.with(letter, { ...(drafts[letter] as Draft), value: Buffer.from('{}') }));
    expect(verdict(run)).toEqual(['I9 dead-letters/0/0']);
  });
});

describe('a record whose result can not be foretold', () => {
  /** The good run, of which it is not known what becomes of partition 0. */
  const undetermined = (drafts: readonly Draft[]): Evidence => {
    const evidence = evidenceOf(drafts);
    return {
      ...evidence,
      expect: (source) => (source.partition === 0 ? { kind: 'undetermined' } : evidence.expect(source)),
    };
  };

  it('may have any whole result, a dead letter, or none', () => {
    const drafts = goodDrafts()
      .filter((draft) => !isOf(draft, 'input/0/4'))
      .map((draft) => (isOf(draft, 'input/0/3') ? { ...draft, value: Buffer.from('other') } : draft));
    expect(verdict(undetermined(drafts))).toEqual([]);
  });

  it('turns I1 red with a part of its result', () => {
    expect(verdict(undetermined(goodDrafts().filter((draft) => !hasEventId('input/0/3/1')(draft))))).toEqual([
      'I1 input/0/3',
    ]);
  });

  it('turns I1 red with the same output twice', () => {
    const drafts = goodDrafts();
    const position = find(drafts, 'input/0/4/0');
    expect(verdict(undetermined([...drafts, ...drafts.slice(position, position + 1)]))).toEqual(['I1 input/0/4']);
  });

  it('turns I2 red with results of two transactions', () => {
    const drafts = goodDrafts().map((draft) =>
      hasEventId('input/0/3/1')(draft) ? withHeader(draft, 'millrace-attempt', 'host-0/4/1/1/2') : draft,
    );
    expect(verdict(undetermined(drafts))).toEqual(['I2 input/0/3']);
  });
});

describe('dead letters that are documents', () => {
  const documents = (change: Partial<Draft>): Evidence => {
    const drafts = goodDrafts().map((draft) =>
      draft.topic === 'dead-letters'
        ? { ...draft, value: Buffer.from('{}'), headers: draft.headers.filter(([name]) => name !== 'trace'), ...change }
        : draft,
    );
    return { ...evidenceOf(drafts), deadLetterFormat: 'json' };
  };

  it('are compared by key, headers and timestamp', () => {
    expect(verdict(documents({}))).toEqual([]);
    expect(new Set(check(documents({ timestamp: 7 })).map(({ invariant }) => invariant))).toEqual(new Set(['I9']));
  });
});

describe('where a record comes from', () => {
  it('is told by the last header of that name: one may have come along with the source', () => {
    const inherited: Header[] = [
      ['millrace-source', Buffer.from('elsewhere/0/7')],
      ['millrace-attempt', Buffer.from('elsewhere/1/2/0/1')],
    ];
    const drafts = goodDrafts().map((draft) => ({ ...draft, headers: [...inherited, ...draft.headers] }));
    expect(verdict(evidenceOf(drafts))).toEqual([]);
  });
});

describe('what the checker says', () => {
  it('names invariants, coordinates and counts, and cuts a long list', () => {
    const withoutFirst = evidenceOf(goodDrafts().slice(1));
    expect(() => assertExactlyOnce(withoutFirst)).toThrow(
      /^not exactly once \(I1: 1\)\n {2}I1 input\/0\/0 \(outputs\) has output 0 0 times$/,
    );
    const nothing = { ...evidenceOf([]), openTransactions: ['app.pipeline.a.0'] };
    expect(() => assertExactlyOnce(nothing)).toThrow(
      /\(I1: 36, I5: 1\)\n[^]*\n {2}I1 … and 28 more\n {2}I5 app\.pipeline\.a\.0 still has an ongoing transaction$/,
    );
  });
});
