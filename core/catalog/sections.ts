import { baseUrlMistake } from './url-rules.ts';
import { suggest } from '../config/mistake.ts';
import {
  type CheckContext,
  defineSection,
  type Report,
  type Section,
  type SectionValue,
  type YamlPath,
} from '../config/section.ts';
import { authSchemes } from './catalog.ts';
import type { WireFormats } from './formats.ts';
import { headerMistake, keyMistake } from './header-rules.ts';
import type { JsonSchema } from '../schema.ts';
import { capabilitiesSchema } from './capabilities.ts';
import type { ProfileSettings } from './profile.ts';
import { quirksSchema } from './quirks.ts';

const timeout = { type: 'number', minimum: 0.1, maximum: 3600 } as const;
/** A name that needs no quotes or escapes in requests and routes. */
const nameSchema = {
  type: 'string',
  pattern: '^[A-Za-z0-9][^\\s]*$',
  description: 'A letter or digit, followed by any characters except spaces.',
} as const;

/** The section `upstreams`: where requests can be sent. */
export const upstreams = defineSection({
  name: 'upstreams',
  schema: {
    type: 'object',
    description: 'Upstreams that requests can be sent to, by name.',
    propertyNames: {
      pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$',
      description: 'A letter or digit, followed by letters, digits, dots, hyphens and underscores.',
    },
    additionalProperties: {
      type: 'object',
      properties: {
        vendor: { type: 'string', description: 'Vendor preset with base URL, formats and authentication.' },
        format: {
          anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, minItems: 1 }],
          description: 'Formats of the endpoint. Default: those of the vendor.',
        },
        base_url: {
          type: 'string',
          pattern: '^https?://[^\\s]+$',
          description:
            'URL with the version segment, such as https://llm.example.com/v1. The path of the format is appended.',
        },
        api_keys: {
          type: 'array',
          items: { type: 'string' },
          default: [],
          description: 'API keys, used in rotation. An upstream that requires a key and has none is disabled.',
        },
        auth: {
          type: 'string',
          enum: authSchemes,
          description: 'How the key is sent. Default: as the vendor expects, or bearer without a vendor.',
        },
        headers: {
          type: 'object',
          additionalProperties: { type: 'string' },
          default: {},
          description: 'Headers sent with every request.',
        },
      },
      additionalProperties: false,
    },
  },
  check(value, report, context) {
    for (const [key, upstream] of Object.entries(value)) checkUpstream(upstream, ['upstreams', key], context, report);
  },
});

/** Formats and vendors that plugins have registered. */
interface Known {
  readonly formats: ReadonlyMap<string, unknown>;
  readonly vendors: ReadonlyMap<string, unknown>;
}

/**
 * The section's schema for editors, which complete the names of vendors and formats. The rules above report a name that
 * is not registered.
 */
export function upstreamsSchema({ formats, vendors }: Known): JsonSchema {
  const { additionalProperties: entry, ...rest } = upstreams.schema;
  const one = { type: 'string', enum: [...formats.keys()] } as const;
  const vendor = { ...entry.properties.vendor, enum: [...vendors.keys()] };
  const format = { ...entry.properties.format, anyOf: [one, { type: 'array', items: one, minItems: 1 } as const] };
  return { ...rest, additionalProperties: { ...entry, properties: { ...entry.properties, vendor, format } } };
}

/** The section `models`: names in the catalog, and the routes that serve each. */
export const models = defineSection({
  name: 'models',
  schema: {
    type: 'object',
    description: 'Models that clients can request, by name.',
    propertyNames: nameSchema,
    additionalProperties: {
      type: 'object',
      properties: {
        routes: {
          type: 'array',
          minItems: 1,
          description:
            'Where the model is served: UPSTREAM/MODEL, with the name that the upstream gives the model. The first is primary, the others are backups.',
          items: {
            anyOf: [
              { type: 'string' },
              {
                type: 'object',
                properties: {
                  to: { type: 'string', description: 'UPSTREAM/MODEL, such as openai/gpt-5.' },
                  priority: {
                    type: 'integer',
                    minimum: 0,
                    description:
                      'Lower values are tried first. Default: the position in the list, from 0. Routes with the same priority share requests.',
                  },
                  weight: {
                    type: 'number',
                    minimum: 0,
                    description:
                      'Share of requests among routes with the same priority. Default: 1. A route with 0 is only a backup.',
                  },
                  connect_timeout: {
                    ...timeout,
                    description: 'Seconds to open a connection. Default: the value of the upstream stage.',
                  },
                  first_byte_timeout: {
                    ...timeout,
                    description: 'Seconds until the response begins. Default: the value of the upstream stage.',
                  },
                  idle_timeout: {
                    ...timeout,
                    description:
                      'Seconds without a byte before the response times out. Default: the value of the upstream stage.',
                  },
                  max_input_tokens: {
                    type: 'integer',
                    minimum: 1,
                    description:
                      'Maximum prompt tokens. Default: the value of the model. Prompts that are too long for one route go to routes with a larger value.',
                  },
                  capabilities: capabilitiesSchema,
                  quirks: quirksSchema,
                },
                required: ['to'],
                additionalProperties: false,
              },
            ],
          },
        },
        display_name: {
          type: 'string',
          minLength: 1,
          description: 'Name shown to people. Default: the name of the model.',
        },
        max_input_tokens: {
          type: 'integer',
          minimum: 1,
          description: 'Maximum prompt tokens, reported to clients.',
        },
        max_tokens: { type: 'integer', minimum: 1, description: 'Maximum output tokens, reported to clients.' },
        hedge_after: {
          type: 'number',
          minimum: 0.1,
          maximum: 3600,
          description:
            'Seconds without content before the next route is tried in parallel; the first to send content serves the request.',
        },
        resume: {
          type: 'boolean',
          default: false,
          description:
            'True to resume an interrupted text stream on the next route, so that the client gets one answer. Never inside a tool call or structured output.',
        },
        capabilities: capabilitiesSchema,
        quirks: quirksSchema,
      },
      required: ['routes'],
      additionalProperties: false,
    },
  },
  check(value, report, all) {
    const known = all.names(upstreams);
    for (const [key, model] of Object.entries(value)) {
      const { routes, resume } = model;
      checkReasoning(model, ['models', key], all, report);
      if (resume && routes.length < 2) {
        report(
          ['models', key, 'resume'],
          'has no other route to continue with',
          'add a second route, or remove resume',
        );
      }
      for (const [index, route] of routes.entries()) {
        const path = ['models', key, 'routes', index];
        checkRoute(
          typeof route === 'string' ? route : route.to,
          typeof route === 'string' ? path : [...path, 'to'],
          known,
          report,
        );
      }
    }
  },
});

/** The section `aliases`: other names of models, for tools with fixed model names. */
export const aliases = defineSection({
  name: 'aliases',
  schema: {
    type: 'object',
    description: 'Other names for models, for tools with fixed model names; * matches any characters.',
    default: {},
    additionalProperties: { type: 'string', minLength: 1, description: 'Name of a model, or another alias.' },
  },
  check(value, report, all) {
    const known = all.names(models);
    const others = all.names(aliases) ?? Object.keys(value);
    for (const [alias, target] of Object.entries(value)) {
      const path = ['aliases', alias];
      if (known?.includes(alias) === true) report(path, 'is the name of a model', 'give the alias another name');
      else if (known?.includes(target) === false && !others.includes(target)) {
        report(path, `refers to the model "${target}", which does not exist`, suggest(target, known));
      } else if (isLoop(alias, value)) report(path, 'refers back to itself', 'point one of the aliases to a model');
    }
  },
});

/** The sections of the catalog. */
export const catalogSections: readonly Section[] = [upstreams, models, aliases];

type UpstreamValue = SectionValue<typeof upstreams>[string];
type ModelValue = SectionValue<typeof models>[string];

function checkUpstream(
  upstream: UpstreamValue,
  path: YamlPath,
  { formats, vendors, isProduction, hasAllPlugins }: CheckContext,
  report: Report,
): void {
  const { vendor, format, base_url } = upstream;
  if (vendor !== undefined && hasAllPlugins && !vendors.has(vendor)) {
    report(
      [...path, 'vendor'],
      `names the vendor "${vendor}", which does not exist`,
      suggest(vendor, [...vendors.keys()]),
    );
  }
  if (isProduction && vendor !== undefined && vendors.get(vendor)?.isDemo === true) {
    report(path, 'is a demo upstream, which is not allowed with NODE_ENV=production', 'remove it and its routes');
  }
  const mistake = base_url === undefined ? undefined : baseUrlMistake(base_url);
  if (mistake !== undefined) report([...path, 'base_url'], ...mistake);
  checkHeaders(upstream, path, report);
  if (hasAllPlugins) checkFormats(format, [...path, 'format'], formats, report);
  if (vendor !== undefined) return;
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

/** An invalid header would otherwise fail every request. */
function checkHeaders({ api_keys, headers }: UpstreamValue, path: YamlPath, report: Report): void {
  for (const [index, key] of api_keys.entries()) {
    const mistake = keyMistake(key);
    if (mistake !== undefined) report([...path, 'api_keys', index], ...mistake);
  }
  for (const [header, value] of Object.entries(headers)) {
    const mistake = headerMistake(header, value);
    if (mistake !== undefined) report([...path, 'headers', header], ...mistake);
  }
}

function checkRoute(to: string, path: YamlPath, known: readonly string[] | undefined, report: Report): void {
  const [upstream, model] = splitRoute(to);
  if (upstream === '' || model === '') report(path, `is "${to}"`, 'write UPSTREAM/MODEL, such as openai/gpt-5');
  else if (known?.includes(upstream) === false)
    report(path, `goes to the upstream "${upstream}", which does not exist`, suggest(upstream, known));
}

/**
 * A way of requesting reasoning that no format of the route supports would be ignored silently. A value of the model
 * applies to all of its routes, and needs one that supports it.
 */
function checkReasoning(model: ModelValue, path: YamlPath, all: CheckContext, report: Report): void {
  const spoken = model.routes.map((route) => formatsOf(typeof route === 'string' ? route : route.to, all));
  checkWay(model, path, spoken, all.formats, report);
  for (const [index, route] of model.routes.entries())
    if (typeof route !== 'string') checkWay(route, [...path, 'routes', index], [spoken[index]], all.formats, report);
}

function checkWay(
  { quirks }: ProfileSettings,
  path: YamlPath,
  spoken: readonly (readonly string[] | undefined)[],
  formats: WireFormats,
  report: Report,
): void {
  const way = quirks?.reasoning;
  if (way === undefined || spoken.includes(undefined)) return;
  const there = [...formats.values()].filter(
    ({ name, reasoningWays }) => reasoningWays.length > 0 && spoken.some((ofRoute) => ofRoute?.includes(name)),
  );
  const known = [...new Set(there.flatMap(({ reasoningWays }) => reasoningWays))];
  if (there.length === 0 || known.includes(way)) return;
  report(
    [...path, 'quirks', 'reasoning'],
    `is "${way}", which ${there.map(({ name }) => name).join(' and ')} ${there.length === 1 ? 'does' : 'do'} not support`,
    `use one of: ${known.join(', ')}`,
  );
}

/** The formats of a route's upstream; undefined when unknown. */
function formatsOf(to: string, all: CheckContext): readonly string[] | undefined {
  const upstream = all.get(upstreams)?.[splitRoute(to)[0]];
  if (upstream === undefined) return undefined;
  if (upstream.format !== undefined) return [upstream.format].flat();
  return upstream.vendor === undefined ? undefined : all.vendors.get(upstream.vendor)?.formats;
}

/** The upstream's model name may contain slashes. */
export function splitRoute(to: string): [upstream: string, model: string] {
  const slash = to.indexOf('/');
  return slash === -1 ? [to, ''] : [to.slice(0, slash), to.slice(slash + 1)];
}

function isLoop(alias: string, all: Readonly<Record<string, string>>): boolean {
  const seen = new Set([alias]);
  for (let target = all[alias]; target !== undefined; target = all[target]) {
    if (seen.has(target)) return true;
    seen.add(target);
  }
  return false;
}
