import { describe, expect, it } from 'vitest';

import { DeadWorkers } from '../../../dev/demo/dead-workers.ts';
import { Story } from '../../../dev/demo/story.ts';
import type { Processor } from '../../../test/helpers/processor.ts';

function told(): { story: Story; lines: string[] } {
  const story = new Story();
  const lines: string[] = [];
  story.say = (line) => void lines.push(line);
  return { story, lines };
}

describe("the demo's story", () => {
  it('counts kills by their victims, and those by somebody else', () => {
    const { story } = told();
    story.killed({ victim: 'worker', by: 'the demo', moment: 'in an open transaction' });
    story.killed({ victim: 'broker', by: 'the demo' });
    expect(story.kills).toBe('2 kills (worker 1, broker 1)');
    story.killed({ victim: 'broker', by: 'somebody else' });
    expect(story.kills).toBe('3 kills (worker 1, broker 2; by somebody else: 1)');
  });

  it('says how to kill what is started, and that it was started again', () => {
    const { story, lines } = told();
    story.started('broker', 'kill -9 1');
    story.killed({ victim: 'broker', by: 'somebody else' });
    story.started('broker', 'kill -9 2');
    expect(lines).toEqual([
      'you may kill the broker meanwhile, as often as you like: kill -9 1',
      'killed: the broker, by somebody else',
      'started again: the broker: kill -9 2',
    ]);
  });

  it('does not take an end without a signal for a kill', () => {
    const { story, lines } = told();
    story.ended('supervisor', 'exit code 1: stopped');
    expect(story.kills).toBe('0 kills ()');
    expect(lines).toEqual(['ended by itself: the supervisor: exit code 1: stopped']);
  });
});

const obituary = (worker: number, how: string): string =>
  JSON.stringify({ worker, restart: 1, msg: `worker ${worker} of pipeline p ${how}; it is started again` });

describe('what supervisors log of dead workers', () => {
  it('is told once each, and not of those that the demo has killed', () => {
    const { story, lines } = told();
    const log: string[] = [obituary(0, 'was ended by SIGKILL')];
    const workers = new DeadWorkers(story);
    workers.watch({ log } as unknown as Processor);
    workers.look();
    workers.expect(1);
    log.push(obituary(1, 'was ended by SIGKILL'), obituary(1, 'was ended by SIGKILL'), '{"msg":"else"}');
    workers.look();
    workers.look();
    log.push(obituary(0, 'ended with exit code 1'));
    workers.look();
    expect(lines).toEqual([
      'killed: a worker, by somebody else',
      'killed: a worker, by somebody else',
      'ended by itself: a worker: worker 0 of pipeline p ended with exit code 1; it is started again',
    ]);
  });
});
