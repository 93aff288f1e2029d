export const CENSOR = '[redacted]';

/** Replaces every secret in a text, however it is escaped there. */
export type Redact = (text: string) => string;

/** @param secrets Values that must never be seen outside, such as `CompiledConfig.secrets`. */
export function redactSecrets(secrets: readonly string[]): Redact {
  const forms = [...new Set(secrets.filter((secret) => secret !== '').flatMap(writtenForms))];
  if (forms.length === 0) return (text) => text;
  // Longest first: a secret that begins another one must not leave the other's tail behind.
  forms.sort((a, b) => b.length - a.length);
  const anyForm = new RegExp(forms.map(escapeForRegExp).join('|'), 'g');
  return (text) => text.replace(anyForm, CENSOR);
}

/** Serializes `value` as JSON with the secrets in its strings and keys replaced. */
export function redactedJson(value: unknown, redact: Redact): string {
  return JSON.stringify(redactStrings(value, redact));
}

/** A secret as it is, inside JSON, inside JSON that is itself a JSON string (an error that quotes a reply), and inside a URL. */
function writtenForms(secret: string): string[] {
  const inJson = insideJson(secret);
  return [secret, inJson, insideJson(inJson), encodeURIComponent(secret)];
}

function insideJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function escapeForRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

function redactStrings(value: unknown, redact: Redact): unknown {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map((element) => redactStrings(element, redact));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, field]) => [redact(key), redactStrings(field, redact)]));
  }
  return value;
}
