import { expect, it } from 'vitest';
import { createLogger } from '../../../src/observability/logger.ts';
import { LogLevel } from '../../../src/observability/log-level.ts';
import { LogLines } from './log-lines.ts';

it.each([
  ['error', 'debug', 'error'],
  ['info', 'debug', 'info'],
  ['debug', 'info', 'debug'],
] as const)('goes from %s to %s and back', (configured, next, back) => {
  const level = new LogLevel(configured);
  level.current = level.next;
  expect(level.current).toBe(next);
  expect(level.next).toBe(back);
});

it('counts for loggers that were made before it changed', () => {
  const lines = new LogLines();
  const level = new LogLevel('info');
  const config = { application: 'a', instance: 'i', log: { level: 'info', format: 'json' }, secrets: [] } as const;
  const child = createLogger(config, { destination: lines, level }).child({ pipeline: 'p' });
  child.debug('one');
  level.current = 'debug';
  child.debug('two');
  level.current = 'error';
  child.debug('three');
  expect(lines.parsed().map(({ msg }) => msg)).toEqual(['two']);
});
