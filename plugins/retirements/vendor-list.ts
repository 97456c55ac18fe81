import type { Upstream } from '#core/config/catalog/catalog.ts';
import { digestKey } from '#core/gateway/model-call/key-digest.ts';
import { LookupFailed, queryVendor } from '#core/gateway/model-call/vendor-lookup.ts';
import { type JsonObject, type JsonValue, listObjects } from '#core/platform/json.ts';
import { isDay } from '#core/platform/timing/time-zone.ts';

interface VendorModel {
  readonly id: string;
  readonly endsOn: string | undefined; // first day (UTC) without the model, if listed
  readonly successor: string | undefined; // recommended by the vendor, if listed
  readonly created: number; // epoch seconds; 0 if not listed
}

interface VendorList {
  readonly models: readonly VendorModel[];
  readonly isComplete: boolean; // false if the vendor sent only part of the list; absent models then do not count as missing
}

const maxListBytes = 8_388_608;

const endMembers = [
  // Source: OpenAI API reference, "List models".
  { presets: ['openai'], end: 'shutdown_date', successor: undefined },
  // Source: OpenRouter API reference, "List available models".
  { presets: ['openrouter'], end: 'expiration_date', successor: undefined },
  // Source: Mistral API reference, "List models", BaseModelCard.
  { presets: ['mistral'], end: 'deprecation', successor: 'deprecation_replacement_model' },
] as const;

export const maxKeys = 3; // a key may be rejected, or see different models

function listKeys({ apiKeys }: Upstream): string[] {
  return apiKeys.length > 0 ? [...new Set(apiKeys)] : [''];
}

export function digestKeys(upstream: Upstream): string[] {
  return listKeys(upstream).map((key) => digestKey(upstream, key));
}

/** A vendor's list as one of the keys sees it. */
export interface KeyList extends VendorList {
  readonly key: string; // digest of that key
}

/**
 * Yields the list for each key of an upstream. Lists are fetched on demand, because usually the first one has all models.
 *
 * @throws LookupFailed for the last key if all lookups failed
 */
export async function* readVendorLists(upstream: Upstream): AsyncGenerator<KeyList> {
  let failure: LookupFailed | undefined;
  let hasResponse = false;
  for (const key of listKeys(upstream).slice(0, maxKeys)) {
    const response = await queryVendor(upstream, key, getListPath(upstream), maxListBytes).catch((error: unknown) => {
      if (!(error instanceof LookupFailed)) throw error;
      failure = error;
    });
    if (response === undefined && failure?.status === 404) break;
    if (response === undefined) continue;
    hasResponse = true;
    yield { ...parseList(response, upstream.vendor), key: digestKey(upstream, key) };
  }
  if (!hasResponse && failure !== undefined) throw failure;
}

/** Requests a paginated list as a single page. */
function getListPath({ formats, vendor }: Upstream): string {
  if (formats.includes('ollama')) return '/tags';
  if (formats.includes('gemini')) return '/models?pageSize=1000';
  return vendor === 'anthropic' ? '/models?limit=1000' : '/models';
}

/** OpenAI, Anthropic, Gemini or Ollama format. */
export function parseList(response: JsonObject, preset: string | undefined): VendorList {
  const list = response['data'] ?? response['models'];
  const members = endMembers.find(({ presets }) => presets.some((name) => name === preset));
  const models = listObjects(list).flatMap((entry): VendorModel[] => {
    const id = entry['id'] ?? entry['name'];
    if (typeof id !== 'string') return [];
    return [
      {
        id: id.replace(/^models\//, ''),
        endsOn: members && parseDay(entry[members.end]),
        successor: members?.successor === undefined ? undefined : parseText(entry[members.successor]),
        created: parseCreated(entry),
      },
    ];
  });
  return { models, isComplete: response['has_more'] !== true && response['nextPageToken'] === undefined };
}

/** Takes the day from a date or time. Some vendors send a zero date if there is none. */
function parseDay(value: JsonValue | undefined): string | undefined {
  const [day] = typeof value === 'string' ? (/^2\d{3}-\d\d-\d\d/.exec(value) ?? []) : [];
  return day !== undefined && isDay(day) ? day : undefined;
}

function parseText(value: JsonValue | undefined): string | undefined {
  // PostgreSQL cannot store NUL.
  return typeof value === 'string' && value !== '' && !value.includes('\0') ? value.slice(0, 200) : undefined;
}

function parseCreated({ created, created_at: at }: JsonObject): number {
  if (typeof created === 'number') return created;
  const time = typeof at === 'string' ? Date.parse(at) / 1000 : Number.NaN;
  return Number.isNaN(time) ? 0 : time;
}

/** Ollama lists `name` as `name:latest`. */
export function findListedModel({ models }: VendorList, name: string): VendorModel | undefined {
  return models.find(({ id }) => id === name || id === `${name}:latest`);
}

export function findLatestOfFamily({ models }: VendorList, name: string): string | undefined {
  const family = extractFamilyName(name);
  const createdTime = models.find(({ id }) => id === name)?.created ?? 0;
  const [latest] = models
    .filter(
      ({ id, endsOn, created }) =>
        id !== name && endsOn === undefined && created > createdTime && extractFamilyName(id) === family,
    )
    .toSorted((first, second) => second.created - first.created);
  return latest?.id;
}

function extractFamilyName(name: string): string {
  // `claude-sonnet`, without version and date
  return name
    .toLowerCase()
    .split(/[-_.:@]/)
    .filter((part) => part !== '' && !/^v?\d+[a-z]?$/.test(part) && part !== 'latest' && part !== 'preview')
    .join('-');
}
