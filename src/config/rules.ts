import { groupOf } from './compile.ts';
import { checkTarget } from './effect-rules.ts';
import { checkSecurity } from './security-rules.ts';
import type { ConfigSource } from './source.ts';
import type { Configuration, Effect, Pipeline } from './spec.ts';
import type { Path } from './syntax.ts';
import { DURATION } from './units.ts';
import type { Salvaged } from './validate.ts';

/**
 * What can only be seen when several fields are looked at together. Parts of the configuration may be missing here,
 * because they were wrong; a rule then says nothing.
 */
export function checkRules(config: Salvaged<Configuration>, source: ConfigSource): void {
  checkSecurity(config?.kafka, source);
  for (const [name, pipeline] of entries(config?.pipelines)) {
    if (!pipeline) continue;
    const at = ['pipelines', name];
    checkTopics(pipeline, at, source);
    checkDelays(pipeline, at, source);
    checkGroup(pipeline.consumer, [...at, 'consumer'], source);
  }
  for (const [name, effect] of entries(config?.effects)) {
    if (!effect) continue;
    const at = ['effects', name];
    checkTarget(effect, at, source);
    checkTopics(effect, at, source);
    checkDelays(effect, at, source);
    checkGroup(effect.consumer, [...at, 'consumer'], source);
    if (config?.pipelines && Object.hasOwn(config.pipelines, name)) {
      source.reportKey(at, 'must not have the name of a pipeline: groups and transactional ids are made of it');
    }
  }
  checkBackOff(config?.worker?.restart, ['worker', 'restart'], source);
  checkGroupsDiffer(config, source);
  checkAny(config, source);
}

function checkAny(config: Salvaged<Configuration>, source: ConfigSource) {
  const { pipelines, effects } = config ?? {};
  if (!pipelines || !effects || entries(pipelines).length + entries(effects).length > 0) return;
  source.report(['pipelines'], 'needs at least one pipeline, or one effect under effects');
}

function entries<T>(block: Readonly<Record<string, T>> | undefined): [string, T][] {
  return Object.entries(block ?? {});
}

type Flow = NonNullable<Salvaged<Pipeline> | Salvaged<Effect>>;

function checkTopics(flow: Flow, at: Path, source: ConfigSource) {
  const { input, deadLetter } = flow;
  const outputs = 'outputs' in flow ? flow.outputs : {};
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

function checkDelays({ retry, transaction }: Flow, at: Path, source: ConfigSource) {
  checkBackOff(retry, [...at, 'retry'], source);
  const { commitInterval, timeout } = transaction ?? {};
  if (commitInterval !== undefined && timeout !== undefined && timeout < 2 * commitInterval) {
    reportPair(source, [...at, 'transaction'], ['timeout', timeout], 'must be at least twice', [
      'commitInterval',
      commitInterval,
    ]);
  }
}

function checkBackOff(
  backOff: { minDelay?: number | undefined; maxDelay?: number | undefined } | undefined,
  at: Path,
  source: ConfigSource,
) {
  const { minDelay, maxDelay } = backOff ?? {};
  if (minDelay !== undefined && maxDelay !== undefined && maxDelay < minDelay) {
    reportPair(source, at, ['maxDelay', maxDelay], 'must be at least', ['minDelay', minDelay]);
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
    const fields = [['assignor'], ['sessionTimeout'], ['staticMembership'], ['properties', 'heartbeat.interval.ms']];
    for (const field of fields) {
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
  const flows = [
    ...entries(config?.pipelines).map(([name, flow]) => ({ block: 'pipelines', noun: 'pipeline', name, flow })),
    ...entries(config?.effects).map(([name, flow]) => ({ block: 'effects', noun: 'effect', name, flow })),
  ];
  for (const { block, noun, name, flow } of flows) {
    if (config?.application === undefined || !flow) continue;
    const group = groupOf(config.application, name, flow.group);
    const owner = owners.get(group);
    if (owner === undefined) {
      owners.set(group, `${noun} "${name}"`);
      continue;
    }
    const message = `must not have the consumer group of ${owner}: the two would take partitions from each other`;
    const path = [block, name, 'group'];
    if (source.has(path)) source.report(path, message);
    else if (!owner.endsWith(` "${name}"`)) source.reportKey([block, name], message);
  }
}
