import type { Vendor } from '#core/config/catalog/catalog.ts';
import { type ImportDraft, type DraftRoute, Reference } from '../draft.ts';
import { type UpstreamEndpoint, endpointAt, type Vendors } from '../endpoints.ts';
import { ImportedObject } from '../members.ts';
import type { ImportSource } from '../source.ts';
import { aliasesAndFallbacks } from './litellm-routing.ts';
import { bedrock, vertex } from './litellm-clouds.ts';
import { environmentName, type Provider, providerOf, providers, unlistedProvider } from './litellm-providers.ts';
import { deploymentReasons, generalReasons, infoReasons, rootReasons } from './litellm-reasons.ts';

/** The config.yaml of LiteLLM's proxy. Source: docs.litellm.ai, "Config.yaml", "All settings". */
export const litellm: ImportSource = {
  name: 'litellm',
  title: 'LiteLLM',
  file: 'the config.yaml of its proxy',
  readConfiguration(value, draft, vendors) {
    const root = new ImportedObject(value, '', draft);
    const shares = new Map<string, Deployment[]>();
    for (const [index, entry] of root.list('model_list').entries()) {
      const deployment = readDeployment(entry, `model_list[${index}]`, draft, vendors);
      if (deployment !== undefined)
        shares.set(deployment.upstream, [...(shares.get(deployment.upstream) ?? []), deployment]);
    }
    for (const [upstream, deployments] of shares) limitUpstream(draft, upstream, deployments);
    aliasesAndFallbacks(root, draft);
    root.members('general_settings')?.finish(generalReasons);
    root.finish(rootReasons);
  },
};

interface Deployment {
  readonly path: string;
  readonly upstream: string;
  readonly concurrent: number | undefined;
  readonly requests: number | undefined;
}

/** Imports a deployment. @returns undefined if it was noted instead */
function readDeployment(entry: unknown, path: string, draft: ImportDraft, vendors: Vendors): Deployment | undefined {
  const deployment = new ImportedObject(entry, path, draft);
  const name = deployment.text('model_name');
  const parameters = deployment.members('litellm_params');
  const info = deployment.members('model_info');
  const limits = { rpm: deployment.number('rpm') ?? parameters?.number('rpm') };
  deployment.finish(deploymentReasons);
  if (name === undefined || parameters === undefined) {
    draft.note(path, 'has no model_name or no litellm_params');
    return undefined;
  }
  const kind = kindOf(info, draft);
  const target = readTarget(parameters, kind, draft, vendors);
  if (target === undefined) return undefined;
  const { upstream, model } = target;
  const route: DraftRoute = {
    upstream,
    model,
    priority: parameters.number('order') ?? 0,
    weight: parameters.number('weight'),
  };
  const maxInputTokens = whole(info?.number('max_input_tokens'));
  const maxTokens = whole(info?.number('max_output_tokens') ?? info?.number('max_tokens'));
  draft.addModel(`${path}.model_name`, {
    name,
    routes: [route],
    ...(kind !== undefined && kind !== 'chat' && { kind }),
    ...(maxInputTokens !== undefined && { maxInputTokens }),
    ...(maxTokens !== undefined && { maxTokens }),
  });
  const concurrent = whole(parameters.number('max_parallel_requests'));
  parameters.finish(deploymentReasons);
  for (const support of info?.names.filter((member) => member.startsWith('supports_')) ?? []) info?.take(support);
  info?.finish(infoReasons);
  return { path, upstream, concurrent, requests: whole(limits.rpm) };
}

const whole = (value: number | undefined) => (value !== undefined && value >= 1 ? Math.floor(value) : undefined);

const kinds: Readonly<Record<string, string>> = {
  chat: 'chat',
  completion: 'chat',
  responses: 'chat',
  embedding: 'embedding',
  image_generation: 'image',
  audio_speech: 'speech',
  audio_transcription: 'transcription',
  rerank: 'rerank',
  moderation: 'moderation',
};

/** Formats of endpoints without a preset, by model kind. */
const formatOfKind: Readonly<Record<string, string>> = {
  embedding: 'embeddings',
  image: 'images',
  speech: 'speech',
  transcription: 'transcriptions',
  rerank: 'rerank',
  moderation: 'moderations',
};

function kindOf(info: ImportedObject | undefined, draft: ImportDraft): string | undefined {
  const mode = info?.text('mode');
  if (mode === undefined || info === undefined) return undefined;
  if (kinds[mode] === undefined) draft.note(info.at('mode'), 'there are no models of this mode here');
  return kinds[mode];
}

interface Target {
  readonly upstream: string;
  readonly model: string;
}

/** Imports a deployment's upstream. Notes the reason and returns undefined if it cannot be served here. */
function readTarget(
  parameters: ImportedObject,
  kind: string | undefined,
  draft: ImportDraft,
  vendors: Vendors,
): Target | undefined {
  const [name, model] = providerOf(parameters.text('model') ?? '', parameters.text('custom_llm_provider'));
  const path = parameters.at('model');
  if (model === '') return draft.note(path, 'names no model');
  if (model.includes('*')) return draft.note(path, 'models have whole names here: add each model that you serve');
  if (name === 'bedrock') return bedrock(parameters, model, draft);
  if (name === 'vertex_ai') return vertex(parameters, model, draft);
  const provider = providers[name];
  if (provider === undefined) return draft.note(path, unlistedProvider(name));
  const endpoint = endpointOf(provider, parameters, draft, vendors);
  if (endpoint === undefined)
    return draft.note(parameters.at('api_base'), 'is missing, or is not a URL that an upstream can have');
  const fitted = fitKind(endpoint, kind, vendors);
  if (fitted === undefined) return draft.note(path, `the preset "${endpoint.vendor}" has no endpoint for this mode`);
  const headers = readHeaders(parameters, name, draft);
  const key = provider.isKeyless === true ? parameters.text('api_key') : (parameters.text('api_key') ?? '');
  const keys = key === undefined ? [] : [keyOf(key, provider, name, parameters.at('api_key'), draft)];
  const upstream = draft.addUpstream(name.replaceAll('_', '-'), {
    ...fitted,
    ...authOf(fitted, keys.length > 0, vendors),
    keys,
    ...(headers !== undefined && { headers }),
    from: parameters.path,
  });
  return { upstream, model };
}

/** Chooses the authorization. Self-hosted servers need a key only if the operator has set one. */
function authOf({ vendor }: UpstreamEndpoint, hasKey: boolean, vendors: Vendors): { readonly auth?: string } {
  const auth = vendors.get(vendor ?? '')?.auth ?? 'bearer';
  if (hasKey) return auth === 'none' ? { auth: 'bearer' } : {};
  return auth === 'none' ? {} : { auth: 'none' };
}

function endpointOf(
  provider: Provider,
  parameters: ImportedObject,
  draft: ImportDraft,
  vendors: Vendors,
): UpstreamEndpoint | undefined {
  const given = parameters.text('api_base') ?? parameters.text('base_url');
  const { format = 'chat', suffix = '', vendor, url } = provider;
  const variable = environmentName(given ?? '');
  if (variable !== undefined) {
    draft.addVariable(variable, parameters.at('api_base'));
    const baseUrl = new Reference(variable, `https://${variable.toLowerCase().replaceAll('_', '-')}.invalid`, suffix);
    return { ...(vendor === undefined ? { formats: [format] } : { vendor }), baseUrl };
  }
  const base = given?.replace(/\/+$/, '') ?? url;
  if (base === undefined) return undefined;
  const full = given === undefined || base.endsWith(suffix) ? base : `${base}${suffix}`;
  const found = endpointAt(full, format, vendors);
  if (found === undefined || vendor === undefined || found.vendor !== undefined) return found;
  return { vendor, baseUrl: found.baseUrl };
}

/** Adapts the endpoint's format to the model's kind. Returns undefined if the preset has no endpoint for the kind. */
function fitKind(endpoint: UpstreamEndpoint, kind: string | undefined, vendors: Vendors): UpstreamEndpoint | undefined {
  const format = formatOfKind[kind ?? ''];
  if (format === undefined) return endpoint;
  if (endpoint.vendor === undefined) return { ...endpoint, formats: [format] };
  const { formats }: Pick<Vendor, 'formats'> = vendors.get(endpoint.vendor) ?? { formats: [] };
  return formats.some((one) => one.endsWith(format)) ? endpoint : undefined;
}

function keyOf(key: string, { keyVariable }: Provider, name: string, path: string, draft: ImportDraft): Reference {
  const variable = environmentName(key) ?? (key === '' ? (keyVariable ?? `${name.toUpperCase()}_API_KEY`) : undefined);
  if (variable !== undefined) return draft.addVariable(variable, path);
  return draft.addSecret(`${name}_API_KEY`, key, path);
}

/** Valid header names, without the headers that the gateway sets itself. */
const headerName =
  /^(?!(?:connection|content-length|expect|keep-alive|te|transfer-encoding|upgrade)$)[!#$%&'*+.^_`|~\w-]+$/i;

function readHeaders(
  parameters: ImportedObject,
  name: string,
  draft: ImportDraft,
): Record<string, Reference> | undefined {
  const extra = parameters.members('extra_headers') ?? parameters.members('headers');
  const organization = parameters.text('organization');
  const headers = (extra?.names ?? []).flatMap((header) => {
    const value = extra?.text(header);
    if (!headerName.test(header)) draft.note(extra?.at(header) ?? header, 'is not an allowed upstream header');
    return value === undefined || !headerName.test(header)
      ? []
      : [[header, value, extra?.at(header) ?? header] as const];
  });
  if (organization !== undefined)
    headers.push(['OpenAI-Organization', organization, parameters.at('organization')] as const);
  if (headers.length === 0) return undefined;
  return Object.fromEntries(
    headers.map(([header, value, path]) => {
      const variable = environmentName(value);
      const wanted = `${name}_${header}`;
      return [
        header,
        variable === undefined ? draft.addSecret(wanted, value, path) : draft.addVariable(variable, path),
      ];
    }),
  );
}

/** Converts a deployment's limits to the upstream's capacity, unless other deployments share the upstream. */
function limitUpstream(draft: ImportDraft, name: string, deployments: readonly Deployment[]): void {
  const limited = deployments.filter(({ concurrent, requests }) => concurrent !== undefined || requests !== undefined);
  const [only] = limited;
  const upstream = draft.upstreams.get(name);
  if (only === undefined || upstream === undefined) return;
  if (deployments.length > 1) {
    const reason = `several deployments are one upstream here, whose capacity counts them together: add it to "${name}"`;
    for (const { path } of limited) draft.note(`${path}.litellm_params`, `limits: ${reason}`);
    return;
  }
  const { concurrent, requests } = only;
  const capacity = { ...(concurrent !== undefined && { concurrent }), ...(requests !== undefined && { requests }) };
  draft.upstreams.set(name, { ...upstream, capacity });
}
