import type { OutputRecord, TopicPartition } from './ports.ts';

/** `<topic>/<partition>/<offset>` of the record that this one was made from. */
export const SOURCE_HEADER = 'millrace-source';

/** `<instance>/<process start>.<producer generation>/<transaction>/<index>/<count>`: this is output `index` of `count`. */
export const ATTEMPT_HEADER = 'millrace-attempt';

/** The output with headers that say where it comes from, behind those that it has; such that its source brought give way. */
export function signed(
  output: OutputRecord,
  source: TopicPartition & { readonly offset: number },
  attempt: string,
): OutputRecord {
  const { topic, partition, offset } = source;
  const provenance = [
    { [SOURCE_HEADER]: Buffer.from(`${topic}/${partition}/${offset}`) },
    { [ATTEMPT_HEADER]: Buffer.from(attempt) },
  ];
  const own = (output.headers ?? []).filter((header) => !(SOURCE_HEADER in header) && !(ATTEMPT_HEADER in header));
  return { ...output, headers: [...own, ...provenance] };
}
