import { describe, expect, it } from 'vitest';
import { parsePs, parseStat, parseStatus, readUsage, UsageLog } from '../../../bench/usage.ts';

describe('what a process has used', () => {
  it('is read from /proc, whatever the command is called', () => {
    const fields = 'S 1 42 42 0 -1 4194560 900 0 0 0 1234 66 7 8 20 0 12 0';
    expect(parseStat(`42 (node) ${fields}`)).toBe(13);
    expect(parseStat(`42 (a (b) 1 2) ${fields}`)).toBe(13);
    expect(parseStatus('VmPeak:\t 9999 kB\nVmHWM:\t    1000 kB\nVmRSS:\t     500 kB\n')).toBe(1_024_000);
  });

  it('is read from ps where there is no /proc', () => {
    expect(parsePs('  1:02.50  1000\n')).toEqual({ cpuSeconds: 62.5, peakBytes: 1_024_000 });
    expect(parsePs('01:00:02 1000')).toEqual({ cpuSeconds: 3_602, peakBytes: 1_024_000 });
  });

  it('is known for this process, and not for one that is gone', () => {
    const own = readUsage(process.pid);
    expect(own?.cpuSeconds).toBeGreaterThan(0);
    expect(own?.peakBytes).toBeGreaterThan(1_000_000);
    expect(readUsage(2 ** 31 - 1)).toBeUndefined();
  });
});

describe('the log of what a process has used', () => {
  const log = new UsageLog();
  log.add(1_000, { cpuSeconds: 1, peakBytes: 500 });
  log.add(2_000, { cpuSeconds: 2, peakBytes: 900 });
  log.add(3_000, { cpuSeconds: 5, peakBytes: 700 });

  it('gives CPU time between two moments, evenly between two samples', () => {
    expect(log.cpuSeconds(1_000, 3_000)).toBe(4);
    expect(log.cpuSeconds(1_500, 2_500)).toBe(2);
    expect(log.cpuSeconds(2_000, 2_000)).toBe(0);
  });

  it('knows nothing of what was before the first sample and after the last', () => {
    expect(log.cpuSeconds(0, 1_000)).toBe(0);
    expect(log.cpuSeconds(3_000, 9_000)).toBe(0);
  });

  it('keeps the peak where the system tells only what is held at the time', () => {
    expect(log.peakBytes).toBe(900);
  });
});
