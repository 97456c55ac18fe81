import { suggest } from '../file/mistake.ts';
import { type CheckContext, defineSection, type Report, type SectionValue, type YamlPath } from '../section.ts';
import { array, boolean, integer, object, string, type JsonSchema } from '#core/platform/schema.ts';
import { credentialsSchema } from '../catalog/credentials.ts';
import { type Cost, costSchema, priceDecimals, readDecimal, taxDecimals } from '../catalog/cost.ts';
import { authSchemes, type Vendor } from '../catalog/catalog.ts';
import { checkCredentials, checkPlaceholder, credentialNotices } from './check-credentials.ts';
import { customerChoices } from '../catalog/customer-choices.ts';
import type { WireFormats } from '../catalog/formats.ts';
import { foreignVariable } from '../file/interpolate.ts';

const capacityPeriods = ['second', 'minute', 'hour', 'day'] as const;

/** The section `upstreams`: the destinations of requests. */
export const upstreams = defineSection({
  name: 'upstreams',
  isPerRequest: true,
  schema: {
    type: 'object',
    description: 'Upstreams that requests can be sent to, by name.',
    propertyNames: {
      pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$',
      description: 'A letter or digit, followed by letters, digits, dots, hyphens and underscores.',
    },
    additionalProperties: object({
      vendor: string('Vendor preset with base URL, formats and authentication.'),
      format: {
        anyOf: [string(), array({ items: string(), minItems: 1 })],
        description: 'Formats of the endpoint. Default: those of the vendor.',
      },
      base_url: string(
        { pattern: '^https?://[^\\s]+$' },
        'URL with the version segment, such as https://llm.example.com/v1. The path of the format is appended.',
      ),
      api_keys: array(
        { items: string({ writeOnly: true }), default: [] },
        'API keys, used in rotation. An upstream that requires a key and has none is disabled.',
      ),
      auth: string(
        { enum: authSchemes },
        'How the key is sent. Default: as the vendor expects, or bearer without a vendor.',
      ),
      credentials: credentialsSchema,
      headers: {
        type: 'object',
        additionalProperties: string({ writeOnly: true }),
        default: {},
        description: 'Headers sent with every request.',
      },
      capacity: object(
        { minProperties: 1 },
        'Capacity of the upstream, shared by all its models and keys. Further requests wait in a queue that is fair to accounts ' +
          '(`queue` of the stage upstream) instead of failing. Without it nothing waits.',
        {
          concurrent: integer({ minimum: 1, maximum: 100_000 }, 'Requests in flight.'),
          requests: integer({ minimum: 1, maximum: 10_000_000 }, 'Requests in each period, by a token bucket.'),
          per: string({ enum: capacityPeriods }, 'The period of `requests`. Default: minute.'),
        },
      ),
      end_user: string(
        { enum: ['client', 'hash'], default: 'client' },
        'End user named in requests, if the vendor has a field for it: the user that the client names, or the account, by a keyed ' +
          'hash that `daypass account find` takes.',
      ),
      cache_isolation: string(
        { enum: ['none', 'account'], default: 'none' },
        'account: no account reads from the prompt cache of the vendor what another one has written there, which the time to the first ' +
          'token would tell it. Prompts begin with a mark of the account, so that instructions and tools are not shared either.',
      ),
      customer_choices: array(
        { items: string({ enum: customerChoices }), default: [] },
        'Fields by which customers may choose what this account pays for: billing_policy, user_profile_id, workspace_id, speed (fast), ' +
          'service_tier (dearer than the default), inference_geo. Others are removed, with a note; inference_geo is answered with 400.',
      ),
      trace_context: boolean(
        { default: false },
        'Continues the trace of a request at this upstream, by the headers traceparent and tracestate (W3C Trace Context).',
      ),
      cost: costSchema,
    }),
  },
  check(value, report, context) {
    for (const [key, upstream] of Object.entries(value)) checkUpstream(upstream, ['upstreams', key], context, report);
  },
  notices(value): string[] {
    return Object.entries(value).flatMap(([name, { credentials, capacity }]) => [
      ...credentialNotices(name, credentials),
      ...capacityNotices(name, capacity),
    ]);
  },
});

function capacityNotices(
  name: string,
  { concurrent, requests, per = 'minute' }: UpstreamValue['capacity'] = {},
): string[] {
  const isShort = per === 'second' || per === 'minute';
  if (concurrent === undefined || requests === undefined || isShort || concurrent <= requests) return [];
  return [
    `upstreams.${name}.capacity: concurrent is ${concurrent}, and only ${requests} requests may begin in ${per === 'hour' ? 'an hour' : 'a day'}`,
  ];
}

interface Known {
  readonly formats: ReadonlyMap<string, unknown>;
  readonly vendors: ReadonlyMap<string, unknown>;
}

/**
 * Returns the section's schema for editors, which complete the names of vendors and formats. The rules above report a name that
 * is not registered.
 */
export function upstreamsSchema({ formats, vendors }: Known): JsonSchema {
  const { additionalProperties: entry, ...rest } = upstreams.schema;
  const one = string({ enum: [...formats.keys()] });
  const vendor = { ...entry.properties.vendor, enum: [...vendors.keys()] };
  const format = { ...entry.properties.format, anyOf: [one, array({ items: one, minItems: 1 })] };
  return { ...rest, additionalProperties: { ...entry, properties: { ...entry.properties, vendor, format } } };
}

type UpstreamValue = SectionValue<typeof upstreams>[string];

function checkUpstream(
  upstream: UpstreamValue,
  path: YamlPath,
  { formats, vendors, production, hasAllPlugins }: CheckContext,
  report: Report,
): void {
  const { vendor, format, base_url, capacity } = upstream;
  if (capacity?.per !== undefined && capacity.requests === undefined)
    report([...path, 'capacity', 'per'], 'stands without requests', 'add requests, or remove per');
  if (vendor !== undefined && hasAllPlugins && !vendors.has(vendor)) {
    report(
      [...path, 'vendor'],
      `names the vendor "${vendor}", which does not exist`,
      suggest(vendor, [...vendors.keys()]),
    );
  }
  if (production !== undefined && vendor !== undefined && vendors.get(vendor)?.isDemo === true) {
    const { because, unless } = production;
    report(path, `is a demo upstream, which is not allowed ${because}`, `remove it and its routes${unless}`);
  }
  const mistake = base_url === undefined ? undefined : baseUrlMistake(base_url);
  if (mistake !== undefined) report([...path, 'base_url'], ...mistake);
  checkHeaders(upstream, path, report);
  checkCost(upstream.cost, [...path, 'cost'], report);
  if (upstream.credentials !== undefined && upstream.api_keys.length > 0)
    report([...path, 'credentials'], 'stands beside api_keys', 'keep one of them');
  checkPlaceholder(base_url, path, report);
  const preset = vendor === undefined ? undefined : vendors.get(vendor);
  if (upstream.credentials !== undefined)
    checkCredentials(upstream.credentials, { base_url, preset }, [...path, 'credentials'], report);
  if (hasAllPlugins) checkFormats(format, [...path, 'format'], formats, report);
  if (vendor !== undefined) {
    if (preset !== undefined && base_url === undefined) checkVendorFormat(upstream, preset, path, formats, report);
    if (preset !== undefined && preset.baseUrl === undefined && preset.start === undefined && base_url === undefined)
      report(
        path,
        'has no base_url',
        `add the URL of your endpoint, such as ${preset.baseUrlExample ?? 'https://llm.example.com/v1'}`,
      );
    return;
  }
  if (format === undefined) report(path, 'has neither a vendor nor a format', 'add vendor, or format and base_url');
  else if (base_url === undefined)
    report(path, 'has no base_url', 'add the URL of the endpoint, such as https://llm.example.com/v1');
}

function checkFormats(format: UpstreamValue['format'], path: YamlPath, known: WireFormats, report: Report): void {
  for (const [index, name] of (format === undefined ? [] : [format].flat()).entries()) {
    if (known.has(name)) continue;
    const place = Array.isArray(format) ? [...path, index] : path;
    report(place, `is "${name}"`, suggest(name, [...known.keys()]));
  }
}

/** Reports formats that the vendor's own endpoint does not support; another URL of the vendor may support them. */
function checkVendorFormat(
  { format }: UpstreamValue,
  { title, formats }: Vendor,
  path: YamlPath,
  known: WireFormats,
  report: Report,
): void {
  for (const [index, name] of (format === undefined ? [] : [format].flat()).entries()) {
    if (!known.has(name) || formats.includes(name)) continue;
    const wrong = `is "${name}", which ${title} does not speak at its usual URL`;
    const place = Array.isArray(format) ? [...path, 'format', index] : [...path, 'format'];
    report(place, wrong, `use ${formats.join(' or ')}, or add the base_url of an endpoint for ${name}`);
  }
}

/** Reports prices with more than six decimals, and a tax with more than two. */
export function checkCost(cost: Cost | undefined, path: YamlPath, report: Report): void {
  for (const [name, value] of Object.entries(cost ?? {})) {
    const [decimals, most] = name === 'tax' ? [taxDecimals, 'two'] : [priceDecimals, 'six'];
    if (typeof value === 'number' && readDecimal(value, decimals) === undefined)
      report([...path, name], `is ${value}`, `write at most ${most} digits after the decimal point`);
  }
}

/** Reports invalid headers, which would otherwise fail every request. */
function checkHeaders({ api_keys, headers }: UpstreamValue, path: YamlPath, report: Report): void {
  for (const [index, key] of api_keys.entries()) {
    const mistake = keyMistake(key);
    if (mistake !== undefined) report([...path, 'api_keys', index], ...mistake);
    const first = api_keys.indexOf(key);
    if (key !== '' && first < index)
      report([...path, 'api_keys', index], `is the same key as api_keys[${first}]`, 'keep one of them');
  }
  for (const [header, value] of Object.entries(headers)) {
    const mistake = headerMistake(header, value);
    if (mistake !== undefined) report([...path, 'headers', header], ...mistake);
  }
}

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/; // RFC 9110 §5.6.2
/** One line of visible Latin-1 characters, spaces and tabs (RFC 9110 §5.5). */
const line = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Connection headers that the HTTP client sets: other values would break the request's framing. */
const framing = new Set(['connection', 'content-length', 'expect', 'keep-alive', 'te', 'transfer-encoding', 'upgrade']);

/** The mistake in a header and its correction, without the value; undefined for a valid header. */
function headerMistake(name: string, value: string): readonly [wrong: string, right: string] | undefined {
  if (!token.test(name)) return ['is not a valid header name', 'use letters, digits and hyphens'];
  if (framing.has(name.toLowerCase())) return ['is set by the gateway', 'remove it'];
  if (line.test(value)) return undefined;
  return ['has a line break or a character that headers cannot carry', 'use printable ASCII on one line'];
}

/** Reports a key with spaces: it was pasted or read with surrounding text. */
function keyMistake(key: string): readonly [wrong: string, right: string] | undefined {
  const variable = foreignVariable(key);
  if (variable !== undefined) return ['is a variable in the notation of another program', `write "\${${variable}}"`];
  if (/^[\x21-\x7e]*$/.test(key)) return undefined;
  const wrong = /\s/.test(key) ? 'has a space or a line break' : 'has a character that headers cannot carry';
  return [wrong, 'use the key alone, as the vendor shows it'];
}

/**
 * The mistake in the base URL of an upstream and its correction; undefined for a valid one. Requests use only origin and
 * path, so anything else would be dropped silently.
 */
function baseUrlMistake(text: string): readonly [wrong: string, right: string] | undefined {
  const url = URL.parse(text);
  if (url === null)
    return ['is not a valid URL: its host or port is invalid', 'use one such as https://llm.example.com:8443/v1'];
  if (url.username !== '' || url.password !== '') {
    const right = 'put a key under api_keys, or set auth: none and put the Authorization header under headers';
    return ['contains a user or password, which would not be sent', right];
  }
  const rest = /[?#]/.exec(text)?.[0];
  if (rest === undefined) return endpointMistake(url.pathname);
  return [
    `has a ${rest === '?' ? 'query' : 'fragment'} (${rest}…), which would not be sent`,
    'remove it; keys belong under api_keys, other credentials under headers',
  ];
}

/**
 * Paths of vendors' endpoints, as their documentation appends them to the base URL. A single word counts only after a version
 * segment, because without it, a proxy may use the word for its own purposes.
 */
const endpoints =
  /\/(?:chat\/completions|images\/generations|api\/chat|api\/generate|models\/[^/]+:\w+|(?<=\/v\d\w*\/)(?:completions|embeddings|responses|messages))\/*$/;

/** Reports a base URL that ends with an endpoint: the format's path would be appended, and every request would fail. */
function endpointMistake(path: string): readonly [wrong: string, right: string] | undefined {
  const [endpoint] = endpoints.exec(path) ?? [];
  if (endpoint === undefined) return undefined;
  // Ollama's endpoints follow its /api.
  const surplus = endpoint.replace(/^\/api(?=\/)/, '');
  return [`ends in ${surplus}, the path of an endpoint`, 'remove it: the gateway appends the path of the format'];
}
