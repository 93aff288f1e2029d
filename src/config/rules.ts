import { groupOf } from './compile.ts';
import type { ConfigSource } from './source.ts';
import type { Configuration, Pipeline } from './spec.ts';
import type { Path } from './syntax.ts';
import { DURATION } from './units.ts';
import type { Salvaged } from './validate.ts';

/**
 * What can only be seen when several fields are looked at together. Parts of the configuration may be missing here,
 * because they were wrong; a rule then says nothing.
 */
export function checkRules(config: Salvaged<Configuration>, source: ConfigSource): void {
  for (const [name, pipeline] of entries(config?.pipelines)) {
    if (!pipeline) continue;
    const at = ['pipelines', name];
    checkTopics(pipeline, at, source);
    checkDelays(pipeline, at, source);
    checkGroup(pipeline.consumer, [...at, 'consumer'], source);
  }
  checkGroupsDiffer(config, source);
}

function entries<T>(block: Readonly<Record<string, T>> | undefined): [string, T][] {
  return Object.entries(block ?? {});
}

function checkTopics({ input, outputs, deadLetter }: NonNullable<Salvaged<Pipeline>>, at: Path, source: ConfigSource) {
  const read = (input?.topics ?? []).filter((topic) => topic !== undefined);
  const written = new Set<string>();
  input?.topics?.forEach((topic, index, topics) => {
    if (topic !== undefined && topics.indexOf(topic) < index) {
      source.report([...at, 'input', 'topics', index], 'must not be listed twice');
    }
  });
  for (const [name, output] of entries(outputs)) {
    if (output?.topic === undefined) continue;
    written.add(output.topic);
    if (read.includes(output.topic)) {
      source.report(
        [...at, 'outputs', name, 'topic'],
        'must not be one of input.topics: the pipeline would read its own output, for ever',
      );
    }
  }
  if (deadLetter?.topic === undefined) return;
  const place = [...at, 'deadLetter', 'topic'];
  if (read.includes(deadLetter.topic)) {
    source.report(place, 'must not be one of input.topics: a dead letter would be read and fail again, for ever');
  }
  if (written.has(deadLetter.topic)) {
    source.report(place, "must not be an output's topic: its readers would take dead letters for results");
  }
}

function checkDelays({ retry, transaction }: NonNullable<Salvaged<Pipeline>>, at: Path, source: ConfigSource) {
  const { minDelay, maxDelay } = retry ?? {};
  if (minDelay !== undefined && maxDelay !== undefined && maxDelay < minDelay) {
    reportPair(source, [...at, 'retry'], ['maxDelay', maxDelay], 'must be at least', ['minDelay', minDelay]);
  }
  const { commitInterval, timeout } = transaction ?? {};
  if (commitInterval !== undefined && timeout !== undefined && timeout < 2 * commitInterval) {
    reportPair(source, [...at, 'transaction'], ['timeout', timeout], 'must be at least twice', [
      'commitInterval',
      commitInterval,
    ]);
  }
}

type Setting = readonly [field: string, ms: number];

/** Reports the first of two settings that do not go together, or the second where the first is left to its default. */
function reportPair(
  source: ConfigSource,
  block: Path,
  [field, ms]: Setting,
  relation: string,
  [other, otherMs]: Setting,
) {
  if (source.has([...block, field])) {
    const value = source.has([...block, other]) ? other : `${other} (by default ${DURATION.format(otherMs)})`;
    source.report([...block, field], `${relation} ${value}`);
  } else {
    source.report([...block, other], `is too long: ${field} (by default ${DURATION.format(ms)}) ${relation} ${other}`);
  }
}

function checkGroup(consumer: Salvaged<Pipeline['consumer']>, at: Path, source: ConfigSource) {
  const { protocol, sessionTimeout, maxPollInterval, properties } = consumer ?? {};
  if (protocol === 'consumer') {
    for (const field of [['assignor'], ['sessionTimeout'], ['properties', 'heartbeat.interval.ms']]) {
      if (source.has([...at, ...field])) {
        source.reportKey(
          [...at, ...field],
          'is for protocol: classic only; with protocol: consumer the broker decides',
        );
      }
    }
    return;
  }
  if (source.has([...at, 'properties', 'group.remote.assignor'])) {
    source.reportKey([...at, 'properties', 'group.remote.assignor'], 'is for protocol: consumer only; use assignor');
  }
  if (sessionTimeout === undefined) return;
  if (maxPollInterval !== undefined && maxPollInterval <= sessionTimeout) {
    reportPair(source, at, ['maxPollInterval', maxPollInterval], 'must be longer than', [
      'sessionTimeout',
      sessionTimeout,
    ]);
  }
  const heartbeat = properties?.['heartbeat.interval.ms'];
  if (typeof heartbeat === 'number' && heartbeat >= sessionTimeout) {
    source.report(
      [...at, 'properties', 'heartbeat.interval.ms'],
      'must be shorter than sessionTimeout; a third is usual',
    );
  }
}

function checkGroupsDiffer(config: Salvaged<Configuration>, source: ConfigSource) {
  const owners = new Map<string, string>();
  for (const [name, pipeline] of entries(config?.pipelines)) {
    if (config?.application === undefined || !pipeline) continue;
    const group = groupOf(config.application, name, pipeline.group);
    const owner = owners.get(group);
    if (owner === undefined) {
      owners.set(group, name);
      continue;
    }
    const message = `must not have the consumer group of pipeline "${owner}": the two would take partitions from each other`;
    const path = ['pipelines', name, 'group'];
    if (source.has(path)) source.report(path, message);
    else source.reportKey(['pipelines', name], message);
  }
}
