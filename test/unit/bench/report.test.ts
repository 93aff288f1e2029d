import { describe, expect, it } from 'vitest';
import { isRight, report, type Results } from '../../../bench/report.ts';

const run = (recordsPerSecond: number, cpuMicrosPerRecord: number, wrong: string | null = null) => ({
  recordsPerSecond,
  cpuMicrosPerRecord,
  peakBytes: 200_000_000,
  wrong,
});
const trickle = (p50Ms: number, p99Ms: number, peakBytes = 100_000_000) => ({
  p50Ms,
  p99Ms,
  maxMs: 200,
  peakBytes,
  wrong: null,
});

const results: Results = {
  throughput: new Map([
    [
      'identity',
      [
        { millrace: run(90_000, 6), 'bare loop': run(100_000, 5) },
        { millrace: run(45_000, 7), 'bare loop': run(50_000, 5) },
        { millrace: run(120_000, 5), 'bare loop': run(100_000, 5) },
      ],
    ],
    ['json', [{ millrace: run(80_000, 8), 'bare loop': run(100_000, 8) }]],
  ]),
  latency: [
    { millrace: trickle(58, 104.4, 231_400_000), 'bare loop': trickle(50, 100) },
    { millrace: trickle(60, 99), 'bare loop': trickle(50, 100, 900_000_000) },
    { millrace: trickle(57, 190), 'bare loop': trickle(50, 100) },
  ],
};

describe('the report of the benchmark', () => {
  it('ends with the lines that scripts read', () => {
    expect(report(results).slice(-4)).toEqual([
      'cpu_ratio identity=1.20 json=1.00',
      'ratio identity=0.90 json=0.80',
      'latency p50=58 p99=104',
      'peak_memory_mb=231',
    ]);
  });

  it('leaves out what was not measured', () => {
    expect(report({ ...results, throughput: new Map() }).slice(-2)).toEqual([
      'latency p50=58 p99=104',
      'peak_memory_mb=231',
    ]);
    expect(report({ ...results, latency: [] }).slice(-2)).toEqual([
      'ratio identity=0.90 json=0.80',
      'peak_memory_mb=200',
    ]);
  });

  it('gives the ratio of effects a line of its own, above the last three', () => {
    const round = { millrace: run(9_000, 60), 'bare loop': run(10_000, 50) };
    const throughput: Results['throughput'] = new Map([...results.throughput, ['effects', [round]]]);
    expect(report({ ...results, throughput }).slice(-5)).toEqual([
      'cpu_ratio identity=1.20 json=1.00 effects=1.20',
      'ratio effects=0.90',
      'ratio identity=0.90 json=0.80',
      'latency p50=58 p99=104',
      'peak_memory_mb=231',
    ]);
    expect(report({ throughput: new Map([['effects', [round]]]), latency: [] }).slice(-2)).toEqual([
      'ratio effects=0.90',
      'peak_memory_mb=200',
    ]);
  });

  it('gives the median, the least and the most', () => {
    const text = report(results).join('\n');
    expect(text).toContain('| identity | millrace | 90,000 (45,000–120,000) | 6.00 (5.00–7.00) | 200 (200–200) |');
    expect(text).toContain('| bare loop | 50.0 (50.0–50.0) |');
  });

  it('does not count runs with a wrong output', () => {
    const throughput: Results['throughput'] = new Map([
      [
        'identity',
        [
          { millrace: run(1_000_000, 1, '3 records instead of 4'), 'bare loop': run(50_000, 5) },
          { millrace: run(80_000, 6), 'bare loop': run(100_000, 5) },
        ],
      ],
    ]);
    const lines = report({ throughput, latency: [] });
    expect(lines).toContain('ratio identity=0.80');
    expect(lines.join('\n')).toContain('| identity | millrace | 80,000 (80,000–80,000) |');
    expect(isRight({ throughput, latency: [] })).toBe(false);
    expect(isRight(results)).toBe(true);
  });
});
