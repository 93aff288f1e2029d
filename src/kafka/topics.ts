import type { Metadata } from './native.ts';

/** Throws where a topic is missing, naming all that are, with near misses. */
export function missingTopics(metadata: Metadata, needed: Iterable<string>): string[] {
  const existing = new Set(metadata.topics.filter(({ partitions }) => partitions.length > 0).map(({ name }) => name));
  return [...new Set(needed)].filter((topic) => !existing.has(topic));
}
