import type { Evidence } from './checker/evidence.ts';
import { sourceOf, transactionOf } from './checker/trace.ts';
import { abortedRecords } from './checker/transactions.ts';
import type { Crew, Kill } from './crew.ts';
import type { LogRecord } from './log-record.ts';

/** What a proof really went through: without it a verdict says nothing. */
export interface Exposure {
  readonly sources: number;
  readonly outputs: number;
  readonly deadLetters: number;
  /** Records of which nothing is visible. */
  readonly withoutResult: number;
  /** Transactions of which something is visible. */
  readonly transactions: number;
  readonly abortedTransactions: number;
  readonly abortedRecords: number;
  readonly kills: number;
  readonly killsInTransaction: number;
  readonly freezes: number;
  /** Times partitions changed hands, as the workers counted it until their last word. */
  readonly rebalances: number;
  readonly unknownCommits: number;
}

export function exposureOf(evidence: Evidence, crew: Crew): Exposure {
  const { sources, visible, uncommitted, deadLetterTopic } = evidence;
  const aborted = abortedRecords(visible, uncommitted);
  const deadLetters = visible.filter(({ topic }) => topic === deadLetterTopic).length;
  const counted = (of: 'rebalances' | 'unknownCommits') =>
    crew.all.reduce((sum, { counters }) => sum + counters[of], 0);
  return {
    sources: sources.length,
    outputs: visible.length - deadLetters,
    deadLetters,
    withoutResult: sources.length - new Set(visible.map(sourceOf)).size,
    transactions: transactionsOf(visible).size,
    abortedTransactions: transactionsOf(aborted).size,
    abortedRecords: aborted.length,
    kills: crew.kills.length,
    killsInTransaction: killsInTransaction(crew.kills, visible, aborted),
    freezes: crew.freezes,
    rebalances: counted('rebalances'),
    unknownCommits: counted('unknownCommits'),
  };
}

const transactionsOf = (records: readonly LogRecord[]): Set<string> =>
  new Set(records.flatMap((record) => transactionOf(record) ?? []));

/**
 * Kills behind which the last transaction that the process had written to was aborted: by the broker, or by the
 * successor, for the process itself no longer could.
 */
export function killsInTransaction(
  kills: readonly Kill[],
  visible: readonly LogRecord[],
  aborted: readonly LogRecord[],
): number {
  const lives = new Map<string, Life>();
  const note = (records: readonly LogRecord[], isAborted: boolean) => {
    for (const transaction of transactionsOf(records)) {
      const [, instance = '', start = '', number = '0'] = /^(\w+).*\/(\w+)\.\d+\/(\d+)$/.exec(transaction) ?? [];
      const key = `${instance}/${start}`;
      const life = lives.get(key);
      if (life && life.last > Number(number)) continue;
      lives.set(key, { instance, startedAt: Number.parseInt(start, 36), last: Number(number), isAborted });
    }
  };
  note(visible, false);
  note(aborted, true);
  const hit = kills.map(({ instance, at }) =>
    [...lives.values()]
      .filter((life) => life.instance === instance && life.startedAt <= at)
      .reduce<Life | undefined>(
        (latest, life) => (latest && latest.startedAt > life.startedAt ? latest : life),
        undefined,
      ),
  );
  // A process that was killed before it wrote anything leaves its predecessor's life to be found: counted once.
  return new Set(hit.filter((life) => life?.isAborted)).size;
}

/** A process as its records tell of it. */
interface Life {
  readonly instance: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** The last of its transactions that wrote something. */
  readonly last: number;
  readonly isAborted: boolean;
}
