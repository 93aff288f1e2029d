import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isMap, isScalar, isSeq, LineCounter } from 'yaml';
import type { Document, Node, Scalar } from 'yaml';
import { ConfigError } from './problem.ts';
import type { Place, Problem } from './problem.ts';
import { isSecretName, substitute } from './substitute.ts';
import type { Surroundings } from './substitute.ts';
import { fieldAt, parseYaml, scalars } from './syntax.ts';
import type { Path } from './syntax.ts';
import { whyUnreadable } from './why-unreadable.ts';

const LONGEST_EXCERPT = 60;

/**
 * A configuration file: its value after substitution, what stands at each path and where, and the problems found so
 * far. Throws a `ConfigError` where there is nothing left that could be checked.
 */
export class ConfigSource {
  /** Absolute. */
  readonly file: string;
  readonly folder: string;
  /** All fields as plain values. */
  readonly value: unknown;
  /** Values that must never be printed. */
  readonly secrets: ReadonlySet<string>;
  readonly #name: string;
  readonly #lines = new LineCounter();
  readonly #document: Document.Parsed;
  readonly #problems: Problem[] = [];
  readonly #secrets = new Set<string>();
  readonly #hidden = new WeakSet<Node>();
  readonly #origins = new WeakMap<Node, string>();
  /** Values that could not be substituted: nothing more is said of them. */
  readonly #unknown = new WeakSet<Node>();

  constructor(name: string, env: Surroundings['env']) {
    this.#name = name;
    this.file = resolve(name);
    this.folder = dirname(this.file);
    this.secrets = this.#secrets;
    this.#document = this.#parse();
    this.#substitute({ env, folder: this.folder });
    this.value = this.#plainValue();
  }

  get problems(): readonly Problem[] {
    return this.#problems;
  }

  has(path: Path): boolean {
    return fieldAt(this.#document, path) !== undefined;
  }

  /** Reports what stands at a path; where nothing stands there, the place is the nearest block around it. */
  report(path: Path, message: string): void {
    const { value = null, key = null } = fieldAt(this.#document, path) ?? {};
    if (value && this.#unknown.has(value)) return;
    // A value that is left out has a place of its own, after its key, that nobody would look at.
    const node = value && isScalar(value) && value.source === '' ? key : value;
    this.#add(path, node ? this.#placeOf(node) : this.#placeAround(path), this.#found(value), message);
  }

  /** Reports a key, whatever its value. */
  reportKey(path: Path, message: string): void {
    const key = fieldAt(this.#document, path)?.key;
    this.#add(path, key ? this.#placeOf(key) : this.#placeAround(path), null, message);
  }

  #parse(): Document.Parsed {
    const { document, problems, fatal } = parseYaml(this.#read(), this.#lines);
    for (const { offset, message } of problems) this.#add([], this.#placeAt(offset), null, message);
    if (fatal) throw new ConfigError(this.#problems);
    if (isMap(document.contents)) return document;
    const empty = document.contents === null || (isScalar(document.contents) && document.contents.value === null);
    return this.#stop(
      empty ? 'the file is empty' : 'the file must hold a mapping of fields, the first of them `application: …`',
    );
  }

  #read(): string {
    try {
      return readFileSync(this.file, 'utf8');
    } catch (error) {
      return this.#stop(`the file can not be read: ${whyUnreadable(error)}`);
    }
  }

  #substitute(surroundings: Surroundings): void {
    for (const { scalar, path } of scalars(this.#document.contents)) {
      if (typeof scalar.value === 'string') {
        const { text, origins, secrets, errors } = substitute(scalar.value, surroundings);
        for (const error of errors) this.#add(path, this.#placeOf(scalar), null, error);
        if (errors.length > 0) this.#unknown.add(scalar);
        if (origins.length > 0) this.#origins.set(scalar, origins.join(', '));
        scalar.value = text;
        this.#hide(scalar, secrets);
      }
      if (isSecretField(path)) this.#hide(scalar, withPassword(plainText(scalar)));
    }
  }

  #hide(scalar: Scalar, secrets: readonly string[]): void {
    if (secrets.length > 0) this.#hidden.add(scalar);
    for (const secret of secrets) if (secret !== '') this.#secrets.add(secret);
  }

  #plainValue(): unknown {
    try {
      return this.#document.toJS();
    } catch (error) {
      // A merge of what is no mapping, or aliases that multiply beyond reason.
      return this.#stop(
        `aliases or merge keys can not be resolved: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }

  #stop(message: string): never {
    this.#add([], null, null, message);
    throw new ConfigError(this.#problems);
  }

  #add(path: Path, place: Place | null, found: string | null, message: string): void {
    this.#problems.push({ file: this.#name, place, path: pathText(path), found, message });
  }

  #found(node: Node | null): string | null {
    if (isMap(node)) return node.items.length > 0 ? 'a mapping' : 'an empty mapping';
    if (isSeq(node)) return node.items.length > 0 ? 'a list' : 'an empty list';
    if (!isScalar(node)) return null;
    // That there is nothing in a variable or a file is no secret, and is what has to be known.
    if (this.#hidden.has(node) && node.value !== '') return '(hidden)';
    if (node.value === null) return 'nothing';
    const origin = this.#origins.get(node);
    if (origin !== undefined) return `${excerpt(JSON.stringify(node.value))} (from ${origin})`;
    return excerpt(
      node.type === 'PLAIN' && /^\S+$/.test(node.source ?? '') ? `${node.source}` : JSON.stringify(node.value),
    );
  }

  #placeOf(node: Node): Place {
    return this.#placeAt(node.range?.[0] ?? 0);
  }

  #placeAround(path: Path): Place {
    for (let length = path.length - 1; length > 0; length--) {
      const field = fieldAt(this.#document, path.slice(0, length));
      const node = field?.key ?? field?.value;
      if (node) return this.#placeOf(node);
    }
    return { line: 1, column: 1 };
  }

  #placeAt(offset: number): Place {
    const { line, col } = this.#lines.linePos(offset);
    return { line, column: col };
  }
}

/** Client properties that name the place of a secret, such as `ssl.key.location`, and are needed in error messages. */
const SECRET_PLACE = /\.(location|file|url|keytab)$/;

/** Fields that hold a secret, or may; `*` stands for any name. */
const SECRET_FIELDS = new Set([
  'kafka.tls.keyPassword',
  'kafka.sasl.password',
  'kafka.sasl.oauth.clientSecret',
  'effects.*.postgres.url',
  'effects.*.http.bearerToken',
]);

function isSecretField(path: Path): boolean {
  const [block, , ...rest] = path.map(String);
  if (SECRET_FIELDS.has(block === 'effects' ? `effects.*.${rest.join('.')}` : path.map(String).join('.'))) return true;
  const property = String(path.at(-1));
  return path.at(-2) === 'properties' && isSecretName(property) && !SECRET_PLACE.test(property);
}

/** A URL is a secret as a whole; the password in it is one by itself, too, for drivers take it out. */
function withPassword(secret: string): string[] {
  const password = URL.canParse(secret) ? new URL(secret).password : '';
  return password === '' ? [secret] : [secret, password, decoded(password)];
}

/** What is not well encoded stays as it is. */
function decoded(password: string): string {
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}

/** As in `input.topics[0]`. */
function pathText(path: Path): string {
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
    .replace(/^\./, '');
}

/** As written, where YAML has read something else than text. */
function plainText({ value, source = '' }: Scalar): string {
  return typeof value === 'string' ? value : source;
}

function excerpt(text: string): string {
  return text.length > LONGEST_EXCERPT ? `${text.slice(0, LONGEST_EXCERPT)}…` : text;
}
