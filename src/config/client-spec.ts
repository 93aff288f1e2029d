import * as z from 'zod';
import { CLIENT_PROPERTIES } from './client-properties.ts';
import type { ClientProperty } from './client-properties.ts';
import { refusalReason } from './client-refusals.ts';
import type { ClientProperties } from './compiled.ts';
import { decimal, flag, integer, text, word, words } from './fields.ts';

type Client = 'consumer' | 'producer';

/** Where properties are given: for one client, or in `kafka.properties` for both. */
type PropertyScope = Client | 'both';

/** Bounds that the client checks only once it starts. */
const NARROWER: Readonly<Record<string, Partial<ClientProperty>>> = {
  'fetch.min.bytes': { min: 1, max: 100_000_000 },
};

/** Fit only one of the group protocols, which each pipeline chooses. */
const PER_PIPELINE = ['heartbeat.interval.ms', 'group.remote.assignor'];

type ClientPropertiesSchema = z.ZodType<ClientProperties, ClientProperties>;

/** The block of properties that may be given in one place. */
export function clientProperties(scope: PropertyScope) {
  const shape = Object.entries(CLIENT_PROPERTIES)
    .filter(([name, property]) => isFor(scope, property) && !refusePropertyIn(scope, name))
    .map(([name, property]) => [name, fieldOf({ ...property, ...NARROWER[name] }).optional()] as const);
  return z
    .strictObject(Object.fromEntries(shape))
    .meta({ allowed: 'properties of librdkafka, by the names in its CONFIGURATION.md' }) as ClientPropertiesSchema;
}

/** Those of `kafka.properties` that are for one of the clients. */
export function propertiesFor(client: Client, properties: ClientProperties): ClientProperties {
  return Object.fromEntries(
    Object.entries(properties).filter(([name]) => {
      const property = propertyNamed(name);
      return property && isFor(client, property);
    }),
  );
}

/** Why a property can not be set in a place, if it is one that exists or is known from elsewhere. */
export function refusePropertyIn(scope: PropertyScope, name: string): string | undefined {
  const reason = refusalReason(name);
  if (reason !== undefined) return `can not be set: ${name} ${reason}`;
  const property = propertyNamed(name);
  if (property?.type === 'code') return `can not be set: ${name} takes code, not a value`;
  if (property && !isFor(scope, property)) {
    return `belongs to the ${property.client}: move it to ${property.client}.properties`;
  }
  if (scope === 'both' && PER_PIPELINE.includes(name)) {
    return "depends on the group protocol: move it to a pipeline's consumer.properties";
  }
  return undefined;
}

function propertyNamed(name: string): ClientProperty | undefined {
  return Object.hasOwn(CLIENT_PROPERTIES, name) ? CLIENT_PROPERTIES[name] : undefined;
}

function isFor(scope: PropertyScope, { client }: ClientProperty): boolean {
  return scope === 'both' || client === 'both' || client === scope;
}

function fieldOf({ type, min = -Infinity, max = Infinity, words: known = [] }: ClientProperty): z.ZodType {
  switch (type) {
    case 'integer':
      return integer({ min, max });
    case 'decimal':
      return decimal({ min, max });
    case 'flag':
      return flag();
    case 'word':
      return word(known);
    case 'words':
      return words(known);
    case 'text':
    case 'code':
      return text();
  }
}
