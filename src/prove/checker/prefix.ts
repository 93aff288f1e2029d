import { partitionId } from '../../pipeline/ports.ts';
import { groupBy, recordId, type LogRecord } from '../log-record.ts';
import { contentFault } from './content.ts';
import type { Evidence, Violation } from './evidence.ts';

/** I6: what a reader saw while things failed is what everybody reads for ever: its log is a prefix of the final one. */
export function checkPrefix({ online, visible }: Evidence): Violation[] {
  const final = groupBy(visible, partitionId);
  return [...groupBy(online, partitionId)].flatMap(([partition, seen]): Violation[] => {
    const difference = firstDifference(seen, final.get(partition) ?? []);
    // One difference shifts all that follows it: the first says enough.
    return difference === null ? [] : [{ invariant: 'I6', ...difference }];
  });
}

function firstDifference(
  online: readonly LogRecord[],
  final: readonly LogRecord[],
): { at: string; found: string } | null {
  for (const [position, seen] of online.entries()) {
    const at = recordId(seen);
    const kept = final[position];
    if (!kept) return { at, found: 'was read online, but the final log ends before it' };
    if (kept.offset !== seen.offset)
      return { at, found: `was read online where the final log has offset ${kept.offset}` };
    const fault = contentFault(seen, kept);
    if (fault !== null) return { at, found: `was read online with another content: ${fault}` };
  }
  return null;
}
