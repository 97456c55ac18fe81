import { type InputOf, type InputSchema, text } from '#core/business/operator-actions/action-kind.ts';
import type { OperatorReading } from '#core/business/operator-actions/operator-reading.ts';
import { InvalidQuery } from '#core/business/operator-actions/query.ts';
import { service } from '#core/config/sections/core-sections.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { type JsonSchema, object } from '#core/platform/schema.ts';
import type { EntryView } from './field.ts';
import { toOperatorJson } from './operator-json.ts';

/** A page of a list, and the cursor for the next page. */
export interface ListResult<Entry> {
  readonly entries: readonly Entry[];
  /** Value of `after` for the next page; null on the last one; omitted if the list has no pages. */
  readonly next?: string | null;
  /** Number of all entries, if the list has no pages. */
  readonly total?: number;
}

const uuidPattern = '^[\\da-fA-F]{8}(?:-[\\da-fA-F]{4}){3}-[\\da-fA-F]{12}$';

/** Creates the schema for `after` in a query. `name` is the resource's; its ids match `pattern`. */
export const createAfterSchema = (name: string, pattern = uuidPattern) => ({
  ...text(`The id of the last ${name} on the previous page.`),
  pattern,
});

/** Reads a page. Requests one extra entry to find out whether there is another page. */
export async function readPage<Entry extends { readonly id: string }>(
  size: number,
  read: (limit: number) => Promise<readonly Entry[]>,
): Promise<ListResult<Entry> & { readonly next: string | null }> {
  const rows = await read(size + 1);
  const entries = rows.slice(0, size);
  return { entries, next: rows.length > size ? (entries.at(-1)?.id ?? null) : null };
}

/** Returns the first entries of a list that is in memory. */
export function takeFirst<Entry>(entries: readonly Entry[], limit: number): ListResult<Entry> {
  return { entries: entries.slice(0, limit), total: entries.length };
}

interface ListOptions {
  readonly limit: number;
  readonly timeZone: string;
}

/**
 * Something that operators can list, such as accounts or orders. Its command and its endpoint in the operator API are derived from this.
 */
export interface OperatorResource<Entry = unknown, Query extends object = object> {
  /** Singular: `order`. The API lists it at `/orders`. */
  readonly name: string;
  /** Default: the name plus `s`. */
  readonly plural?: string;
  /** Describes the list; starts with a verb. */
  readonly summary: string;
  /** Filters: options of the command, and parameters of the API. `words` are the arguments of `find`. */
  readonly query: InputSchema;
  /** Entries per API response; default: 100. */
  readonly perPage?: number;
  readonly view: EntryView<Entry>;
  /** Printed by the command if the list is empty. */
  readonly none: string;
  /**
   * Lists entries. Import modules inside this method: loading MikroORM at the top would slow down every command.
   *
   * @throws AccountError, CheckoutError, InvalidQuery
   */
  list(host: Host, query: Query, options: ListOptions): Promise<ListResult<Entry>>;
  /** True to include the deprecated camelCase names from before 0.6 in `--json`; remove in 0.7. */
  readonly hasFormerNames?: boolean;
  /** Returns the output of `--json`, if it differs from the API's response; remove in 0.7. */
  write?(found: ListResult<Entry>): unknown;
}

/** Infers the type of a resource's query from its schema. Defaults: no query, and `No NAME found.` */
export function defineResource<Entry, const S extends InputSchema>(
  resource: Omit<OperatorResource<Entry, InputOf<S>>, 'query' | 'none'> & {
    readonly query?: S;
    readonly none?: string;
  },
): OperatorResource<Entry, InputOf<S>> {
  return { query: object({}), none: `No ${resource.name.replaceAll('_', ' ')} found.`, ...resource };
}

export function getPlural({ name, plural = `${name}s` }: Pick<OperatorResource, 'name' | 'plural'>): string {
  return plural;
}

function wrapEntries<Entry>(resource: OperatorResource<Entry>, { entries, ...cursor }: ListResult<Entry>): object {
  return { [getPlural(resource)]: entries, ...cursor }; // { "orders": [], "next": null }
}

export function renderListJson<Entry>(resource: OperatorResource<Entry>, found: ListResult<Entry>): string {
  const output = resource.write?.(found) ?? toOperatorJson(wrapEntries(resource, found), resource.hasFormerNames);
  return JSON.stringify(output, null, 2);
}

/** Creates the resource's endpoint in the operator API. */
export function createReading(resource: OperatorResource): OperatorReading {
  const { summary, query, perPage = 100, list } = resource;
  return {
    path: `/${getPlural(resource)}`,
    summary,
    query: describeQuery(query),
    async read(host, _handle, parameters) {
      const { time_zone: timeZone } = host.section(service);
      return wrapEntries(resource, await list(host, await readQuery(query, parameters), { limit: perPage, timeZone }));
    },
  };
}

export function describeQuery({ properties }: InputSchema): NonNullable<OperatorReading['query']> {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, describeParameter(schema)]));
}

function describeParameter({ type, enum: values, description = '' }: JsonSchema): string {
  if (values !== undefined) return `${description} One of ${values.join(', ')}.`;
  return type === 'boolean' ? `true: ${description}` : description;
}

/** Reads a query's parameters; unknown ones are ignored. Throws InvalidQuery. */
export async function readQuery<const S extends InputSchema>(
  query: S,
  parameters: URLSearchParams,
): Promise<InputOf<S>> {
  const entries = Object.entries(query.properties).flatMap(([name, { type }]) => {
    const value = parameters.get(name);
    if (value === null) return [];
    return [[name, type === 'boolean' && (value === 'true' || value === 'false') ? value === 'true' : value]];
  });
  const input: object = Object.fromEntries(entries);
  // Imported late, because loading Ajv would slow down the start of commands.
  const { describeMistakes } = await import('#core/business/operator-actions/input-mistakes.ts');
  const mistakes = describeMistakes(query, input);
  if (mistakes !== undefined) throw new InvalidQuery(mistakes);
  return input as InputOf<S>;
}
