import type { Applied, EffectRecord } from '../adapter.ts';
import type { Query, Session } from './session.ts';

/** One of the ways in which a repeat becomes a no-op. */
export interface Write {
  /** What has to be in the database before; may be run again and again. */
  readonly migrations: readonly Query[];
  /** Rejects when the database does not fit. */
  check(session: Session): Promise<void>;
  /** Applies the batch in one database transaction and commits it. What an error leaves open is rolled back by the caller. */
  apply(session: Session, batch: readonly EffectRecord[]): Promise<readonly Applied[]>;
}
