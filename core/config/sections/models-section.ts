import { array, boolean, integer, number, object, string } from '#core/platform/schema.ts';
import { capabilitiesSchema } from '../catalog/capabilities.ts';
import { costSchema } from '../catalog/cost.ts';
import type { WireFormats } from '../catalog/formats.ts';
import { modelKinds } from '../catalog/kinds.ts';
import { publicNameOf } from '../catalog/model-name.ts';
import type { ProfileSettings } from '../catalog/profile.ts';
import { type QuirkSettings, quirksSchema } from '../catalog/quirks.ts';
import { suggest } from '../file/mistake.ts';
import {
  type CheckContext,
  defineSection,
  type Report,
  type Section,
  type SectionValue,
  type YamlPath,
} from '../section.ts';
import { service } from './core-sections.ts';
import { checkCost, upstreams } from './upstreams-section.ts';

const timeout = number({ minimum: 0.1, maximum: 3600 });
const nameSchema = string(
  { pattern: '^[A-Za-z0-9][^\\s]*$' },
  'A letter or digit, followed by any characters except spaces.',
);

export const models = defineSection({
  name: 'models',
  isPerRequest: true,
  schema: {
    type: 'object',
    description: 'Models that clients can request, by short name. Clients see them as PREFIX/NAME.',
    propertyNames: nameSchema,
    additionalProperties: object(['routes'], {
      routes: array(
        {
          minItems: 1,
          items: {
            anyOf: [
              string(),
              object(['to'], {
                to: string('UPSTREAM/MODEL, such as openai/gpt-6-sol.'),
                priority: integer(
                  { minimum: 0 },
                  'Lower values are tried first. Default: the position in the list, from 0. Routes with the same priority share requests.',
                ),
                weight: number(
                  { minimum: 0 },
                  'Share of requests among routes with the same priority. Default: 1. A route with 0 is only a backup.',
                ),
                connect_timeout: number(
                  timeout,
                  'Seconds to open a connection. Default: the value of the upstream stage.',
                ),
                first_byte_timeout: number(
                  timeout,
                  'Seconds until the response begins. Default: the value of the upstream stage.',
                ),
                idle_timeout: number(
                  timeout,
                  'Seconds without a byte before the response times out. Default: the value of the upstream stage.',
                ),
                max_input_tokens: integer(
                  { minimum: 1 },
                  'Maximum prompt tokens. Default: the value of the model. Prompts that are too long for one route go to routes with a larger value.',
                ),
                cost: {
                  ...costSchema,
                  description: 'Cost of this route to the operator, instead of the cost of its upstream.',
                },
                capabilities: capabilitiesSchema,
                quirks: quirksSchema,
              }),
            ],
          },
        },
        'Where the model is served: UPSTREAM/MODEL, with the model’s name at the upstream. The first one is primary, the others are backups.',
      ),
      display_name: string({ minLength: 1 }, 'Name shown to people. Default: the name of the model.'),
      kind: string(
        { enum: modelKinds },
        'Kind of model, which decides which endpoints can call it. Default: the kind in the vendor’s preset, or else the only kind that its upstreams serve, or else chat.',
      ),
      max_input_tokens: integer({ minimum: 1 }, 'Maximum prompt tokens, reported to clients.'),
      max_tokens: integer({ minimum: 1 }, 'Maximum output tokens, reported to clients.'),
      hedge_after: number(
        { minimum: 0.1, maximum: 3600 },
        'Seconds without content before the next route is tried in parallel; the first to send content serves the request.',
      ),
      resume: boolean(
        { default: false },
        'True to resume an interrupted text stream on the next route, so that the client gets one response. Never inside a tool call or structured output.',
      ),
      capabilities: capabilitiesSchema,
      quirks: quirksSchema,
    }),
  },
  check(value, report, all) {
    const upstreamNames = all.names(upstreams);
    const publicPrefix = publicNameOf(readPrefix(all), '');
    for (const [key, model] of Object.entries(value)) {
      checkName(key, publicPrefix, report);
      const { routes, resume } = model;
      reportRepeatedRoutes(routes, ['models', key, 'routes'], report);
      checkQuirks(model, ['models', key], all, report);
      if (resume && routes.length < 2) {
        report(
          ['models', key, 'resume'],
          'has no other route to continue with',
          'add a second route, or remove resume',
        );
      }
      for (const [index, route] of routes.entries()) {
        const path = ['models', key, 'routes', index];
        if (typeof route !== 'string') checkCost(route.cost, [...path, 'cost'], report);
        checkRoute(
          typeof route === 'string' ? route : route.to,
          typeof route === 'string' ? path : [...path, 'to'],
          upstreamNames,
          report,
        );
      }
    }
  },
  notices(value): string[] {
    return Object.entries(value).flatMap(([name, model]) => listModelNotices(name, model));
  },
});

function listModelNotices(name: string, model: ModelValue): string[] {
  const { routes, max_input_tokens: input, max_tokens: output, quirks } = model;
  const routeSettings = routes.map((route) => (typeof route === 'string' ? undefined : route));
  const inputs = routeSettings.map((route) => route?.max_input_tokens);
  const outputs = routeSettings.map((route) => route?.quirks?.max_output_tokens ?? quirks?.max_output_tokens);
  const compare = (option: string, declared: number | undefined, limits: (number | undefined)[]) => {
    const maxTokens = Math.max(...limits.map((limit) => limit ?? Infinity));
    return declared === undefined || declared <= maxTokens
      ? []
      : [`models.${name}.${option} is ${declared}, but none of its routes accepts more than ${maxTokens}`];
  };
  return [...compare('max_input_tokens', input, inputs), ...compare('max_tokens', output, outputs)];
}

export const aliases = defineSection({
  name: 'aliases',
  isPerRequest: true,
  schema: {
    type: 'object',
    description:
      'Other names for models, for tools with fixed model names. GET /v1/models lists them, except those with *, which matches any characters.',
    default: {},
    additionalProperties: string({ minLength: 1 }, 'Name of a model, or another alias.'),
  },
  check(value, report, all) {
    const modelNames = all.names(models);
    const aliasNames = all.names(aliases) ?? Object.keys(value);
    const publicNames = modelNames?.map((name) => publicNameOf(readPrefix(all), name));
    const names = { modelNames, publicNames, aliasNames };
    for (const alias of Object.keys(value)) checkAlias(alias, value, names, report);
  },
});

interface KnownNames {
  readonly modelNames: readonly string[] | undefined; // undefined if a model's name is invalid
  readonly publicNames: readonly string[] | undefined; // public names of these models, in the same order
  readonly aliasNames: readonly string[];
}

function checkAlias(
  alias: string,
  aliasTargets: Readonly<Record<string, string>>,
  { modelNames, publicNames, aliasNames }: KnownNames,
  report: Report,
): void {
  const path = ['aliases', alias];
  if (modelNames?.includes(alias) === true)
    return report(path, 'is the name of a model', 'give the alias another name');
  if (publicNames?.includes(alias) === true)
    return report(path, 'is the name under which clients see a model', 'give the alias another name');
  if (isRegularExpression(alias)) {
    const pattern = alias.replace(/\.[*+]/g, '*').replace(/[\^$\\]/g, '');
    const wrong = 'looks like a regular expression, and would match only these characters';
    return report(path, wrong, `write a pattern in which * stands for any characters, such as "${pattern}"`, true);
  }
  const target = aliasTargets[alias] as string;
  if (modelNames?.includes(target) === false && !aliasNames.includes(target)) {
    const intendedName = modelNames[publicNames?.indexOf(target) ?? -1];
    const right =
      intendedName === undefined ? suggest(target, modelNames) : `write "${intendedName}", without the prefix`;
    return report(path, `refers to the model "${target}", which does not exist`, right);
  }
  if (isLoop(alias, aliasTargets)) report(path, 'refers back to itself', 'point one of the aliases to a model');
}

function isRegularExpression(alias: string): boolean {
  // In `gpt-4.*`, the dot belongs to the name.
  return /(?:^|[^A-Za-z0-9])\.[*+]|\.\+|^\^|\$$|[|\\()[\]]/.test(alias);
}

/** The sections from which the catalog is built. */
export const catalogSections: readonly Section[] = [upstreams, models, aliases];

function readPrefix(all: CheckContext): string {
  const { prefix = '' }: Partial<SectionValue<typeof service>> = all.get(service);
  return prefix;
}

type ModelValue = SectionValue<typeof models>[string];

function checkName(name: string, publicPrefix: string, report: Report): void {
  if (name.includes('*')) {
    const right = 'name one model here, and put patterns such as "gpt-*" under aliases';
    report(['models', name], 'contains a *, but model names are matched exactly', right);
  }
  // The public name would contain the prefix twice.
  if (!name.startsWith(publicPrefix)) return;
  const wrong = `begins with "${publicPrefix}", which clients see as the prefix of every name`;
  report(['models', name], wrong, `write "${name.slice(publicPrefix.length)}"`);
}

function checkRoute(to: string, path: YamlPath, upstreamNames: readonly string[] | undefined, report: Report): void {
  const [upstream, model] = splitRoute(to);
  if (upstream === '' || model === '')
    return report(path, `is "${to}"`, 'write UPSTREAM/MODEL, such as openai/gpt-6-sol');
  if (model.includes('*')) {
    const wrong = `is "${to}", but the upstream would receive the * in the name`;
    return report(path, wrong, 'write the name of one model of the upstream');
  }
  if (upstreamNames?.includes(upstream) === false)
    report(path, `refers to the upstream "${upstream}", which does not exist`, suggest(upstream, upstreamNames));
}

function reportRepeatedRoutes(routes: ModelValue['routes'], path: YamlPath, report: Report): void {
  const seenRoutes = new Set<string>();
  for (const [index, route] of routes.entries()) {
    const to = typeof route === 'string' ? route : route.to;
    // A second attempt would go to the route that has just failed.
    if (seenRoutes.has(to)) report([...path, index], `lists the route "${to}" twice`, 'keep one of them');
    seenRoutes.add(to);
  }
}

/** Reports a reasoning style that no format of the route supports, because it would be silently ignored. */
function checkQuirks(model: ModelValue, path: YamlPath, all: CheckContext, report: Report): void {
  const formatsByRoute = model.routes.map((route) => findFormats(typeof route === 'string' ? route : route.to, all));
  // A style for the model applies to all of its routes, so it is enough if one of them supports it.
  checkProfile(model, path, formatsByRoute, all, report);
  for (const [index, route] of model.routes.entries())
    if (typeof route !== 'string')
      checkProfile(route, [...path, 'routes', index], [formatsByRoute[index]], all, report);
}

function checkProfile(
  { quirks }: ProfileSettings,
  path: YamlPath,
  formatsByRoute: readonly (readonly string[] | undefined)[],
  { formats, hasAllPlugins }: CheckContext,
  report: Report,
): void {
  checkReasoningStyle(quirks, [...path, 'quirks'], formatsByRoute, formats, report);
  for (const [name, formatQuirks] of Object.entries(quirks?.by_format ?? {})) {
    const formatPath = [...path, 'quirks', 'by_format', name];
    if (formats.has(name)) checkReasoningStyle(formatQuirks, formatPath, [[name]], formats, report);
    else if (hasAllPlugins)
      report(formatPath, `is for the format "${name}", which does not exist`, suggest(name, [...formats.keys()]));
  }
}

function checkReasoningStyle(
  quirks: Pick<QuirkSettings, 'reasoning'> | undefined,
  path: YamlPath,
  formatsByRoute: readonly (readonly string[] | undefined)[],
  formats: WireFormats,
  report: Report,
): void {
  const style = quirks?.reasoning;
  if (style === undefined || formatsByRoute.includes(undefined)) return;
  const routeFormats = [...formats.values()].filter(
    ({ name, reasoningStyles }) =>
      reasoningStyles.length > 0 && formatsByRoute.some((formatNames) => formatNames?.includes(name)),
  );
  const supportedStyles = [...new Set(routeFormats.flatMap(({ reasoningStyles }) => reasoningStyles))];
  if (routeFormats.length === 0 || supportedStyles.includes(style)) return;
  report(
    [...path, 'reasoning'],
    `is "${style}", which ${routeFormats.map(({ name }) => name).join(' and ')} ${routeFormats.length === 1 ? 'does' : 'do'} not support`,
    `use one of: ${supportedStyles.join(', ')}`,
  );
}

function findFormats(to: string, all: CheckContext): readonly string[] | undefined {
  const upstream = all.get(upstreams)?.[splitRoute(to)[0]];
  if (upstream === undefined) return undefined;
  if (upstream.format !== undefined) return [upstream.format].flat();
  return upstream.vendor === undefined ? undefined : all.vendors.get(upstream.vendor)?.formats;
}

/** Splits UPSTREAM/MODEL at the first slash, because the model's name at the upstream may contain slashes. */
export function splitRoute(to: string): [upstream: string, model: string] {
  const slash = to.indexOf('/');
  return slash === -1 ? [to, ''] : [to.slice(0, slash), to.slice(slash + 1)];
}

function isLoop(alias: string, aliasTargets: Readonly<Record<string, string>>): boolean {
  const seenNames = new Set([alias]);
  for (let target = aliasTargets[alias]; target !== undefined; target = aliasTargets[target]) {
    if (seenNames.has(target)) return true;
    seenNames.add(target);
  }
  return false;
}
