import type { Upstream } from '#core/config/catalog/catalog.ts';
import { keyDigest } from '#core/gateway/model-call/key-digest.ts';
import { LookupFailed, lookUp } from '#core/gateway/model-call/vendor-lookup.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { isDay } from '#core/platform/timing/time-zone.ts';

/** A model on a vendor's list. */
interface VendorModel {
  readonly id: string;
  /** First day (UTC) without it, where the list says so. */
  readonly endsOn: string | undefined;
  /** What the vendor recommends instead, where the list says so. */
  readonly successor: string | undefined;
  /** Epoch s; 0 where the list does not say. */
  readonly created: number;
}

interface VendorList {
  readonly models: readonly VendorModel[];
  /** False where the vendor has more than it has sent: nothing is missing then. */
  readonly isWhole: boolean;
}

/** Bytes of a list. */
const longestList = 8_388_608;

/** Members of entries in which vendors give the end of a model, and what follows it. */
const endMembers = [
  // Source: OpenAI API reference, "List models".
  { presets: ['openai'], end: 'shutdown_date', successor: undefined },
  // Source: OpenRouter API reference, "List available models".
  { presets: ['openrouter'], end: 'expiration_date', successor: undefined },
  // Source: Mistral API reference, "List models", BaseModelCard.
  { presets: ['mistral'], end: 'deprecation', successor: 'deprecation_replacement_model' },
] as const;

/** Keys with which a vendor is asked: one of them may be refused, or see other models. */
export const mostKeys = 3;

function keysOf({ apiKeys }: Upstream): string[] {
  return apiKeys.length > 0 ? [...new Set(apiKeys)] : [''];
}

/** Digests of all keys of an upstream. */
export function digestsOf(upstream: Upstream): string[] {
  return keysOf(upstream).map((key) => keyDigest(upstream, key));
}

/** What a vendor lists for one of its keys. */
export interface KeyList extends VendorList {
  /** Digest of the key. */
  readonly key: string;
}

/**
 * The lists for the keys of an upstream, each asked for when it is needed: the first one that answers has all models, as a rule.
 *
 * @throws LookupFailed of the last key, if none has answered
 */
export async function* readVendorLists(upstream: Upstream): AsyncGenerator<KeyList> {
  let failure: LookupFailed | undefined;
  let isAnswered = false;
  for (const key of keysOf(upstream).slice(0, mostKeys)) {
    const answer = await lookUp(upstream, key, pathOf(upstream), longestList).catch((error: unknown) => {
      if (!(error instanceof LookupFailed)) throw error;
      failure = error;
    });
    if (answer === undefined && failure?.status === 404) break;
    if (answer === undefined) continue;
    isAnswered = true;
    yield { ...toList(answer, upstream.vendor), key: keyDigest(upstream, key) };
  }
  if (!isAnswered && failure !== undefined) throw failure;
}

/** Lists in pages are asked for in one. */
function pathOf({ formats, vendor }: Upstream): string {
  if (formats.includes('ollama')) return '/tags';
  if (formats.includes('gemini')) return '/models?pageSize=1000';
  return vendor === 'anthropic' ? '/models?limit=1000' : '/models';
}

/** Lists of OpenAI, Anthropic, Gemini and Ollama. */
export function toList(answer: JsonObject, preset: string | undefined): VendorList {
  const list = answer['data'] ?? answer['models'];
  const members = endMembers.find(({ presets }) => presets.some((one) => one === preset));
  const models = (Array.isArray(list) ? list : []).filter(isJsonObject).flatMap((entry): VendorModel[] => {
    const id = entry['id'] ?? entry['name'];
    if (typeof id !== 'string') return [];
    return [
      {
        id: id.replace(/^models\//, ''),
        endsOn: members && dayOf(entry[members.end]),
        successor: members?.successor === undefined ? undefined : textOf(entry[members.successor]),
        created: createdAt(entry),
      },
    ];
  });
  return { models, isWhole: answer['has_more'] !== true && answer['nextPageToken'] === undefined };
}

/** The day, such as `2026-12-11`, of a date or time; undefined for an invalid date, and for the zero that some vendors send for none. */
function dayOf(value: JsonValue | undefined): string | undefined {
  const [day] = typeof value === 'string' ? (/^2\d{3}-\d\d-\d\d/.exec(value) ?? []) : [];
  return day !== undefined && isDay(day) ? day : undefined;
}

function textOf(value: JsonValue | undefined): string | undefined {
  // PostgreSQL takes no NUL.
  return typeof value === 'string' && value !== '' && !value.includes('\0') ? value.slice(0, 200) : undefined;
}

function createdAt({ created, created_at: at }: JsonObject): number {
  if (typeof created === 'number') return created;
  const time = typeof at === 'string' ? Date.parse(at) / 1000 : Number.NaN;
  return Number.isNaN(time) ? 0 : time;
}

/** Ollama lists `name:latest` for what is called `name`. */
export function findListed({ models }: VendorList, name: string): VendorModel | undefined {
  return models.find(({ id }) => id === name || id === `${name}:latest`);
}

/** The latest model of the same family on the list, as a suggestion; undefined where none is later, or the list has no times. */
export function latestOfFamily({ models }: VendorList, name: string): string | undefined {
  const family = familyOf(name);
  const own = models.find(({ id }) => id === name)?.created ?? 0;
  const [latest] = models
    .filter(
      ({ id, endsOn, created }) => id !== name && endsOn === undefined && created > own && familyOf(id) === family,
    )
    .toSorted((one, other) => other.created - one.created);
  return latest?.id;
}

/** The name without its versions and dates: `claude-sonnet` for all of them. */
function familyOf(name: string): string {
  return name
    .toLowerCase()
    .split(/[-_.:@]/)
    .filter((part) => part !== '' && !/^v?\d+[a-z]?$/.test(part) && part !== 'latest' && part !== 'preview')
    .join('-');
}
