import { either } from './fields.ts';
import type { ConfigSource } from './source.ts';
import type { Effect } from './spec.ts';
import type { Path } from './syntax.ts';
import { DURATION } from './units.ts';
import type { Salvaged } from './validate.ts';

const TARGETS = ['postgres', 'http', 'module'];
const WRITES = ['processedEvents', 'upsert', 'module'];
const EFFECTS = ['statements', 'module'];

/** What an effect is applied to, and how, is said exactly once. */
export function checkTarget({ postgres, http }: NonNullable<Salvaged<Effect>>, at: Path, source: ConfigSource): void {
  checkOne(TARGETS, at, source);
  if (http?.tls) {
    const { certificate, key } = http.tls;
    if ((certificate === undefined) !== (key === undefined)) {
      source.reportKey([...at, 'http', 'tls'], 'needs certificate and key together, or neither');
    }
  }
  for (const name of Object.keys(http?.headers ?? {})) {
    if (/^idempotency-key$/i.test(name)) {
      source.reportKey([...at, 'http', 'headers', name], 'can not be set: it is the event id always');
    }
    if (/^authorization$/i.test(name) && http?.bearerToken !== undefined) {
      source.reportKey([...at, 'http', 'headers', name], 'must not stand beside bearerToken, which sets it');
    }
  }
  if (!postgres) return;
  const block = [...at, 'postgres'];
  checkOne(WRITES, block, source);
  if (source.has([...block, 'processedEvents'])) checkOne(EFFECTS, [...block, 'processedEvents'], source);
  const { lockTimeout, statementTimeout } = postgres;
  if (lockTimeout !== undefined && statementTimeout !== undefined && lockTimeout >= statementTimeout) {
    const field = source.has([...block, 'lockTimeout']) ? 'lockTimeout' : 'statementTimeout';
    const [relation, other, ms] =
      field === 'lockTimeout'
        ? (['shorter', 'statementTimeout', statementTimeout] as const)
        : (['longer', 'lockTimeout', lockTimeout] as const);
    source.report([...block, field], `must be ${relation} than ${other}, which is ${DURATION.format(ms)}`);
  }
}

function checkOne(fields: readonly string[], at: Path, source: ConfigSource): void {
  const there = fields.filter((field) => source.has([...at, field]));
  if (there.length === 0) source.reportKey(at, `needs one of ${either(fields)}`);
  for (const field of there.slice(1)) {
    source.reportKey([...at, field], `must not stand beside ${String(there[0])}: one of ${either(fields)} is needed`);
  }
}
