import { connectionHeaders, headerNamePattern, headerValuePattern } from '#core/platform/http-fields.ts';
import { array, boolean, integer, object, string, type JsonSchema } from '#core/platform/schema.ts';
import { authSchemes, type Vendor } from '../catalog/catalog.ts';
import { type Cost, costSchema, priceDecimals, parseDecimal, taxDecimals } from '../catalog/cost.ts';
import { credentialsSchema } from '../catalog/credentials.ts';
import { customerChoices } from '../catalog/customer-choices.ts';
import type { WireFormats } from '../catalog/formats.ts';
import { findForeignVariable } from '../file/interpolate.ts';
import { suggest } from '../file/mistake.ts';
import { type CheckContext, defineSection, type Report, type SectionValue, type YamlPath } from '../section.ts';
import { checkCredentials, checkPlaceholder, listCredentialNotices } from './check-credentials.ts';

const capacityPeriods = ['second', 'minute', 'hour', 'day'] as const;

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
        description: 'Formats that the endpoint accepts. Default: the vendor’s.',
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
          '(`queue` of the `upstream` stage) instead of failing. Without a capacity, requests never wait.',
        {
          concurrent: integer({ minimum: 1, maximum: 100_000 }, 'Requests in flight.'),
          requests: integer({ minimum: 1, maximum: 10_000_000 }, 'Requests in each period, by a token bucket.'),
          per: string({ enum: capacityPeriods }, 'The period of `requests`. Default: minute.'),
        },
      ),
      end_user: string(
        { enum: ['client', 'hash'], default: 'client' },
        'End user named in requests, if the vendor has a field for it: the user that the client names, or the account, by a keyed ' +
          'hash that `daypass account find` accepts.',
      ),
      cache_isolation: string(
        { enum: ['none', 'account'], default: 'none' },
        'account: accounts share no entries in the vendor’s prompt cache, where the time to the first token can reveal what others have ' +
          'sent. Prompts begin with an account marker, so that instructions and tools are not shared either.',
      ),
      customer_choices: array(
        { items: string({ enum: customerChoices }), default: [] },
        'Fields by which customers may choose what this account pays for: billing_policy, user_profile_id, workspace_id, speed (fast), ' +
          'service_tier (more expensive than the default), inference_geo. Others are removed, with a note; a request with inference_geo ' +
          'is refused with 400.',
      ),
      trace_context: boolean(
        { default: false },
        'Continues a request’s trace at this upstream, with the headers traceparent and tracestate (W3C Trace Context).',
      ),
      cost: costSchema,
    }),
  },
  check(value, report, context) {
    for (const [key, upstream] of Object.entries(value)) checkUpstream(upstream, ['upstreams', key], context, report);
  },
  notices(value): string[] {
    return Object.entries(value).flatMap(([name, { credentials, capacity }]) => [
      ...listCredentialNotices(name, credentials),
      ...listCapacityNotices(name, capacity),
    ]);
  },
});

function listCapacityNotices(
  name: string,
  { concurrent, requests, per = 'minute' }: UpstreamValue['capacity'] = {},
): string[] {
  const isShort = per === 'second' || per === 'minute';
  if (concurrent === undefined || requests === undefined || isShort || concurrent <= requests) return [];
  return [
    `upstreams.${name}.capacity: concurrent is ${concurrent}, but only ${requests} requests may start in ${per === 'hour' ? 'an hour' : 'a day'}`,
  ];
}

interface RegisteredNames {
  readonly formats: ReadonlyMap<string, unknown>;
  readonly vendors: ReadonlyMap<string, unknown>;
}

/** Creates the section's schema for editors, which complete registered vendors and formats. The section's own check reports other names. */
export function createUpstreamsSchema({ formats, vendors }: RegisteredNames): JsonSchema {
  const { additionalProperties: entry, ...schema } = upstreams.schema;
  const formatName = string({ enum: [...formats.keys()] });
  const vendor = { ...entry.properties.vendor, enum: [...vendors.keys()] };
  const format = { ...entry.properties.format, anyOf: [formatName, array({ items: formatName, minItems: 1 })] };
  return { ...schema, additionalProperties: { ...entry, properties: { ...entry.properties, vendor, format } } };
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
    report([...path, 'capacity', 'per'], 'is set without requests', 'add requests, or remove per');
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
  const mistake = base_url === undefined ? undefined : findBaseUrlMistake(base_url);
  if (mistake !== undefined) report([...path, 'base_url'], ...mistake);
  checkHeaders(upstream, path, report);
  checkCost(upstream.cost, [...path, 'cost'], report);
  if (upstream.credentials !== undefined && upstream.api_keys.length > 0)
    report([...path, 'credentials'], 'is set together with api_keys', 'keep one of them');
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

function checkFormats(
  format: UpstreamValue['format'],
  path: YamlPath,
  knownFormats: WireFormats,
  report: Report,
): void {
  for (const [index, name] of (format === undefined ? [] : [format].flat()).entries()) {
    if (knownFormats.has(name)) continue;
    const place = Array.isArray(format) ? [...path, index] : path;
    report(place, `is "${name}"`, suggest(name, [...knownFormats.keys()]));
  }
}

function checkVendorFormat(
  { format }: UpstreamValue,
  { title, formats }: Vendor,
  path: YamlPath,
  knownFormats: WireFormats,
  report: Report,
): void {
  for (const [index, name] of (format === undefined ? [] : [format].flat()).entries()) {
    if (!knownFormats.has(name) || formats.includes(name)) continue;
    // Another endpoint of the vendor may support it.
    const wrong = `is "${name}", which ${title} does not support at its usual URL`;
    const place = Array.isArray(format) ? [...path, 'format', index] : [...path, 'format'];
    report(place, wrong, `use ${formats.join(' or ')}, or add the base_url of an endpoint for ${name}`);
  }
}

export function checkCost(cost: Cost | undefined, path: YamlPath, report: Report): void {
  for (const [name, value] of Object.entries(cost ?? {})) {
    const [decimals, maxDigits] = name === 'tax' ? [taxDecimals, 'two'] : [priceDecimals, 'six'];
    if (typeof value === 'number' && parseDecimal(value, decimals) === undefined)
      report([...path, name], `is ${value}`, `write at most ${maxDigits} digits after the decimal point`);
  }
}

function checkHeaders({ api_keys, headers }: UpstreamValue, path: YamlPath, report: Report): void {
  for (const [index, key] of api_keys.entries()) {
    const mistake = findKeyMistake(key);
    if (mistake !== undefined) report([...path, 'api_keys', index], ...mistake);
    const firstIndex = api_keys.indexOf(key);
    if (key !== '' && firstIndex < index)
      report([...path, 'api_keys', index], `is the same key as api_keys[${firstIndex}]`, 'keep one of them');
  }
  for (const [header, value] of Object.entries(headers)) {
    const mistake = findHeaderMistake(header, value);
    if (mistake !== undefined) report([...path, 'headers', header], ...mistake);
  }
}

function findHeaderMistake(name: string, value: string): readonly [wrong: string, right: string] | undefined {
  if (!headerNamePattern.test(name)) return ['is not a valid header name', 'use letters, digits and hyphens'];
  if (connectionHeaders.has(name.toLowerCase())) return ['is set by the gateway', 'remove it'];
  if (headerValuePattern.test(value)) return undefined;
  // Without the value, which may be a secret.
  return ['has a line break or a character that headers cannot carry', 'use printable ASCII on one line'];
}

function findKeyMistake(key: string): readonly [wrong: string, right: string] | undefined {
  const variable = findForeignVariable(key);
  if (variable !== undefined) return ['uses the variable syntax of another program', `write "\${${variable}}"`];
  if (/^[\x21-\x7e]*$/.test(key)) return undefined;
  const wrong = /\s/.test(key) ? 'has a space or a line break' : 'has a character that headers cannot carry';
  return [wrong, 'use only the key, as the vendor shows it'];
}

function findBaseUrlMistake(text: string): readonly [wrong: string, right: string] | undefined {
  // Requests use only the origin and the path, so anything else would be silently dropped.
  const url = URL.parse(text);
  if (url === null)
    return ['is not a valid URL: its host or port is invalid', 'use one such as https://llm.example.com:8443/v1'];
  if (url.username !== '' || url.password !== '') {
    const right = 'put a key under api_keys, or set auth: none and put the Authorization header under headers';
    return ['contains a user or password, which would not be sent', right];
  }
  const separator = /[?#]/.exec(text)?.[0];
  if (separator === undefined) return findEndpointMistake(url.pathname);
  return [
    `has a ${separator === '?' ? 'query' : 'fragment'} (${separator}…), which would not be sent`,
    'remove it; keys belong under api_keys, other credentials under headers',
  ];
}

// A single word counts only after a version segment, because a proxy may use it for something else.
const endpointPath =
  /\/(?:chat\/completions|images\/generations|api\/chat|api\/generate|models\/[^/]+:\w+|(?<=\/v\d\w*\/)(?:completions|embeddings|responses|messages))\/*$/;

function findEndpointMistake(path: string): readonly [wrong: string, right: string] | undefined {
  const [endpoint] = endpointPath.exec(path) ?? [];
  // The format's path would be appended to it, so every request would fail.
  if (endpoint === undefined) return undefined;
  // Ollama's base URL includes /api.
  const appendedPath = endpoint.replace(/^\/api(?=\/)/, '');
  return [`ends in ${appendedPath}, the path of an endpoint`, 'remove it: the gateway appends the path of the format'];
}
