import type { ImportDraft, Reference } from '../draft.ts';
import { findEndpoint, type Vendors } from '../endpoints.ts';
import { ImportedObject, type Reasons } from '../members.ts';
import type { ImportSource } from '../source.ts';

/** ~/.claude-code-router/config.json. Source: musistudio/claude-code-router, README.md, "Configuration". */
export const claudeCodeRouter: ImportSource = {
  name: 'claude-code-router',
  title: 'Claude Code Router',
  file: 'its config.json',
  readConfiguration(value, draft, vendors) {
    const root = new ImportedObject(value, '', draft);
    const providers = [...root.readList('Providers').entries(), ...root.readList('providers').entries()];
    // The router writes a model as `provider,model`, which is the key here.
    const modelsByRouterName = new Map<string, string>();
    for (const [index, entry] of providers)
      importProvider(entry, `Providers[${index}]`, modelsByRouterName, draft, vendors);
    importRouter(root.readObject('Router'), modelsByRouterName, draft);
    root.noteUnread(rootReasons);
  },
};

function importProvider(
  entry: unknown,
  path: string,
  modelsByRouterName: Map<string, string>,
  draft: ImportDraft,
  vendors: Vendors,
): void {
  const provider = new ImportedObject(entry, path, draft);
  const name = provider.readText('name') ?? 'provider';
  const url = provider.readText('api_base_url') ?? provider.readText('baseUrl') ?? '';
  const key = provider.readText('api_key') ?? provider.readText('apiKey');
  const models = provider.readList('models');
  const transformer = provider.readObject('transformer');
  const transformerNames = readTransformerNames(transformer?.read('use'));
  provider.noteUnread();
  const loginTransformer = transformerNames.find((one) => loginTransformers.has(one));
  if (loginTransformer !== undefined)
    return draft.note(
      transformer?.pathOf('use') ?? path,
      `"${loginTransformer}" uses the login of another tool, not a key`,
    );
  const endpoint = findEndpoint(url, chooseFormat(transformerNames, url), vendors);
  if (endpoint === undefined) return draft.note(provider.pathOf('api_base_url'), 'is not a valid upstream URL');
  const isKeyless = key === undefined || vendors.get(endpoint.vendor ?? '')?.auth === 'none';
  const upstream = draft.addUpstream(name, {
    ...endpoint,
    keys: isKeyless ? [] : [addKey(key, name, provider.pathOf('api_key'), draft)],
    ...(key === undefined && endpoint.vendor === undefined && { auth: 'none' }),
    from: `${path}: ${name}`,
  });
  if (transformer !== undefined) noteTransformers(transformer, transformerNames, models, draft);
  for (const [index, entryModel] of models.entries()) {
    const model = String(entryModel).trim();
    draft.addModel(`${path}.models[${index}]`, { name: model, routes: [{ upstream, model, priority: index }] });
    modelsByRouterName.set(`${name},${model}`, model);
  }
}

function readTransformerNames(use: unknown): string[] {
  if (!Array.isArray(use)) return [];
  // Each entry is a name, or a list of the name and its options.
  return use.map((transformer: unknown) => String(Array.isArray(transformer) ? transformer[0] : transformer));
}

function chooseFormat(transformerNames: readonly string[], url: string): 'chat' | 'messages' | 'gemini' {
  if (transformerNames.some((name) => name.toLowerCase() === 'anthropic') || /\/messages\/*$/.test(url))
    return 'messages';
  return transformerNames.includes('gemini') ? 'gemini' : 'chat';
}

const loginTransformers = new Set(['gemini-cli', 'qwen-cli', 'rovo-cli', 'vertex-gemini', 'vertex-claude']);

/** Transformers that are not needed here, because of presets and translation. */
const unneededTransformers = new Set([
  'anthropic',
  'deepseek',
  'gemini',
  'openrouter',
  'groq',
  'reasoning',
  'tooluse',
  'enhancetool',
  'cleancache',
  'openai',
  'streamoptions',
  'maxcompletiontokens',
]);

const transformerReasons: Reasons = {
  maxtoken: 'sets max_tokens of requests: see `quirks.max_output_tokens` of a model, which lowers it',
  sampling: 'sets temperature and similar values: Daypass adds no defaults to requests',
  customparams: 'adds members to requests: that is not possible here',
};

function noteTransformers(
  transformer: ImportedObject,
  transformerNames: readonly string[],
  models: readonly unknown[],
  draft: ImportDraft,
): void {
  const noteAll = (names: readonly string[], path: string) => {
    for (const name of names.filter((candidate) => !unneededTransformers.has(candidate.toLowerCase())))
      draft.note(
        path,
        transformerReasons[name.toLowerCase()] ?? `the transformer "${name.slice(0, 40)}" has no counterpart here`,
      );
  };
  noteAll(transformerNames, transformer.pathOf('use'));
  for (const model of models) {
    const modelTransformers = transformer.readObject(String(model));
    if (modelTransformers !== undefined)
      noteAll(readTransformerNames(modelTransformers.read('use')), modelTransformers.pathOf('use'));
  }
  transformer.noteUnread();
}

function addKey(key: string, name: string, path: string, draft: ImportDraft): Reference {
  // `$NAME` and `${NAME}` are variables, as in the router.
  const [, unbraced, braced] = /^\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})$/.exec(key) ?? [];
  const variable = unbraced ?? braced;
  if (variable !== undefined) return draft.addVariable(variable, path);
  return draft.addSecret(`${name}_API_KEY`, key, path);
}

/** Imports the router's rules as aliases of Anthropic's model names, which Claude Code requests. */
function importRouter(
  router: ImportedObject | undefined,
  modelsByRouterName: ReadonlyMap<string, string>,
  draft: ImportDraft,
): void {
  if (router === undefined) return;
  const readTarget = (name: string) => {
    const setting = router.readText(name);
    if (setting === undefined) return undefined;
    const words = setting.split(',').map((word) => word.trim());
    const model = modelsByRouterName.get(words.join(','));
    if (model === undefined) draft.note(router.pathOf(name), 'names a model that is not in the list');
    return model;
  };
  const [defaultModel, backgroundModel] = [readTarget('default'), readTarget('background')];
  // The first matching alias is used.
  if (backgroundModel !== undefined) draft.addAlias(router.pathOf('background'), 'claude-*haiku*', backgroundModel);
  if (defaultModel !== undefined) draft.addAlias(router.pathOf('default'), 'claude-*', defaultModel);
  router.noteUnread(routerReasons);
}

const contentRoutingReason = 'Daypass does not choose models by the content of requests: clients name them';

const routerReasons: Reasons = {
  think: contentRoutingReason,
  longContext: `${contentRoutingReason}; prompts too long for a route go to routes with a larger \`max_input_tokens\``,
  longContextThreshold: contentRoutingReason,
  webSearch: contentRoutingReason,
  image: contentRoutingReason,
};

const rootReasons: Reasons = {
  APIKEY: 'each account has its own key: daypass key create --name NAME',
  HOST: 'set `listen.host`, or HOST in the environment',
  PORT: 'set `listen.port`, or PORT in the environment',
  PROXY_URL: 'requests to upstreams use no proxy',
  API_TIMEOUT_MS: 'see the timeouts of the `upstream` stage',
  NON_INTERACTIVE_MODE: '',
  LOG: '',
  LOG_LEVEL: '',
  StatusLine: '',
  CLAUDE_PATH: '',
  CUSTOM_ROUTER_PATH: 'Daypass does not run custom programs that choose models',
  transformers: 'Daypass does not run custom transformers',
  plugins: 'its plugins are not run here',
  Presets: 'presets are not read: install them there, and import the resulting file',
  fallback: 'list further routes of a model: they are its backups',
};
