import { partitionId } from '../../pipeline/ports.ts';
import type { Evidence, Violation } from './evidence.ts';

/** I5: at rest nothing hangs: no open transaction keeps readers back, and the product knows that it has no lag. */
export function checkRest({ ends, openTransactions, lag }: Evidence): Violation[] {
  const hanging = ends
    .filter(({ lastStable, highWatermark }) => lastStable !== highWatermark)
    .map((end) => ({
      at: partitionId(end),
      found: `last stable offset ${end.lastStable}, high watermark ${end.highWatermark}`,
    }));
  const open = openTransactions.map((id) => ({ at: id, found: 'still has an ongoing transaction' }));
  const behind = [...lag]
    .filter(([, records]) => records !== 0)
    .map(([partition, records]) => ({ at: partition, found: `the lag gauge says ${records}` }));
  return [...hanging, ...open, ...behind].map((where) => ({ invariant: 'I5', ...where }));
}
