import { describe, expect, it } from 'vitest';
import { problems, topLevelWith } from './configuration-file.ts';

describe('YAML', () => {
  it.each([
    ['a quote that is not closed', 'log: { level: "info }', '11:15', 'this quote is never closed'],
    ['tabs', 'log:\n\tlevel: info', '12:1', 'this is not valid YAML: Tabs are not allowed as indentation'],
    [
      'a key that stands twice',
      'log: {}\nlog: {}',
      '12:1',
      'this key stands twice in one mapping: remove one of the two',
    ],
    [
      'an escape that does not exist',
      'log: { level: "i\\xnfo" }',
      '11:17',
      'inside " " this \\ means nothing: write \\\\ for a plain one, or use single quotes',
    ],
    ['two documents', '---\nlog: {}', '11:1', 'the file holds several YAML documents: only one is allowed'],
    ['a tag', 'log: !block {}', '11:6', 'YAML tags are not supported; a value that begins with ! needs quotes'],
    ['a key that is no text', '? [a]\n: b', '11:3', 'a key must be plain text'],
    ['a name that objects keep for themselves', '__proto__: {}', '11:1', 'this name can not be used'],
    [
      'an alias without an anchor',
      'log: { level: *level }',
      '11:15',
      'this alias has no anchor before it; a value that begins with * needs quotes',
    ],
    ['an alias that holds itself', 'log: &log { level: *log }', '11:20', 'this alias holds itself'],
    [
      'a variable without quotes in { }',
      'log: { level: ${LEVEL} }',
      '11:16',
      'inside { } or [ ] a ${…} needs quotes: "${…}"',
    ],
    ['a variable without quotes in [ ]', 'x: [ ${LEVEL} ]', '11:7', 'inside { } or [ ] a ${…} needs quotes: "${…}"'],
  ])('refuses %s at its place', (_, lines, place, message) => {
    expect(problems(topLevelWith(lines))).toContain(`flights.yaml:${place}  ${message}`);
  });

  it('reports every line that it does not understand, once', () => {
    expect(problems('application: "flights\nlog: { level: a: b ] }\n')).toHaveLength(1);
    expect(problems('a: @one\nb: @two\n')).toEqual([
      'flights.yaml:1:4  this is not valid YAML: Plain value cannot start with reserved character @',
      'flights.yaml:2:4  this is not valid YAML: Plain value cannot start with reserved character @',
    ]);
  });

  it('goes on to the fields when only a key stands twice', () => {
    expect(problems(topLevelWith('log: { level: loud }', 'http: {}', 'http: { prt: 1 }'))).toHaveLength(3);
  });

  it('says of a key that stands twice nothing else, where its blocks are right together', () => {
    const twice = [
      expect.stringMatching(/^flights.yaml:\d+:1 {2}this key stands twice in one mapping: remove one of the two$/),
    ];
    expect(problems(topLevelWith('kafka: { properties: {} }'))).toEqual(twice);
    expect(problems(topLevelWith('pipelines: {}'))).toEqual(twice);
    expect(problems(topLevelWith('log: { level: info }', 'log: { format: json }'))).toEqual(twice);
    expect(problems(topLevelWith('application: other'))).toEqual(twice);
  });

  it('refuses a merge of what is no mapping', () => {
    expect(problems(topLevelWith('log: { <<: info }'))).toEqual([
      expect.stringMatching(/^flights.yaml {2}aliases or merge keys can not be resolved: /),
    ]);
  });

  it('does not let aliases multiply beyond reason', () => {
    const lines = ['a: &a [x, x, x, x, x, x, x, x, x]'];
    for (let depth = 0; depth < 9; depth++) {
      const [from, to] = ['abcdefghij'[depth], 'abcdefghij'[depth + 1]];
      lines.push(`${to}: &${to} [${Array<string>(9).fill(`*${from}`).join(', ')}]`);
    }
    expect(problems(lines.join('\n'))).toEqual([
      expect.stringMatching(/^flights.yaml {2}aliases or merge keys can not be resolved: /),
    ]);
  });
});
