import type { Vendor } from '#core/config/catalog/catalog.ts';
import { type ImportDraft, type DraftRoute, Reference, wildcardReason } from '../draft.ts';
import { type UpstreamEndpoint, findEndpoint, type Vendors } from '../endpoints.ts';
import { ImportedObject } from '../members.ts';
import type { ImportSource } from '../source.ts';
import { type DeploymentTarget, importBedrock, importVertex } from './litellm-clouds.ts';
import {
  parseVariable,
  type Provider,
  splitProvider,
  providers,
  explainUnlistedProvider,
} from './litellm-providers.ts';
import { deploymentReasons, generalReasons, infoReasons, rootReasons } from './litellm-reasons.ts';
import { importRouting } from './litellm-routing.ts';

/** The config.yaml of LiteLLM's proxy. Source: docs.litellm.ai, "Config.yaml", "All settings". */
export const litellm: ImportSource = {
  name: 'litellm',
  title: 'LiteLLM',
  file: 'the config.yaml of its proxy',
  readConfiguration(value, draft, vendors) {
    const root = new ImportedObject(value, '', draft);
    const deploymentsByUpstream = new Map<string, Deployment[]>();
    for (const [index, entry] of root.readList('model_list').entries()) {
      const deployment = importDeployment(entry, `model_list[${index}]`, draft, vendors);
      if (deployment !== undefined)
        deploymentsByUpstream.set(deployment.upstream, [
          ...(deploymentsByUpstream.get(deployment.upstream) ?? []),
          deployment,
        ]);
    }
    for (const [upstream, deployments] of deploymentsByUpstream) limitUpstream(draft, upstream, deployments);
    importRouting(root, draft);
    root.readObject('general_settings')?.noteUnread(generalReasons);
    root.noteUnread(rootReasons);
  },
};

interface Deployment {
  readonly path: string;
  readonly upstream: string;
  readonly concurrent: number | undefined;
  readonly requests: number | undefined;
}

function importDeployment(entry: unknown, path: string, draft: ImportDraft, vendors: Vendors): Deployment | undefined {
  const deployment = new ImportedObject(entry, path, draft);
  const name = deployment.readText('model_name');
  const parameters = deployment.readObject('litellm_params');
  const info = deployment.readObject('model_info');
  const limits = { rpm: deployment.readNumber('rpm') ?? parameters?.readNumber('rpm') };
  deployment.noteUnread(deploymentReasons);
  if (name === undefined || parameters === undefined) {
    draft.note(path, 'has no model_name or no litellm_params');
    return undefined;
  }
  const kind = readKind(info, draft);
  const target = importTarget(parameters, kind, draft, vendors);
  if (target === undefined) return undefined;
  const { upstream, model } = target;
  const route: DraftRoute = {
    upstream,
    model,
    priority: parameters.readNumber('order') ?? 0,
    weight: parameters.readNumber('weight'),
  };
  const maxInputTokens = toWholeLimit(info?.readNumber('max_input_tokens'));
  const maxTokens = toWholeLimit(info?.readNumber('max_output_tokens') ?? info?.readNumber('max_tokens'));
  draft.addModel(`${path}.model_name`, {
    name,
    routes: [route],
    ...(kind !== undefined && kind !== 'chat' && { kind }),
    ...(maxInputTokens !== undefined && { maxInputTokens }),
    ...(maxTokens !== undefined && { maxTokens }),
  });
  const concurrent = toWholeLimit(parameters.readNumber('max_parallel_requests'));
  parameters.noteUnread(deploymentReasons);
  for (const support of info?.names.filter((member) => member.startsWith('supports_')) ?? []) info?.read(support);
  info?.noteUnread(infoReasons);
  return { path, upstream, concurrent, requests: toWholeLimit(limits.rpm) };
}

const toWholeLimit = (value: number | undefined) => (value !== undefined && value >= 1 ? Math.floor(value) : undefined);

const kindsByMode: Readonly<Record<string, string>> = {
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

const formatsByKind: Readonly<Record<string, string>> = {
  embedding: 'embeddings',
  image: 'images',
  speech: 'speech',
  transcription: 'transcriptions',
  rerank: 'rerank',
  moderation: 'moderations',
};

function readKind(info: ImportedObject | undefined, draft: ImportDraft): string | undefined {
  const mode = info?.readText('mode');
  if (mode === undefined || info === undefined) return undefined;
  if (kindsByMode[mode] === undefined) draft.note(info.pathOf('mode'), 'there are no models of this mode here');
  return kindsByMode[mode];
}

function importTarget(
  parameters: ImportedObject,
  kind: string | undefined,
  draft: ImportDraft,
  vendors: Vendors,
): DeploymentTarget | undefined {
  const [name, model] = splitProvider(parameters.readText('model') ?? '', parameters.readText('custom_llm_provider'));
  const path = parameters.pathOf('model');
  if (model === '') return draft.note(path, 'names no model');
  if (model.includes('*')) return draft.note(path, wildcardReason);
  if (name === 'bedrock') return importBedrock(parameters, model, draft);
  if (name === 'vertex_ai') return importVertex(parameters, model, draft);
  const provider = providers[name];
  if (provider === undefined) return draft.note(path, explainUnlistedProvider(name));
  const endpoint = resolveEndpoint(provider, parameters, draft, vendors);
  if (endpoint === undefined)
    return draft.note(parameters.pathOf('api_base'), 'is missing, or is not a valid upstream URL');
  const adaptedEndpoint = adaptToKind(endpoint, kind, vendors);
  if (adaptedEndpoint === undefined)
    return draft.note(path, `the preset "${endpoint.vendor}" has no endpoint for this mode`);
  const headers = readHeaders(parameters, name, draft);
  const key = provider.isKeyless === true ? parameters.readText('api_key') : (parameters.readText('api_key') ?? '');
  const keys = key === undefined ? [] : [addKey(key, provider, name, parameters.pathOf('api_key'), draft)];
  const upstream = draft.addUpstream(name.replaceAll('_', '-'), {
    ...adaptedEndpoint,
    ...chooseAuth(adaptedEndpoint, keys.length > 0, vendors),
    keys,
    ...(headers !== undefined && { headers }),
    from: parameters.path,
  });
  return { upstream, model };
}

function chooseAuth({ vendor }: UpstreamEndpoint, hasKey: boolean, vendors: Vendors): { readonly auth?: string } {
  const auth = vendors.get(vendor ?? '')?.auth ?? 'bearer';
  // A self-hosted server needs a key only if the operator has set one.
  if (hasKey) return auth === 'none' ? { auth: 'bearer' } : {};
  return auth === 'none' ? {} : { auth: 'none' };
}

function resolveEndpoint(
  provider: Provider,
  parameters: ImportedObject,
  draft: ImportDraft,
  vendors: Vendors,
): UpstreamEndpoint | undefined {
  const apiBase = parameters.readText('api_base') ?? parameters.readText('base_url');
  const { format = 'chat', suffix = '', vendor, url } = provider;
  const variable = parseVariable(apiBase ?? '');
  if (variable !== undefined) {
    draft.addVariable(variable, parameters.pathOf('api_base'));
    const baseUrl = new Reference(variable, `https://${variable.toLowerCase().replaceAll('_', '-')}.invalid`, suffix);
    return { ...(vendor === undefined ? { formats: [format] } : { vendor }), baseUrl };
  }
  const base = apiBase?.replace(/\/+$/, '') ?? url;
  if (base === undefined) return undefined;
  const fullUrl = apiBase === undefined || base.endsWith(suffix) ? base : `${base}${suffix}`;
  const endpoint = findEndpoint(fullUrl, format, vendors);
  if (endpoint === undefined || vendor === undefined || endpoint.vendor !== undefined) return endpoint;
  return { vendor, baseUrl: endpoint.baseUrl };
}

function adaptToKind(
  endpoint: UpstreamEndpoint,
  kind: string | undefined,
  vendors: Vendors,
): UpstreamEndpoint | undefined {
  const format = formatsByKind[kind ?? ''];
  if (format === undefined) return endpoint;
  if (endpoint.vendor === undefined) return { ...endpoint, formats: [format] };
  const { formats }: Pick<Vendor, 'formats'> = vendors.get(endpoint.vendor) ?? { formats: [] };
  return formats.some((presetFormat) => presetFormat.endsWith(format)) ? endpoint : undefined;
}

function addKey(key: string, { keyVariable }: Provider, name: string, path: string, draft: ImportDraft): Reference {
  const variable = parseVariable(key) ?? (key === '' ? (keyVariable ?? `${name.toUpperCase()}_API_KEY`) : undefined);
  if (variable !== undefined) return draft.addVariable(variable, path);
  return draft.addSecret(`${name}_API_KEY`, key, path);
}

/** Valid header names, except those that the gateway sets itself. */
const headerNamePattern =
  /^(?!(?:connection|content-length|expect|keep-alive|te|transfer-encoding|upgrade)$)[!#$%&'*+.^_`|~\w-]+$/i;

function readHeaders(
  parameters: ImportedObject,
  name: string,
  draft: ImportDraft,
): Record<string, Reference> | undefined {
  const extraHeaders = parameters.readObject('extra_headers') ?? parameters.readObject('headers');
  const organization = parameters.readText('organization');
  const headers = (extraHeaders?.names ?? []).flatMap((header) => {
    const value = extraHeaders?.readText(header);
    if (!headerNamePattern.test(header))
      draft.note(extraHeaders?.pathOf(header) ?? header, 'is not an allowed upstream header');
    return value === undefined || !headerNamePattern.test(header)
      ? []
      : [[header, value, extraHeaders?.pathOf(header) ?? header] as const];
  });
  if (organization !== undefined)
    headers.push(['OpenAI-Organization', organization, parameters.pathOf('organization')] as const);
  if (headers.length === 0) return undefined;
  return Object.fromEntries(
    headers.map(([header, value, path]) => {
      const variable = parseVariable(value);
      const wantedName = `${name}_${header}`;
      return [
        header,
        variable === undefined ? draft.addSecret(wantedName, value, path) : draft.addVariable(variable, path),
      ];
    }),
  );
}

function limitUpstream(draft: ImportDraft, name: string, deployments: readonly Deployment[]): void {
  const limitedDeployments = deployments.filter(
    ({ concurrent, requests }) => concurrent !== undefined || requests !== undefined,
  );
  const [deployment] = limitedDeployments;
  const upstream = draft.upstreams.get(name);
  if (deployment === undefined || upstream === undefined) return;
  if (deployments.length > 1) {
    const reason = `several deployments share one upstream here, with one capacity: add it to "${name}"`;
    for (const { path } of limitedDeployments) draft.note(`${path}.litellm_params`, `limits: ${reason}`);
    return;
  }
  const { concurrent, requests } = deployment;
  const capacity = { ...(concurrent !== undefined && { concurrent }), ...(requests !== undefined && { requests }) };
  draft.upstreams.set(name, { ...upstream, capacity });
}
