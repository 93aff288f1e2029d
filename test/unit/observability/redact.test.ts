import { describe, expect, it } from 'vitest';
import { redactedJson, redactSecrets } from '../../../src/observability/redact.ts';

describe('redaction of secrets', () => {
  it('leaves a text without secrets as it is', () => {
    expect(redactSecrets(['s3cret'])('nothing to see')).toBe('nothing to see');
    expect(redactSecrets([])('nothing to see')).toBe('nothing to see');
    expect(redactSecrets([''])('nothing to see')).toBe('nothing to see');
  });

  it('replaces every occurrence of every secret', () => {
    expect(redactSecrets(['alpha', 'beta'])('alpha beta alpha')).toBe('[redacted] [redacted] [redacted]');
  });

  it('takes a secret with the meaning of a regular expression literally', () => {
    expect(redactSecrets(['a.b*(c'])('a.b*(c axbbc')).toBe('[redacted] axbbc');
  });

  it('leaves no tail when one secret begins another', () => {
    expect(redactSecrets(['pass', 'password'])('password pass')).toBe('[redacted] [redacted]');
  });

  it.each([
    ['quotes', 'say "friend"'],
    ['a backslash', String.raw`C:\keys`],
    ['lines', '-----BEGIN KEY-----\nMIIB+/=\n-----END KEY-----'],
    ['characters that URLs escape', 'p@ss/word?'],
  ])('finds a secret with %s inside JSON, JSON in JSON, and a URL', (_, secret) => {
    const redact = redactSecrets([secret]);
    const json = JSON.stringify({ field: secret });
    expect(redact(json)).toBe('{"field":"[redacted]"}');
    expect(redact(JSON.stringify({ reply: json }))).toBe(String.raw`{"reply":"{\"field\":\"[redacted]\"}"}`);
    expect(redact(`https://user:${encodeURIComponent(secret)}@host`)).toBe('https://user:[redacted]@host');
  });

  it('writes valid JSON whatever the secret is', () => {
    const value = { list: ['a"b', 1, null, true], 'a"b': { deep: 'x a"b' } };
    for (const secret of ['a"b', '"', ':', '1', 'true', '{']) {
      const json = redactedJson(value, redactSecrets([secret]));
      expect(() => JSON.parse(json) as unknown, secret).not.toThrow();
    }
    expect(redactedJson(value, redactSecrets(['a"b']))).toBe(
      '{"list":["[redacted]",1,null,true],"[redacted]":{"deep":"x [redacted]"}}',
    );
  });
});
