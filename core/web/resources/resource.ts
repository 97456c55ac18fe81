import { type InputOf, type InputSchema, text } from '#core/business/operator-actions/action-kind.ts';
import type { OperatorReading } from '#core/business/operator-actions/operator-reading.ts';
import { InvalidQuery } from '#core/business/operator-actions/query.ts';
import { service } from '#core/config/sections/core-sections.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { type JsonSchema, object } from '#core/platform/schema.ts';
import type { EntryView } from './field.ts';
import { toOperatorJson } from './operator-json.ts';

/** A page of results, and the start of the next one. */
export interface Found<Entry> {
  readonly entries: readonly Entry[];
  /** Value of `after` for the next page, null on the last one; omitted if the list has no pages. */
  readonly next?: string | null;
  /** Number of all entries, if the list has no pages. */
  readonly total?: number;
}

const uuid = '^[\\da-fA-F]{8}(?:-[\\da-fA-F]{4}){3}-[\\da-fA-F]{12}$';

/**
 * Schema of `after` in a query.
 *
 * @param name of the resource
 * @param pattern of its ids
 */
export const afterEntry = (name: string, pattern = uuid) => ({
  ...text(`The id of the last ${name} of the page before.`),
  pattern,
});

/** Reads a page, and one more entry to see whether another page follows. */
export async function readPage<Entry extends { readonly id: string }>(
  size: number,
  read: (limit: number) => Promise<readonly Entry[]>,
): Promise<Found<Entry> & { readonly next: string | null }> {
  const found = await read(size + 1);
  const entries = found.slice(0, size);
  return { entries, next: found.length > size ? (entries.at(-1)?.id ?? null) : null };
}

/** Size of a page, and time zone of days. */
interface ListOptions {
  readonly limit: number;
  readonly timeZone: string;
}

/** Something that operators list: accounts, orders, mails. Its command and its listing in the operator's API are derived from it. */
export interface OperatorResource<Entry = unknown, Query extends object = object> {
  /** Singular: `order`. The API lists it at `/orders`. */
  readonly name: string;
  /** Default: the name with an s. */
  readonly plural?: string;
  /** Description of the listing, beginning with a verb. */
  readonly summary: string;
  /** Filters, as options of commands and parameters of the API. `words` are those of `find`. */
  readonly query: InputSchema;
  /** Entries per response of the API; default: 100. */
  readonly perPage?: number;
  readonly view: EntryView<Entry>;
  /** Printed by a command if nothing is found. */
  readonly none: string;
  /**
   * Loads what it needs: MikroORM would slow all commands down.
   *
   * @throws AccountError, CheckoutError, InvalidQuery
   */
  list(host: Host, query: Query, options: ListOptions): Promise<Found<Entry>>;
  /** True: `--json` also prints the camelCase names that it had before 0.6, until 0.7. */
  readonly hasFormerNames?: boolean;
  /** Output of `--json`, if it differs from the API's response; until 0.7. */
  write?(found: Found<Entry>): unknown;
}

/** Ties a resource to the schema of its query. Default: no query, and `No NAME found.` */
export function defineResource<Entry, const S extends InputSchema>(
  resource: Omit<OperatorResource<Entry, InputOf<S>>, 'query' | 'none'> & {
    readonly query?: S;
    readonly none?: string;
  },
): OperatorResource<Entry, InputOf<S>> {
  return { query: object({}), none: `No ${resource.name.replaceAll('_', ' ')} found.`, ...resource };
}

export function pluralOf({ name, plural = `${name}s` }: Pick<OperatorResource, 'name' | 'plural'>): string {
  return plural;
}

/** Results under the name of the resource: `{ "orders": [], "next": null }`. */
function listFound<Entry>(resource: OperatorResource<Entry>, { entries, ...rest }: Found<Entry>): object {
  return { [pluralOf(resource)]: entries, ...rest };
}

/** Output of a command with `--json`. */
export function writeFound<Entry>(resource: OperatorResource<Entry>, found: Found<Entry>): string {
  const written = resource.write?.(found) ?? toOperatorJson(listFound(resource, found), resource.hasFormerNames);
  return JSON.stringify(written, null, 2);
}

/** The resource's listing in the operator's API. */
export function readingOf(resource: OperatorResource): OperatorReading {
  const { summary, query, perPage = 100, list } = resource;
  return {
    path: `/${pluralOf(resource)}`,
    summary,
    query: describeQuery(query),
    async read(host, _handle, given) {
      const { time_zone: timeZone } = host.section(service);
      return listFound(resource, await list(host, await readQuery(query, given), { limit: perPage, timeZone }));
    },
  };
}

/** Parameters with their descriptions. */
export function describeQuery({ properties }: InputSchema): NonNullable<OperatorReading['query']> {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, describe(schema)]));
}

function describe({ type, enum: values, description = '' }: JsonSchema): string {
  if (values !== undefined) return `${description} One of ${values.join(', ')}.`;
  return type === 'boolean' ? `true: ${description}` : description;
}

/**
 * Reads the parameters of a query. Unknown ones are ignored.
 *
 * @throws InvalidQuery
 */
export async function readQuery<const S extends InputSchema>(query: S, given: URLSearchParams): Promise<InputOf<S>> {
  const entries = Object.entries(query.properties).flatMap(([name, { type }]) => {
    const value = given.get(name);
    if (value === null) return [];
    return [[name, type === 'boolean' && (value === 'true' || value === 'false') ? value === 'true' : value]];
  });
  const input: object = Object.fromEntries(entries);
  // Loaded late, because Ajv would slow the start of commands down.
  const { describeMistakes } = await import('#core/business/operator-actions/input-mistakes.ts');
  const mistakes = describeMistakes(query, input);
  if (mistakes !== undefined) throw new InvalidQuery(mistakes);
  return input as InputOf<S>;
}
