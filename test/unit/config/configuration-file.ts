import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { CompiledConfig } from '../../../src/config/compiled.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { ConfigError } from '../../../src/config/problem.ts';

type Env = Readonly<Record<string, string>>;

/** A folder with a configuration and files beside it, for as long as the test runs. */
export class ConfigFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'millrace-config-'));
  readonly file = join(this.path, 'flights.yaml');

  constructor(yaml: string, others: Readonly<Record<string, string>> = {}) {
    onTestFinished(() => rmSync(this.path, { recursive: true }));
    writeFileSync(this.file, yaml);
    for (const [name, text] of Object.entries(others)) writeFileSync(join(this.path, name), text);
  }

  load(env: Env = {}): CompiledConfig {
    return loadConfig(this.file, { env, hostname: 'host-1' });
  }

  /** What is printed, a line a problem, the folder left out. Empty when nothing is wrong. */
  problems(env: Env = {}): string[] {
    try {
      this.load(env);
    } catch (error) {
      if (error instanceof ConfigError) return error.message.replaceAll(`${this.path}/`, '').split('\n');
      throw error;
    }
    return [];
  }
}

export function load(yaml: string, env: Env = {}): CompiledConfig {
  return new ConfigFolder(yaml).load(env);
}

export function problems(yaml: string, env: Env = {}): string[] {
  return new ConfigFolder(yaml).problems(env);
}

/** Ten lines that are right; what is given comes below as lines 11 and on, as fields of the pipeline. */
export function pipelineWith(...lines: string[]): string {
  return `application: flights
kafka:
  bootstrapServers: localhost:9092
pipelines:
  route:
    input: { topics: [flights, cancellations] }
    transform: ./route.ts
    outputs:
      late: { topic: flights.late }
      early: { topic: flights.early }
${lines.map((line) => `    ${line}\n`).join('')}`;
}

/** The same ten lines and more at the top level, from line 11 on. */
export function topLevelWith(...lines: string[]): string {
  return `${pipelineWith()}${lines.map((line) => `${line}\n`).join('')}`;
}
