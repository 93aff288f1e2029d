import { existsSync, readFileSync } from 'node:fs';
import { request } from 'undici';
import type { CompiledConfig } from './config/compiled.ts';

/** Within the time-out of the image's health check, so that the reason is seen. */
const TIMEOUT_MS = 5_000;

/** `/live`: the process answers. `/ready`: its pipelines and effects get on, too. */
type Question = '/live' | '/ready';

export type Health = { readonly kind: 'well' } | { readonly kind: 'unwell'; readonly reason: string };

/** Asks the process that serves HTTP on this machine as a configuration says. */
export async function askHealth({ host, port }: CompiledConfig['http'], question: Question): Promise<Health> {
  if (port === 0) return { kind: 'unwell', reason: 'it can not be asked: http.port is 0, which is any free port' };
  const url = `http://${reachable(host)}:${port}${question}`;
  try {
    // Not `fetch`, which refuses a list of ports.
    const { statusCode, body } = await request(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    const text = (await body.text()).trim();
    return statusCode === 200 ? { kind: 'well' } : { kind: 'unwell', reason: `${url} answers ${statusCode}: ${text}` };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { kind: 'unwell', reason: `${url} does not answer: ${why}` };
  }
}

/**
 * The configuration that the first process of this container was told to run. undefined where it was told something
 * else, and outside of containers.
 */
export function containersFile(commandLine = '/proc/1/cmdline'): string | undefined {
  if (!existsSync(commandLine)) return undefined; // not Linux
  const args = readFileSync(commandLine, 'utf8').split('\0');
  const run = args.indexOf('run');
  return run === -1 ? undefined : args.slice(run + 1).find((arg) => existsSync(arg));
}

function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
