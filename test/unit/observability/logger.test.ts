import { describe, expect, it } from 'vitest';
import type { CompiledConfig } from '../../../src/config/compiled.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { LogLines } from './log-lines.ts';

const SECRET = 'hunter2 "quoted"\nsecond line';

function loggerTo(lines: LogLines, log: Partial<CompiledConfig['log']> = {}) {
  const level = { level: 'info', format: 'json', ...log } as const;
  return createLogger(
    { application: 'flights', instance: 'host-1', log: level, secrets: [SECRET] },
    { destination: lines },
  );
}

/** Logs the secret in every place it could come from. */
function logSecretEverywhere(lines: LogLines, format: 'json' | 'pretty'): void {
  const error = new TypeError(`cannot log in with ${SECRET}`, { cause: new Error(`server: ${SECRET}`) });
  loggerTo(lines, { format })
    .child({ [SECRET]: SECRET })
    .error(
      {
        err: Object.assign(error, { request: { auth: SECRET } }),
        nested: { list: [{ deep: SECRET }] },
        reply: JSON.stringify({ sent: SECRET }),
        url: `https://user:${encodeURIComponent(SECRET)}@broker`,
      },
      `refused: ${SECRET} %s`,
      SECRET,
    );
}

describe('the logger', () => {
  it('writes one JSON object a line with level, time, application and bindings', () => {
    const lines = new LogLines();
    loggerTo(lines).child({ pipeline: 'route-flights' }).info({ partitions: 4 }, 'started');

    expect(lines.written).toEqual([expect.stringMatching(/^\{.*\}\n$/)]);
    expect(lines.parsed()).toEqual([
      {
        level: 'info',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string,
        application: 'flights',
        instance: 'host-1',
        pipeline: 'route-flights',
        partitions: 4,
        msg: 'started',
      },
    ]);
  });

  it('leaves out what is below the configured level', () => {
    const lines = new LogLines();
    const logger = loggerTo(lines, { level: 'warn' });
    logger.info('quiet');
    logger.warn('loud');
    expect(lines.parsed().map(({ msg }) => msg)).toEqual(['loud']);
  });

  it('describes an error by type, message, stack and cause', () => {
    const lines = new LogLines();
    loggerTo(lines).warn(new RangeError('outer', { cause: new TypeError('inner') }));

    expect(lines.parsed()[0]).toMatchObject({
      msg: 'outer',
      err: {
        type: 'RangeError',
        message: 'outer',
        stack: expect.stringContaining('logger.test.ts') as string,
        cause: { type: 'TypeError', message: 'inner', stack: expect.stringContaining('logger.test.ts') as string },
      },
    });
  });

  it('cuts long texts of a very long line, secrets first', () => {
    const lines = new LogLines();
    const error = new Error(`${'x'.repeat(1_997)}${SECRET}${'y'.repeat(1_000_000)}`);
    loggerTo(lines).warn({ err: error, offset: 7 }, 'given up');
    const [line] = lines.parsed() as { err: { message: string }; offset: number; msg: string }[];
    expect(line).toMatchObject({ offset: 7, msg: 'given up' });
    expect(line?.err.message.length).toBe(2_001);
    expect(JSON.stringify(line).length).toBeLessThan(20_000);
    expect(JSON.stringify(line)).not.toContain(SECRET.slice(0, 3));
  });

  it('writes JSON where the output is no terminal, and text on request', () => {
    const lines = new LogLines();
    loggerTo(lines, { format: 'auto' }).info('automatic');
    loggerTo(lines, { format: 'pretty' }).info({ partitions: 4 }, 'for people');
    expect(lines.written[0]).toMatch(/^\{"level":"info"/);
    expect(lines.written[1]).toMatch(/INFO.*for people.*partitions.*4/);
  });

  it.each(['json', 'pretty'] as const)('lets no secret into a line, wherever it comes from (%s)', (format) => {
    const lines = new LogLines();
    logSecretEverywhere(lines, format);
    const text = lines.written.join('');
    for (const part of ['hunter2', 'quoted', 'second line', 'second%20line']) expect(text).not.toContain(part);
    // All the places are still there: binding's name and value, three of the error and its stack, …
    expect(text.match(/\[redacted\]/g)?.length).toBeGreaterThanOrEqual(10);
  });

  it('keeps a redacted line parseable', () => {
    const lines = new LogLines();
    logSecretEverywhere(lines, 'json');
    expect(lines.parsed()[0]).toMatchObject({
      level: 'error',
      msg: 'refused: [redacted] [redacted]',
      err: { message: 'cannot log in with [redacted]', cause: { message: 'server: [redacted]' } },
      nested: { list: [{ deep: '[redacted]' }] },
    });
  });

  it('hides fields that are named like credentials, though their values are unknown', () => {
    const lines = new LogLines();
    loggerTo(lines).info({ password: 'a1', properties: { 'sasl.password': 'b2', 'client.id': 'c3' } }, 'connecting');
    expect(lines.parsed()[0]).toMatchObject({
      password: '[redacted]',
      properties: { 'sasl.password': '[redacted]', 'client.id': 'c3' },
    });
  });
});
